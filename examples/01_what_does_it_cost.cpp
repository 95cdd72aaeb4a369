// Example 1. What does it cost?
//
// You hold a sensitive table and want to publish something about it. Write down what you will do,
// and ask what it costs before you touch the data.
#include <iostream>

#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

using namespace sotto;

void show(const Plan& plan) {
  // δ bounds the probability that the promise of ε fails: choose it well below one over the number
  // of people in the table.
  const Answer answer = epsilon(plan, Delta(1e-6));
  // The upper bound is the guarantee, so print it rounded up. The true ε lies between it and the
  // lower bound.
  std::cout << print(plan) << "\n  epsilon <= " << rounded(answer.value.upper, 4, Side::upper)
            << ", by " << name(answer.by) << "\n";
}

int main() {
  // One count. A person changes it by at most 1: that is its sensitivity, and the default.
  show(laplace(10));

  // A sum of ages, clamped to [0, 100]: one person changes it by up to 100.
  show(laplace(1000, /*sensitivity=*/100));

  // Plans add up. Twelve counts, one a month, and the sum:
  show(12 * laplace(100) + laplace(1000, 100));

  // Gaussian noise composes better. The same twelve counts, with noise of the same standard
  // deviation (141):
  show(12 * gaussian(141));

  // Counts by town are about disjoint people: the most expensive of them is the cost of all.
  show(parallel({laplace(10), laplace(10), laplace(20)}));

  // Training a model: 5000 steps, each on a new random sample of 1 % of the people, with Gaussian
  // noise.
  const Plan training = 5'000 * poisson(0.01, gaussian(1.2));
  show(training);

  // Everything that you do with the table belongs in one plan. A plan is a value; parse() reads its
  // text back.
  const Plan year = 12 * laplace(100) + training;
  show(year);
  return parse(print(year)) == year ? 0 : 1;
}
