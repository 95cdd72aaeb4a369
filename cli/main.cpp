// sotto: parse the command line, call the library, print. Exit codes: 0 good, 1 failed, 2 usage, 3 budget refused,
// 4 outside a theorem's conditions.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
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
  app.set_version_flag("--version", "sotto " SOTTO_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* a, const CLI::Error& e) {
    std::string hint = "sotto --help";
    for (const CLI::App* used : a->get_subcommands()) hint = "sotto " + used->get_name() + " --help";
    return "sotto: " + std::string(e.what()) + "\n  see `" + hint + "`\n";
  });
  sotto::cli::add_accounting(app, typed);
  sotto::cli::add_figures(app, typed);
  sotto::cli::add_completion(app, typed);
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
