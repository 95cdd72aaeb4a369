// Example 3. Why?
//
// A number that protects people should come with its reasons. Each answer carries its derivation:
// the theorem, its conditions, and its premises. A theorem outside its conditions gives an error,
// never a number.
#include <iostream>
#include <string>

#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

using namespace sotto;

// A derivation is a tree: a guarantee, the theorem that gives it, and the premises that the theorem
// rests on.
void print_derivation(const Derivation& step, const std::string& indent = "") {
  std::cout << indent << step.guarantee << "\n"
            << indent << "  by " << step.theorem << " [" << step.reference << "]\n";
  for (const Condition& condition : step.conditions)
    std::cout << indent << "  with " << condition << "\n";
  for (const Derivation& premise : step.premises) print_derivation(premise, indent + "    ");
}

int main() {
  // The exact answer and the textbook's, for 500 steps.
  const Plan steps = 500 * gaussian(200);
  print_derivation(epsilon(steps, Delta(1e-5)).derivation);
  print_derivation(epsilon(steps, Delta(1e-5), {.by = Method::advanced}).derivation);

  // Every method: its ε, or why it does not apply.
  for (const Comparison& row : compare(poisson(0.01, gaussian(2)), Delta(1e-5))) {
    std::cout << name(row.method) << ": ";
    if (row.answer) std::cout << rounded(row.answer->value.upper, 6, Side::upper) << "\n";
    if (!row.answer) std::cout << row.refusal << "\n";
  }

  // Many texts print the formula 2ε sqrt(2k log(1/δ)) without its condition. For 500 steps with ε =
  // 1 it would give 214.6, and the truth is 311.8, so the library refuses it.
  try {
    epsilon(500 * pure(1), Delta(1e-5), {.by = Method::advanced_simple});
  } catch (const OutsideConditions& e) {
    std::cout << "refused: " << e.what() << "\n";
  }
  const Answer truth = epsilon(500 * pure(1), Delta(1e-5));
  std::cout << "the truth: " << truth.value.lower << " to " << truth.value.upper << "\n";
  return truth.value.lower > 214.6 ? 0 : 1;
}
