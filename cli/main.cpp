// sotto: parse the command line, call the library, print.
#include <algorithm>
#include <string>

#include "command.hpp"

namespace {

// The first word that should name a command but does not, and what it must be; also below a command that has commands of its own.
std::string unknown_command(const sotto::cli::Command& app, int argc, char** argv) {
  const sotto::cli::Command* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto commands = at->commands();
    if (commands.empty() || word.empty() || word[0] == '-') return "";
    const auto named =
        std::find_if(commands.begin(), commands.end(), [&word](const sotto::cli::Command* command) { return command->name() == word; });
    if (named == commands.end()) {
      std::string text = "'" + word + "' is not " + (at == &app ? "a command" : "an " + at->name()) + ": it must be one of";
      for (const sotto::cli::Command* command : commands) text += " " + command->name();
      return text;
    }
    at = *named;
  }
  const auto commands = at->commands();
  if (at == &app || commands.empty()) return "";
  std::string text = "which " + at->name() + "? Type `sotto " + at->name() + "` and one of";
  for (const sotto::cli::Command* command : commands) text += " " + command->name();
  return text;
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
