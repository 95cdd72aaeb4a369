#include "accounting/api/composition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sotto/accounting/derivation.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"

namespace sotto {
namespace {

Real real(std::int64_t n) { return static_cast<double>(n); }

// ε sqrt(2k log(1/δ')), the deviation that Azuma's inequality allows.
Real deviation(const EqualSteps& steps) { return steps.epsilon * sqrt(-2 * real(steps.k) * log(steps.slack)); }

// kε(e^ε - 1), the drift.
Real drift(const EqualSteps& steps) { return real(steps.k) * steps.epsilon * expm1(steps.epsilon); }

}  // namespace

Real basic_epsilon(const EqualSteps& steps) { return real(steps.k) * steps.epsilon; }

Real advanced_epsilon(const EqualSteps& steps) { return deviation(steps) + drift(steps); }

Real advanced_simple_formula(const EqualSteps& steps) { return 2 * deviation(steps); }

Real kov_epsilon(const EqualSteps& steps) {
  const Real k = real(steps.k);
  const Real& e = steps.epsilon;
  const Real mean = k * e * tanh(e / 2);
  const Real second = mean + e * sqrt(2 * k * log(exp(Real(1)) + e * sqrt(k) / steps.slack));
  return min(k * e, min(second, mean + deviation(steps)));
}

Real failures(const Real& delta, std::int64_t k) { return delta.upper() == 0 ? Real(0) : -expm1(real(k) * log1p(-delta)); }

Real either(const Real& a, const Real& b) { return a + b * (1 - a); }

namespace {

// The sum above, without `aside`. With p = 1/(1+e^ε₀), term i is C(k,i) p^i (1-p)^(k-i) (1 - e^(ε - (k-2i)ε₀))₊:
// a binomial weight times a factor in [0, 1]. Summed outwards from the heaviest i below the cut, in ratios to it.
Real binomial_part(double epsilon, std::int64_t k, double epsilon0) {
  const auto count = static_cast<double>(k);
  if (epsilon0 > 300) return Real::hull(0.0, 1.0);
  const double cut = (count - epsilon / epsilon0) / 2;  // i must be below this; one more covers its rounding
  const auto top = static_cast<std::int64_t>(std::clamp(std::floor(cut) + 1, 0.0, count));
  const auto mode = static_cast<std::int64_t>(std::floor((count + 1) / (1 + std::exp(epsilon0))));
  const std::int64_t start = std::min(top, mode);

  const Real up = exp(Real(epsilon0));
  const Real down = exp(-Real(epsilon0));
  const Real log_weight = log_binomial(k, start) - real(start) * Real(epsilon0) - real(k) * log1p(down);
  const auto loss_gap = [&](std::int64_t i) { return Real(epsilon) - (real(k) - 2 * real(i)) * Real(epsilon0); };
  // (1 - gap)₊; away from the cut it is positive for certain
  const auto factor = [](const Real& gap) { return gap.high() < 0.5 ? 1 - gap : max(0, 1 - gap); };
  const Real up2 = square(up);
  const Real down2 = square(down);
  constexpr double negligible = 0x1p-64;
  constexpr std::int64_t stride = 16;  // how often to look whether the rest is negligible

  Real sum = 0;
  {  // downwards, start included
    Real weight = 1;
    Real gap = exp(loss_gap(start));
    for (std::int64_t i = start;; --i) {
      spend(100);
      sum += weight * factor(gap);
      if (i == 0) break;
      const Real ratio = real(i) / real(k - i + 1) * up;
      // the ratios shrink on the way, so what is left is below weight r / (1 - r)
      if (const double r = i % stride == 0 ? ratio.upper() : 1; r < 1) {
        const double rest = weight.upper() * r / (1 - r) * (1 + 0x1p-40);
        if (rest < negligible * sum.upper()) {
          sum = sum.widened(rest);
          break;
        }
      }
      weight *= ratio;
      gap *= down2;
    }
  }
  if (start < top) {  // upwards; the gap grows from nothing, and is computed afresh where it begins to count
    Real weight = 1;
    Real gap = 0;
    for (std::int64_t i = start; i < top; ++i) {
      const Real ratio = real(k - i) / real(i + 1) * down;
      if (const double r = i % stride == 0 ? ratio.upper() : 1; r < 1) {
        const double rest = weight.upper() * r / (1 - r) * (1 + 0x1p-40);
        if (rest < negligible * sum.upper()) {
          sum = sum.widened(rest);
          break;
        }
      }
      spend(100);
      weight *= ratio;
      if (gap.high() > 0) {
        gap *= up2;
      } else if (loss_gap(i + 1).upper() > -100) {
        gap = exp(loss_gap(i + 1));
      }
      sum += weight * (gap.high() > 0 ? factor(gap) : Real(1).widened(0x1p-140));  // e^-100 < 2^-144
    }
  }
  if (sum.upper() <= 0) return 0;
  if (sum.lower() <= 0) return Real::hull(0.0, min(1, exp(log_weight) * sum));
  return exp(min(0, log_weight + log(sum)));
}

}  // namespace

Real optimal_delta(double epsilon, std::int64_t k, double epsilon0, const Real& aside) {
  if (epsilon0 == 0 || epsilon >= (real(k) * Real(epsilon0)).upper()) return aside;
  return either(aside, binomial_part(epsilon, k, epsilon0));
}

bool optimal_is_feasible(std::int64_t k, double epsilon0) {
  const double p = 1 / (1 + std::exp(epsilon0));
  return std::isfinite(epsilon0) && epsilon0 >= 0 && k <= 1000000000 && static_cast<double>(k) * p * (1 - p) <= 1e8;
}

Profile optimal_profile(std::int64_t k, double epsilon0, const Real& aside, Side side) {
  if (!optimal_is_feasible(k, epsilon0)) {
    throw OutsideConditions(
        "optimal composition is summed term by term, and " + std::to_string(k) + " such steps have too many terms: use rdp, zcdp or kov",
        Remedy::method);
  }
  const bool pure = aside.upper() == 0;
  return {[=](double epsilon) { return optimal_delta(epsilon, k, epsilon0, aside); },
          pure ? (real(k) * Real(epsilon0)).at(side) : std::numeric_limits<double>::infinity(), aside};
}

Real advanced_simple_epsilon(const EqualSteps& steps) {
  const Real allowed = deviation(steps);
  const Real drifted = drift(steps);
  if (!certainly_at_most(drifted, allowed)) {
    const double claimed = (2 * allowed).upper();
    const bool feasible = optimal_is_feasible(steps.k, steps.epsilon.lower());
    const double optimum =
        feasible ? epsilon_of(optimal_profile(steps.k, steps.epsilon.lower(), 0, Side::lower), steps.slack.upper(), Side::lower) : 0;
    throw OutsideConditions(
        "the simple form 2 eps sqrt(2 k log(1/delta')) holds only while k eps (e^eps - 1) <= eps sqrt(2 k log(1/delta')), here " + at_most(drifted) +
            " > " + at_least(allowed) + "; it would say " + at_most(claimed) +
            (optimum > claimed ? ", which is too small for some mechanisms (the optimum of such steps is " + at_least(optimum) + ")"
                               : ", which it does not prove here") +
            ": use advanced, kov or optimal",
        Remedy::method);
  }
  return 2 * allowed;
}

}  // namespace sotto
