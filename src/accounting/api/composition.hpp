// Composition theorems for k adaptive steps that are all (ε, δ)-DP: basic, advanced, KOV and
// optimal composition.
#pragma once

#include <cstdint>

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// k steps of which each is (ε, ·)-DP, and the δ' that the composition theorem itself spends.
struct EqualSteps {
  std::int64_t k;
  Real epsilon;
  Real slack;
};

/// Basic composition [Dwork2006a]: kε.
Real basic_epsilon(const EqualSteps& steps);

/// Advanced composition [Dwork2010, Thm III.3]: ε sqrt(2k log(1/δ')) + kε(e^ε - 1), at
/// δ_total = kδ + δ'.
Real advanced_epsilon(const EqualSteps& steps);

/// The simplified form 2ε sqrt(2k log(1/δ')) of advanced composition [Dwork2010]. It holds only if
/// kε(e^ε - 1) <= ε sqrt(2k log(1/δ')); throws OutsideConditions otherwise.
Real advanced_simple_epsilon(const EqualSteps& steps);
/// The formula 2ε sqrt(2k log(1/δ')) without a check of its condition. For figures only: it is not
/// a bound.
Real advanced_simple_formula(const EqualSteps& steps);

/// The closed form of Kairouz, Oh and Viswanath (KOV) [Kairouz2015, Thm 3.4], at δ_total = 1 -
/// (1-δ)^k (1-δ'): the least of kε, kε tanh(ε/2) + ε sqrt(2k log(e + ε sqrt(k)/δ')) and kε
/// tanh(ε/2) + ε sqrt(2k log(1/δ')).
Real kov_epsilon(const EqualSteps& steps);

/// Optimal composition of k (ε₀, δ₀)-DP steps, exact at every real ε >= 0 [Kairouz2015, Thm 3.3]:
/// δ(ε) = 1 - (1 - aside)(1 - sum_i C(k,i) (e^((k-i)ε₀) - e^(ε+iε₀))₊ / (1+e^ε₀)^k)
/// with aside = 1 - (1-δ₀)^k. Cost: O(sqrt(k)) terms; k = 10^6 takes milliseconds.
Real optimal_delta(double epsilon, std::int64_t k, double epsilon0, const Real& aside);
/// Returns whether the sum of optimal_delta is short enough to compute. Its number of terms is
/// about twenty standard deviations of the binomial distribution.
bool optimal_is_feasible(std::int64_t k, double epsilon0);
/// Returns optimal_delta as a privacy profile, whose largest loss is rounded to the given side.
/// Throws OutsideConditions if optimal_is_feasible() is false.
Profile optimal_profile(std::int64_t k, double epsilon0, const Real& aside, Side side);

/// 1 - (1-δ)^k: the probability that any of k independent events of probability δ happens.
Real any_failure(const Real& delta, std::int64_t k);
/// 1 - (1-a)(1-b): the probability that at least one of two independent events happens.
Real either_failure(const Real& a, const Real& b);

}  // namespace sotto
