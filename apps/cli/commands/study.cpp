// sotto study: a study to edit.
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/text.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/draft.hpp"

namespace sotto::cli {
namespace {

struct Options {
  std::string data, file = "study.toml", catalogue, rows, groups;
};

constexpr double most_counted = 1e9;  // as a study admits

// A limit as typed, or as answered on a terminal. Nothing: whoever edits the study chooses it.
std::optional<std::int64_t> limit_from(const std::string& typed, const char* option, const std::string& question) {
  if (!typed.empty()) return whole_number_of(typed, option, 1, most_counted);
  if (isatty(STDIN_FILENO) == 0) return std::nullopt;
  std::cerr << escaped_lines(question + " (Enter: choose it later, in the file): ") << std::flush;
  std::string line;
  if (!std::getline(std::cin, line) || line.empty()) return std::nullopt;
  return whole_number_of(line, option, 1, most_counted);
}

UnitLimit limit_of(const Options& o, const DataFile& data) {
  if (data.unit == "row") {
    if (o.rows.empty() && o.groups.empty()) return {};
    throw InvalidValue("\"" + data.name + "\" protects each row by itself: leave out --rows and --groups");
  }
  const std::string unit = data.unit_label.empty() ? data.unit : data.unit_label;
  UnitLimit limit;
  limit.rows = limit_from(o.rows, "--rows", "Each " + unit + " may have several rows. How many of them count at most, in each group?");
  limit.groups = limit_from(o.groups, "--groups", "In how many groups of a query does each " + unit + " count at most?");
  return limit;
}

void run_init(const Typed& typed, const Options& o) {
  const DataFile data = catalogue_of(o.catalogue).find(o.data);
  if (data.is_public) throw InvalidValue("\"" + data.name + "\" are public data: a study of others names them by evaluate = \"" + data.name + "\"");
  require_ledger(data);
  const bool to_file = o.file != "-";
  if (to_file && std::filesystem::exists(o.file)) {
    throw InvalidValue(o.file + " exists already: type another name, sotto study init " + o.data + " FILE");
  }
  const Budget budget = Ledger::open(data.ledger).terms().budget;
  const UnitLimit limit = limit_of(o, data);
  const std::string text = "# Look before you spend:  sotto run THIS --dry-run\n" + draft_study(data, budget, limit);
  if (!to_file) {
    std::cout << text;
  } else {
    write_file(o.file, text);
    std::cout << o.file << "\n";
  }
  if (typed.quiet) return;
  if (data.unit != "row" && (!limit.rows || !limit.groups)) {
    say("choose `rows` and `groups` in it, or type --rows N --groups N: the study is refused until then");
  }
  if (to_file) say("next: sotto run " + o.file + " --dry-run, then without --dry-run");
}

}  // namespace

void add_study(Command& app, Typed& typed) {
  static Options o;
  Command* study = app.add_subcommand("study",
                                      "Examples:\n"
                                      "  sotto study init visits\n"
                                      "  sotto study init visits --rows 3 --groups 12\n"
                                      "  sotto study init visits second.toml\n"
                                      "\n"
                                      "A study to edit, with one query of each kind that its data allow.");
  study->require_subcommand(1);
  Command* init = study->add_subcommand(
      "init",
      "Writes a study of these data, at a tenth of the ledger's budget. Where the unit is not a row, it needs --rows and --groups:\n"
      "they are asked for on a terminal, and else stand in the study as comments for whoever edits it.");
  init->add_option("DATA", o.data, "the name of the data, as `sotto data list` shows it")->required();
  init->add_option("FILE", o.file, "the study's file; - is stdout")->capture_default_str();
  init->add_option("--rows", o.rows, "at most so many rows of a unit count, in each group; what is above is left out");
  init->add_option("--groups", o.groups, "a unit counts in at most so many groups of a query");
  init->add_option("--catalogue", o.catalogue, catalogue_words);
  init->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  init->callback([&typed] { run_init(typed, o); });
}

}  // namespace sotto::cli
