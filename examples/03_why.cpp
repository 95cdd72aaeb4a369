// Example 3. Why?
//
// A number that protects people should come with its reasons. Each answer carries its derivation: which theorem, under
// which conditions, from what. And a theorem outside its conditions gives an error, never a number.
#include <iostream>
#include <string>

#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

using namespace sotto;

// A derivation is a tree: a guarantee, the theorem that gives it, and the premises that the theorem rests on.
void tell(const Derivation& step, const std::string& indent = "") {
  std::cout << indent << step.guarantee << "\n" << indent << "  by " << step.theorem << " [" << step.reference << "]\n";
  for (const Condition& condition : step.conditions) std::cout << indent << "  with " << condition << "\n";
  for (const Derivation& premise : step.premises) tell(premise, indent + "    ");
}

int main() {
  // The exact answer, and the textbook's, for the same 500 steps.
  const Plan steps = 500 * gaussian(200);
  tell(epsilon(steps, Delta(1e-5)).derivation);
  tell(epsilon(steps, Delta(1e-5), {.by = Method::advanced}).derivation);

  // Every method at once: what it gives, or why it does not apply.
  for (const Comparison& row : compare(poisson(0.01, gaussian(2)), Delta(1e-5))) {
    std::cout << name(row.method) << ": ";
    if (row.answer) std::cout << rounded(row.answer->value.upper, 6, Side::upper) << "\n";
    if (!row.answer) std::cout << row.refusal << "\n";
  }

  // A formula that many texts print without its condition: 2ε sqrt(2k log(1/δ)) for 500 steps with ε = 1 would say 214.6.
  // The truth is 311.8, so it is refused.
  try {
    epsilon(500 * pure(1), Delta(1e-5), {.by = Method::advanced_simple});
  } catch (const OutsideConditions& e) {
    std::cout << "refused: " << e.what() << "\n";
  }
  const Answer truth = epsilon(500 * pure(1), Delta(1e-5));
  std::cout << "the truth: " << truth.value.lower << " to " << truth.value.upper << "\n";
  return truth.value.lower > 214.6 ? 0 : 1;
}
