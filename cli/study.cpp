// sotto study: a study to edit.
#include <fstream>
#include <iostream>

#include "catalogue.hpp"
#include "command.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/study/draft.hpp"

namespace sotto::cli {
namespace {

struct Options {
  std::string data, file = "study.toml", catalogue;
};

void run_init(const Typed& typed, const Options& o) {
  const DataFile data = catalogue_of(o.catalogue).find(o.data);
  if (data.is_public) throw InvalidValue("\"" + data.name + "\" are public data: a study of others names them by evaluate = \"" + data.name + "\"");
  require_ledger(data);
  const std::string text = "# Look before you spend:  sotto run THIS --dry-run\n" + draft_study(data, Ledger::open(data.ledger).terms().budget);
  if (o.file == "-") {
    std::cout << text;
    return;
  }
  if (std::filesystem::exists(o.file)) throw InvalidValue(o.file + " exists already: type another name, sotto study init " + o.data + " FILE");
  write_file(o.file, text);
  std::cout << o.file << "\n";
  if (!typed.quiet) say("next: sotto run " + o.file + " --dry-run, then without --dry-run");
}

}  // namespace

void add_study(Command& app, Typed& typed) {
  static Options o;
  Command* study = app.add_subcommand("study",
                                      "Examples:\n"
                                      "  sotto study init visits\n"
                                      "  sotto study init visits second.toml\n"
                                      "\n"
                                      "A study to edit, with one query of each kind that its data allow.");
  study->require_subcommand(1);
  Command* init = study->add_subcommand("init", "Writes a study of these data that can be run as it is, at a tenth of the ledger's budget.");
  init->add_option("DATA", o.data, "the name of the data, as `sotto data list` shows it")->required();
  init->add_option("FILE", o.file, "the study's file; - is stdout")->capture_default_str();
  init->add_option("--catalogue", o.catalogue, catalogue_words);
  init->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  init->callback([&typed] { run_init(typed, o); });
}

}  // namespace sotto::cli
