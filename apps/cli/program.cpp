// Runs a program of commands and reports its errors. The exit codes are: 0 success, 1 failure, 2
// usage error, 3 budget refused, 4 outside a theorem's conditions, 5 failure after a ledger was
// charged, where the charge stays.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "cli/arguments/plan_arguments.hpp"
#include "command.hpp"
#include "core/api/text.hpp"
#include "remedy.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/study.hpp"

namespace {

constexpr int failed = 1;
constexpr int usage = 2;
constexpr int budget_refused = 3;
constexpr int outside_conditions = 4;
constexpr int charge_stays = 5;

bool has_charged = false;

// Prints the plan with a caret under the column. Of several lines it prints the one with the
// column, and of a long line the part near the column.
void point_at(std::string plan, std::size_t column) {
  constexpr std::size_t near = 60;

  // The line of the column is [from, to).
  std::size_t from = plan.rfind('\n', column >= 2 ? column - 2 : 0);
  from = from == std::string::npos ? 0 : from + 1;
  std::size_t to = std::min(plan.find('\n', std::min(column - 1, plan.size())), plan.size());

  // Of a long line only what is near the column is printed; `from` never points into a character.
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

  // The caret is indented by characters, not by bytes.
  std::string caret(before.size(), ' ');
  for (const char c :
       sotto::escaped_for_terminal(plan.substr(0, column - std::min<std::size_t>(column, 1)))) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) caret += ' ';
  }
  std::cerr << "  " << before << sotto::escaped_for_terminal(plan) << after << "\n  " << caret
            << "^\n";
}

}  // namespace

void sotto::cli::note_charge() { has_charged = true; }

void sotto::cli::say(const std::string& message) {
  std::cerr << "sotto: " << escaped_lines(message) << "\n";
}

int sotto::cli::run_program(Command& app, int argc, char** argv) {
  const auto failure = [] { return has_charged ? charge_stays : failed; };
  const auto say_error = [&](const std::exception& e) {
    say(with_remedy(e, called_command(app, argc, argv)));
  };
  try {
    if (const int mistake = app.parse(argc, argv); mistake != 0) return mistake;
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "sotto: the output could not be written\n";
      return failure();
    }
    return 0;
  } catch (const ParseError& e) {
    say("column " + std::to_string(e.column()) + ": " + e.what());
    if (const auto* of_plan = dynamic_cast<const PlanError*>(&e))
      point_at(of_plan->plan(), e.column());
    return usage;
  } catch (const InvalidValue& e) {
    say_error(e);
    return usage;
  } catch (const StudyError& e) {
    say_error(e);
    return usage;
  } catch (const BudgetRefused& e) {
    say_error(e);
    return budget_refused;
  } catch (const OutsideConditions& e) {
    say_error(e);
    return outside_conditions;
  } catch (const ChargeStays& e) {
    say_error(e);
    return charge_stays;
  } catch (const std::filesystem::filesystem_error& e) {
    say("cannot read " + e.path1().string() + ": " + e.code().message());
    return failure();
  } catch (const std::bad_alloc&) {
    say("there is not enough memory");
    return failure();
  } catch (const std::exception& e) {
    say_error(e);
    return failure();
  }
}
