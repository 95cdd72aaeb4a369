// Composition of k equal (ε, δ)-DP steps, chosen adaptively.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// k steps that are (ε, ·)-DP each, and the δ' that the composition itself may spend.
struct EqualSteps {
  std::int64_t k;
  Real epsilon;
  Real slack;
};

/// kε: basic composition [Dwork2006a].
Real basic_epsilon(const EqualSteps& steps);

/// ε sqrt(2k log(1/δ')) + kε(e^ε - 1), with δ_total = kδ + δ' [Dwork2010, Thm III.3].
Real advanced_epsilon(const EqualSteps& steps);

/// 2ε sqrt(2k log(1/δ')), valid only while kε(e^ε - 1) <= ε sqrt(2k log(1/δ')): OutsideConditions beyond.
Real advanced_simple_epsilon(const EqualSteps& steps);
/// The same formula without its condition: for pictures of what the sources draw, never for a claim.
Real advanced_simple_formula(const EqualSteps& steps);

/// min{kε, kε tanh(ε/2) + ε sqrt(2k log(e + ε sqrt(k)/δ')), kε tanh(ε/2) + ε sqrt(2k log(1/δ'))}, with
/// δ_total = 1 - (1-δ)^k (1-δ') [Kairouz2015, Thm 3.4].
Real kov_epsilon(const EqualSteps& steps);

/// The exact optimum for k equal (ε₀, δ₀)-DP steps at every real ε >= 0 [Kairouz2015, Thm 3.3]:
/// δ(ε) = 1 - (1 - aside)(1 - sum_i C(k,i) (e^((k-i)ε₀) - e^(ε+iε₀))₊ / (1+e^ε₀)^k), aside = 1 - (1-δ₀)^k.
/// O(sqrt(k)) terms, in ratios to the largest: k = 10^6 takes milliseconds.
Real optimal_delta(double epsilon, std::int64_t k, double epsilon0, const Real& aside);
/// Whether that sum is short enough: the number of terms is about twenty standard deviations of the binomial.
bool optimal_is_feasible(std::int64_t k, double epsilon0);
/// The same as a profile; OutsideConditions where the sum is too long. `side` is the side to which its max divergence is rounded.
Profile optimal_profile(std::int64_t k, double epsilon0, const Real& aside, Side side);

/// 1 - (1-δ)^k: what k independent failures come to.
Real failures(const Real& delta, std::int64_t k);
/// 1 - (1-a)(1-b).
Real either(const Real& a, const Real& b);

}  // namespace sotto
