// sotto: parse the command line, call the library, print. Exit codes: 0 good, 1 failed, 2 usage, 3 budget refused,
// 4 outside a theorem's conditions.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

#include "command.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/text.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/study/study.hpp"

namespace {

constexpr int failed = 1;
constexpr int usage = 2;
constexpr int budget_refused = 3;
constexpr int outside_conditions = 4;

// The plan with a caret under the column; of a plan of many lines that line, and of a long line what is near.
void point_at(std::string plan, std::size_t column) {
  constexpr std::size_t near = 60;
  std::size_t from = plan.rfind('\n', column >= 2 ? column - 2 : 0);
  from = from == std::string::npos ? 0 : from + 1;
  std::size_t to = std::min(plan.find('\n', std::min(column - 1, plan.size())), plan.size());
  std::string before;
  std::string after;
  if (to - from > 4 * near) {
    if (column > from + near) before = "...";
    if (column > from + near) from = column - near;
    if (to > column + near) after = "...";
    to = std::min(to, column + near);
  }
  while (from > 0 && (static_cast<unsigned char>(plan[from]) & 0xC0) == 0x80) --from;
  column -= from;
  plan = plan.substr(from, to - from);
  std::string caret(before.size(), ' ');
  for (const char c : sotto::escaped_for_terminal(plan.substr(0, column - std::min<std::size_t>(column, 1)))) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) caret += ' ';
  }
  std::cerr << "  " << before << sotto::escaped_for_terminal(plan) << after << "\n  " << caret << "^\n";
}

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

void sotto::cli::say(const std::string& words) { std::cerr << "sotto: " << escaped_lines(words) << "\n"; }

int main(int argc, char** argv) {
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
  sotto::cli::add_noise(app, typed);
  sotto::cli::add_dpsgd(app, typed);
  sotto::cli::add_attack(app, typed);
  sotto::cli::add_audit(app, typed);
  sotto::cli::add_figures(app, typed);
  sotto::cli::add_completion(app, typed);
  if (const std::string words = unknown_command(app, argc, argv); !words.empty()) {
    sotto::cli::say(words);
    return usage;
  }
  try {
    if (const int mistake = app.parse(argc, argv); mistake != 0) return mistake;
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "sotto: the output could not be written\n";
      return failed;
    }
    return 0;
  } catch (const sotto::ParseError& e) {
    sotto::cli::say("column " + std::to_string(e.column()) + ": " + e.what());
    point_at(typed.plan, e.column());
    return usage;
  } catch (const sotto::InvalidValue& e) {
    sotto::cli::say(e.what());
    return usage;
  } catch (const sotto::StudyError& e) {
    sotto::cli::say(e.what());
    return usage;
  } catch (const sotto::BudgetRefused& e) {
    sotto::cli::say(e.what());
    return budget_refused;
  } catch (const sotto::OutsideConditions& e) {
    sotto::cli::say(e.what());
    return outside_conditions;
  } catch (const std::exception& e) {
    sotto::cli::say(e.what());
    return failed;
  }
}
