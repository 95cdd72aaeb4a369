// sotto: parse the command line, call the library, print.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "sotto/core/join.hpp"
#include "core/api/suggestion.hpp"

namespace {

using sotto::cli::Command;

std::vector<std::string> names_of(const Command& command) {
  std::vector<std::string> names;
  for (const Command* one : command.commands()) names.push_back(one->name());
  return names;
}

// Maps words that people type to the command that they mean.
const std::vector<sotto::Synonym> synonyms{
    {"eps", "epsilon"},   {"cost", "epsilon"},   {"account", "epsilon"}, {"query", "run"},  {"ask", "run"},     {"exec", "run"},   {"execute", "run"},
    {"budget", "ledger"}, {"ledgers", "ledger"}, {"solve", "calibrate"}, {"new", "init"},   {"add", "init"},    {"ls", "list"},    {"status", "show"},
    {"view", "show"},     {"log", "show"},       {"spend", "charge"},    {"pay", "charge"}, {"init", "create"}, {"make", "create"}};
const std::vector<std::string> refills{"refill", "renew", "reset", "topup", "top-up", "increase", "extend", "raise"};

const std::vector<std::string> removals{"remove", "delete", "rm", "drop", "forget"};
const std::vector<std::string> checks{"check", "verify", "validate", "cost", "dry-run", "test"};

// Maps tasks without a command of their own to the command that does them.
std::string advice_on_absent(const std::string& word, const Command& at, const Command& app) {
  const auto is_one_of = [&](const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& one) { return sotto::same_folded(word, one); });
  };
  if (&at == &app && sotto::same_folded(word, "help")) return "type: sotto --help, or sotto COMMAND --help";
  if (&at == &app && sotto::same_folded(word, "version")) return "type: sotto --version";
  if (at.name() == "data" && is_one_of(removals)) {
    return "a data file is removed as a file, NAME.data.toml in the catalogue. Keep its ledger: what was released of the data is counted there";
  }
  if (at.name() == "ledger" && is_one_of(removals)) {
    return "what was released stays released, so a ledger is kept. `sotto ledger show NAME` says what it counts";
  }
  if (at.name() == "study" && sotto::same_folded(word, "run")) return "did you mean sotto run STUDY?";
  if (at.name() == "study" && is_one_of(checks)) return "did you mean sotto run STUDY --dry-run?";
  return "";
}

std::string advice_on(const std::string& word, const Command& at, const Command& app) {
  const auto is_word = [&](const std::string& refill) { return sotto::same_folded(word, refill); };
  if (at.name() == "ledger" && std::any_of(refills.begin(), refills.end(), is_word)) {
    return "a ledger's budget is fixed for good, since all that was released relies on it. `sotto ledger show NAME` says what is left; data of other "
           "people get a ledger of their own by `sotto data init FILE`";
  }
  if (const std::string other = advice_on_absent(word, at, app); !other.empty()) return other;
  const std::vector<std::string> names = names_of(at);
  const bool is_known = std::any_of(synonyms.begin(), synonyms.end(), [&](const sotto::Synonym& synonym) {
    return sotto::same_folded(word, synonym.written) && std::find(names.begin(), names.end(), synonym.meant) == names.end();
  });
  if (&at == &app && std::filesystem::exists(word) && word.ends_with(".toml")) return "did you mean sotto run " + word + "?";
  for (const Command* other : app.commands()) {
    const std::vector<std::string> below = names_of(*other);
    if (std::find(below.begin(), below.end(), word) != below.end()) return "did you mean sotto " + other->name() + " " + word + "?";
  }
  return sotto::suggestion(word, names, is_known ? std::vector<sotto::Synonym>() : synonyms);
}

// The first word that should name a command but does not, and what it must be; also below a command that has commands of its own.
std::string unknown_command(const Command& app, int argc, char** argv) {
  const Command* at = &app;
  std::string typed = "sotto";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto commands = at->commands();
    if (commands.empty() || word.empty() || word[0] == '-') return "";
    const auto named = std::find_if(commands.begin(), commands.end(), [&word](const Command* command) { return command->name() == word; });
    if (named == commands.end()) return "there is no command `" + typed + " " + word + "`; " + advice_on(word, *at, app);
    at = *named;
    typed += " " + word;
  }
  const auto commands = at->commands();
  if (at == &app || commands.empty()) return "";
  return "which " + at->name() + "? Type `" + typed + "` and one of: " + sotto::join(names_of(*at));
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = sotto::cli::pass_to_federate(argc, argv); status >= 0) return status;
  sotto::cli::Typed typed;
  sotto::cli::Command app(
      "Examples:\n"
      "  sotto run study.toml --dry-run\n"
      "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
      "  sotto compare '500 * gaussian(200)' --delta 1e-5\n"
      "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5\n"
      "\n"
      "sotto says what a plan for sensitive data costs in differential privacy, by which theorem,\n"
      "and how much noise a target needs. `sotto COMMAND --help` shows each command's examples.",
      "sotto", "sotto " SOTTO_VERSION);
  app.require_subcommand(1);
  sotto::cli::add_run(app, typed);
  sotto::cli::add_data(app, typed);
  sotto::cli::add_study(app, typed);
  sotto::cli::add_predict(app, typed);
  sotto::cli::add_accounting(app, typed);
  sotto::cli::add_attacker(app, typed);
  sotto::cli::add_ledger(app, typed);
  sotto::cli::add_serve(app, typed);
  sotto::cli::add_noise(app, typed);
  sotto::cli::add_dpsgd(app, typed);
  sotto::cli::add_attack(app, typed);
  sotto::cli::add_audit(app, typed);
  sotto::cli::add_simulate(app, typed);
  sotto::cli::add_figures(app, typed);
  sotto::cli::add_federate(app);
  sotto::cli::add_completion(app, typed);
  if (const std::string words = unknown_command(app, argc, argv); !words.empty()) {
    sotto::cli::say(words);
    return 2;
  }
  return sotto::cli::run_program(app, typed, argc, argv);
}
