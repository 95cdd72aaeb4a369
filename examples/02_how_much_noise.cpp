// Example 2. How much noise?
//
// Most often the budget comes first: (ε, δ) is fixed, and the plan has to fit. Leave a hole in the
// plan, and calibrate it.
#include <iostream>

#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

using namespace sotto;

const Epsilon budget(1);
const Delta delta_budget(1e-6);

void fill_in(const Plan& plan, const Question& question = {}) {
  const Calibration calibration = calibrate(plan, budget, delta_budget, question);
  // The value is proved to suffice: the filled plan's ε is at most the budget, in floating point
  // too. Print all of its digits, because noise that is rounded down is too little.
  std::cout << print(plan) << "\n  " << calibration.hole << " = " << shortest(calibration.value)
            << "\n";
}

int main() {
  // A hole can be the noise, …
  fill_in(100 * gaussian(hole));
  // … the number of steps, …
  fill_in(Repeat{.steps = hole, .plan = poisson(0.01, gaussian(2))});
  // … the sampling rate, …
  fill_in(1'000 * poisson(hole, gaussian(1)));
  // … or the noise of one part, when the others are fixed.
  fill_in(laplace(10) + 12 * gaussian(hole));

  // Theorems differ: the textbooks' advanced composition asks for fifteen times the noise that
  // suffices.
  fill_in(100 * gaussian(hole), {.by = Method::advanced_simple});

  // Some budgets cannot be met. One step with Gaussian noise of standard deviation 1 costs too
  // much, so no number of steps fits.
  try {
    fill_in(Repeat{.steps = hole, .plan = gaussian(1)});
  } catch (const OutsideConditions& e) {
    std::cout << "refused: " << e.what() << "\n";
    return 0;
  }
  return 1;
}
