// Runs a program of commands and reports its errors. Exit codes: 0 good, 1 failed, 2 usage, 3 budget refused, 4 outside a theorem's conditions,
// 5 failed with a charge that stays in the ledger.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "command.hpp"
#include "remedy.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/text.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/study.hpp"

namespace {

constexpr int failed = 1;
constexpr int usage = 2;
constexpr int budget_refused = 3;
constexpr int outside_conditions = 4;
constexpr int charge_stays = 5;

bool has_charged = false;

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

}  // namespace

void sotto::cli::note_charge() { has_charged = true; }

void sotto::cli::say(const std::string& words) { std::cerr << "sotto: " << escaped_lines(words) << "\n"; }

int sotto::cli::run_program(Command& app, const Typed& typed, int argc, char** argv) {
  const auto say_error = [&](const std::exception& e) { say(with_remedy(e, command_called(app, argc, argv))); };
  try {
    if (const int mistake = app.parse(argc, argv); mistake != 0) return mistake;
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "sotto: the output could not be written\n";
      return has_charged ? charge_stays : failed;
    }
    return 0;
  } catch (const sotto::ParseError& e) {
    sotto::cli::say("column " + std::to_string(e.column()) + ": " + e.what());
    point_at(typed.plan, e.column());
    return usage;
  } catch (const sotto::InvalidValue& e) {
    say_error(e);
    return usage;
  } catch (const sotto::StudyError& e) {
    say_error(e);
    return usage;
  } catch (const sotto::BudgetRefused& e) {
    say_error(e);
    return budget_refused;
  } catch (const sotto::OutsideConditions& e) {
    say_error(e);
    return outside_conditions;
  } catch (const sotto::ChargeStays& e) {
    say_error(e);
    return charge_stays;
  } catch (const std::filesystem::filesystem_error& e) {
    say("cannot read " + e.path1().string() + ": " + e.code().message());
    return has_charged ? charge_stays : failed;
  } catch (const std::bad_alloc&) {
    say("there is not enough memory");
    return has_charged ? charge_stays : failed;
  } catch (const std::exception& e) {
    say_error(e);
    return has_charged ? charge_stays : failed;
  }
}
