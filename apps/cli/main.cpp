// The program sotto: its commands in groups, and advice for a word that is not a command.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "core/api/join.hpp"
#include "core/api/suggestion.hpp"

namespace {

using sotto::cli::Command;

std::vector<std::string> names_of(const Command& command) {
  std::vector<std::string> names;
  for (const Command* one : command.commands()) names.push_back(one->name());
  return names;
}

// Words that people type for a command that has another name.
const std::vector<sotto::Synonym> synonyms{
    {"eps", "epsilon"},    {"cost", "epsilon"},    {"account", "epsilon"}, {"query", "run"},
    {"ask", "run"},        {"exec", "run"},        {"execute", "run"},     {"budget", "ledger"},
    {"ledgers", "ledger"}, {"solve", "calibrate"}, {"new", "init"},        {"add", "init"},
    {"ls", "list"},        {"status", "show"},     {"view", "show"},       {"log", "show"},
    {"spend", "charge"},   {"pay", "charge"},      {"init", "create"},     {"make", "create"}};
const std::vector<std::string> refills{"refill", "renew",    "reset",  "topup",
                                       "top-up", "increase", "extend", "raise"};

const std::vector<std::string> removals{"remove", "delete", "rm", "drop", "forget"};
const std::vector<std::string> checks{"check", "verify", "validate", "cost", "dry-run", "test"};

// Returns what to type for a task that has no command, or nothing if `word` is not such a task.
std::string advice_on_task(const std::string& word, const Command& at, const Command& app) {
  const auto is_one_of = [&](const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& one) { return sotto::same_folded(word, one); });
  };
  if (&at == &app && sotto::same_folded(word, "help"))
    return "type: sotto --help, or sotto COMMAND --help";
  if (&at == &app && sotto::same_folded(word, "version")) return "type: sotto --version";
  if (at.name() == "data" && is_one_of(removals)) {
    return "a data file is removed as a file, NAME.data.toml in the catalogue. Keep its ledger: it "
           "counts what was released about the data";
  }
  if (at.name() == "ledger" && is_one_of(removals)) {
    return "no command removes a ledger, because what was released stays released. `sotto ledger "
           "show NAME` shows what it counts";
  }
  if (at.name() == "study" && sotto::same_folded(word, "run"))
    return "did you mean sotto run STUDY?";
  if (at.name() == "study" && is_one_of(checks)) return "did you mean sotto run STUDY --dry-run?";
  return "";
}

// Returns what to type instead of `word`, which is no command below `at`.
std::string advice_on(const std::string& word, const Command& at, const Command& app) {
  const auto is_word = [&](const std::string& refill) { return sotto::same_folded(word, refill); };
  if (at.name() == "ledger" && std::any_of(refills.begin(), refills.end(), is_word)) {
    return "a ledger's budget is fixed for good, because everything released so far relies on it. "
           "`sotto ledger show NAME` shows what is left; "
           "`sotto data init FILE` creates another ledger, for data about other people";
  }
  if (const std::string other = advice_on_task(word, at, app); !other.empty()) return other;
  const std::vector<std::string> names = names_of(at);
  const bool means_absent =
      std::any_of(synonyms.begin(), synonyms.end(), [&](const sotto::Synonym& synonym) {
        return sotto::same_folded(word, synonym.written) &&
               std::find(names.begin(), names.end(), synonym.meant) == names.end();
      });
  if (&at == &app && std::filesystem::exists(word) && word.ends_with(".toml"))
    return "did you mean sotto run " + word + "?";
  for (const Command* other : app.commands()) {
    const std::vector<std::string> below = names_of(*other);
    if (std::find(below.begin(), below.end(), word) != below.end())
      return "did you mean sotto " + other->name() + " " + word + "?";
  }
  return sotto::suggestion(word, names, means_absent ? std::vector<sotto::Synonym>() : synonyms);
}

// Returns the message for the first word that should name a command, or a subcommand, and does not;
// empty if there is none.
std::string unknown_command(const Command& app, int argc, char** argv) {
  const Command* at = &app;
  std::string used = "sotto";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto commands = at->commands();
    if (commands.empty() || word.empty() || word[0] == '-') return "";
    const auto it = std::find_if(commands.begin(), commands.end(), [&word](const Command* command) {
      return command->name() == word;
    });
    if (it == commands.end())
      return "there is no command `" + used + " " + word + "`; " + advice_on(word, *at, app);
    at = *it;
    used += " " + word;
  }
  const auto commands = at->commands();
  if (at == &app || commands.empty()) return "";
  return "which " + at->name() + "? Type `" + used + "` and one of: " + sotto::join(names_of(*at));
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = sotto::cli::forward_to_federate(argc, argv); status >= 0) return status;
  sotto::cli::Command app(
      "A first private answer, from a table to a number:\n"
      "  sotto data init people.csv       describes the table and sets its privacy budget\n"
      "  sotto study init people          writes study.toml, a study to edit\n"
      "  sotto run study.toml --dry-run   prints what it would cost\n"
      "  sotto run study.toml             charges the budget and prints the answers\n"
      "\n"
      "What a plan costs, and how much noise it needs:\n"
      "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
      "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5\n"
      "\n"
      "sotto answers questions about sensitive data with differential privacy, under one budget "
      "for\n"
      "all of them. `sotto COMMAND --help` shows each command's examples and options.",
      "sotto", "sotto " SOTTO_VERSION);
  app.require_subcommand(1);

  app.start_group("Answer questions");
  sotto::cli::add_data(app);
  sotto::cli::add_study(app);
  sotto::cli::add_run(app);
  sotto::cli::add_predict(app);
  sotto::cli::add_ledger(app);
  sotto::cli::add_serve(app);
  app.start_group("Cost a plan");
  sotto::cli::add_accounting(app);
  sotto::cli::add_tradeoff(app);
  sotto::cli::add_divergence(app);
  app.start_group("Release numbers");
  sotto::cli::add_noise(app);
  app.start_group("Check");
  sotto::cli::add_audit(app);
  app.start_group("Several parties");
  sotto::cli::add_federate(app);
  app.start_group("Course");
  sotto::cli::add_attack(app);
  sotto::cli::add_dpsgd(app);
  sotto::cli::add_simulate(app);
  sotto::cli::add_figures(app);
  app.start_group("Shell");
  sotto::cli::add_completion(app);

  if (const std::string message = unknown_command(app, argc, argv); !message.empty()) {
    sotto::cli::say(message);
    return 2;
  }
  return sotto::cli::run_program(app, argc, argv);
}
