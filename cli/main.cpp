// sotto: parse the command line, call the library, print. Exit codes: 0 good, 1 failed, 2 usage, 3 budget refused,
// 4 outside a theorem's conditions.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include "command.hpp"
#include "sotto/core/errors.hpp"

namespace {

constexpr int failed = 1;
constexpr int usage = 2;
constexpr int outside_conditions = 4;

// The plan with a caret under the column.
void point_at(const std::string& plan, std::size_t column) {
  std::string caret;
  for (std::size_t i = 0; i + 1 < column && i < plan.size(); ++i) {
    if ((static_cast<unsigned char>(plan[i]) & 0xC0) != 0x80) caret += plan[i] == '\t' ? '\t' : ' ';
  }
  std::cerr << "  " << plan << "\n  " << caret << "^\n";
}

// Help that lists each command with its sentence alone; the command's own help starts with its examples.
class Help : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    std::string text = sotto::cli::summary(*command);
    text = text.substr(0, text.find(": "));
    return "  " + command->get_name() + std::string(14 - command->get_name().size(), ' ') + text + "\n";
  }
};

// The first word, if it is neither an option nor a command.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "-";
  const auto named = app.get_subcommands([&word](const CLI::App* command) { return command->get_name() == word; });
  return word.empty() || word[0] == '-' || !named.empty() ? "" : word;
}

}  // namespace

int main(int argc, char** argv) {
  sotto::cli::Typed typed;
  CLI::App app(
      "Examples:\n"
      "  sotto epsilon '10000 * poisson(0.01, gaussian(1))' --delta 1e-5\n"
      "  sotto compare '500 * gaussian(200)' --delta 1e-5\n"
      "  sotto calibrate '100 * gaussian(?)' --epsilon 1 --delta 1e-5\n"
      "\n"
      "sotto says what a plan for sensitive data costs in differential privacy, by which theorem,\n"
      "and how much noise a target needs. `sotto COMMAND --help` shows each command's examples.",
      "sotto");
  app.formatter(std::make_shared<Help>());
  app.set_version_flag("--version", "sotto " SOTTO_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* a, const CLI::Error& e) {
    std::string hint = "sotto --help";
    for (const CLI::App* used : a->get_subcommands()) hint = "sotto " + used->get_name() + " --help";
    return "sotto: " + std::string(e.what()) + "\n  see `" + hint + "`\n";
  });
  sotto::cli::add_accounting(app, typed);
  sotto::cli::add_attacker(app, typed);
  sotto::cli::add_noise(app, typed);
  sotto::cli::add_audit(app, typed);
  sotto::cli::add_figures(app, typed);
  sotto::cli::add_completion(app, typed);
  if (const std::string word = unknown_command(app, argc, argv); !word.empty()) {
    std::cerr << "sotto: '" << word << "' is not a command: it must be one of";
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) std::cerr << " " << command->get_name();
    std::cerr << "\n";
    return usage;
  }
  try {
    app.parse(argc, argv);
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "sotto: the output could not be written\n";
      return failed;
    }
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : usage;
  } catch (const sotto::ParseError& e) {
    std::cerr << "sotto: column " << e.column() << ": " << e.what() << "\n";
    point_at(typed.plan, e.column());
    return usage;
  } catch (const sotto::InvalidValue& e) {
    std::cerr << "sotto: " << e.what() << "\n";
    return usage;
  } catch (const sotto::OutsideConditions& e) {
    std::cerr << "sotto: " << e.what() << "\n";
    return outside_conditions;
  } catch (const std::exception& e) {
    std::cerr << "sotto: " << e.what() << "\n";
    return failed;
  }
}
