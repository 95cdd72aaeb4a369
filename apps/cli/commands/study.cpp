// sotto study init: writes a study to edit.
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "core/api/text.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/draft.hpp"

namespace sotto::cli {
namespace {

struct Arguments {
  std::string data, file = "study.toml", catalogue, rows, groups;
  bool quiet = false;
};

constexpr double most_counted = 1e9;  // the limit of a study's `rows` and `groups`

// Returns a limit as typed, or as answered on a terminal. Returns nothing if it is left to the
// editor of the study.
std::optional<std::int64_t> limit_from(const std::string& typed, const char* option,
                                       const std::string& question) {
  if (!typed.empty()) return whole_number_of(typed, option, 1, most_counted);
  if (isatty(STDIN_FILENO) == 0) return std::nullopt;
  std::cerr << escaped_lines(question + " (Enter: choose it later, in the file): ") << std::flush;
  std::string line;
  if (!std::getline(std::cin, line) || line.empty()) return std::nullopt;
  return whole_number_of(line, option, 1, most_counted);
}

UnitLimit limit_of(const Arguments& arguments, const DataFile& data) {
  if (data.unit == "row") {
    if (arguments.rows.empty() && arguments.groups.empty()) return {};
    throw InvalidValue("\"" + data.name +
                       "\" protects each row by itself, so a unit has one row in one group: leave "
                       "out --rows and --groups");
  }
  const std::string unit = data.unit_label.empty() ? data.unit : data.unit_label;
  UnitLimit limit;
  limit.rows =
      limit_from(arguments.rows, "--rows",
                 "Each " + unit +
                     " may have several rows. How many of them may count in each group, at most?");
  limit.groups = limit_from(arguments.groups, "--groups",
                            "In how many groups of a query may each " + unit + " count, at most?");
  return limit;
}

void run_init(const Arguments& arguments) {
  const DataFile data = catalogue_of(arguments.catalogue).find(arguments.data);
  if (data.is_public)
    throw InvalidValue("\"" + data.name +
                       "\" are public data, which a study does not protect: a study of other data "
                       "may name them by evaluate = \"" +
                       data.name + "\"");
  require_ledger(data);
  const bool to_file = arguments.file != "-";
  if (to_file && std::filesystem::exists(arguments.file)) {
    throw InvalidValue(arguments.file + " exists already: type another name, sotto study init " +
                       arguments.data + " FILE");
  }
  const Budget budget = Ledger::open(data.ledger).terms().budget;
  const UnitLimit limit = limit_of(arguments, data);
  const std::string text =
      "# Look before you spend:  sotto run THIS --dry-run\n" + draft_study(data, budget, limit);
  if (!to_file) {
    std::cout << text;
  } else {
    write_file(arguments.file, text);
    std::cout << arguments.file << "\n";
  }
  if (arguments.quiet) return;
  if (data.unit != "row" && (!limit.rows || !limit.groups)) {
    say("choose `rows` and `groups` in the file, or type --rows N --groups N: until then the study "
        "is refused");
  }
  if (to_file) say("next: sotto run " + arguments.file + " --dry-run, then without --dry-run");
}

}  // namespace

void add_study(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* study = app.add_subcommand(
      "study", "Write a study to edit, with one query of each kind",
      "Examples:\n"
      "  sotto study init visits\n"
      "  sotto study init visits --rows 3 --groups 12\n"
      "  sotto study init visits second.toml\n"
      "\n"
      "Writes a study to edit, with one query of each kind that its data allow.");
  study->require_subcommand(1);
  Command* init = study->add_subcommand(
      "init", "Write a study of these data",
      "Writes a study of these data, at a tenth of the ledger's budget. Unless the unit is a row, "
      "the study needs --rows and --groups: they\n"
      "are asked for on a terminal, and else are comments in the file for its editor.");
  init->add_option("DATA", arguments->data, "the name of the data, as `sotto data list` shows it")
      ->required();
  init->add_option("FILE", arguments->file, "the study's file; - is stdout")->capture_default_str();
  init->add_option(
      "--rows", arguments->rows,
      "how many rows of a unit count in each group, at most; further rows are left out");
  init->add_option("--groups", arguments->groups,
                   "in how many groups of a query a unit counts, at most");
  init->add_option("--catalogue", arguments->catalogue, catalogue_words);
  init->add_flag("--quiet", arguments->quiet, "print nothing but errors on stderr");
  init->callback([arguments] { run_init(*arguments); });
}

}  // namespace sotto::cli
