// Composition theorems for equal steps. Results are balls: their upper ends are valid bounds.
#include "accounting/api/composition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/gamma.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

Real real(std::int64_t n) { return static_cast<double>(n); }

// ε sqrt(2k log(1/δ')): the deviation of the total loss from its mean, by Azuma's inequality.
Real deviation(const EqualSteps& steps) {
  return steps.epsilon * sqrt(-2 * real(steps.k) * log(steps.slack));
}

// kε(e^ε - 1): an upper bound on the mean of the total loss.
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

Real any_failure(const Real& delta, std::int64_t k) {
  return delta.upper() == 0 ? Real(0) : -expm1(real(k) * log1p(-delta));
}

Real either_failure(const Real& a, const Real& b) { return a + b * (1 - a); }

namespace {

// The sum of optimal_delta for δ₀ = 0. With p = 1/(1+e^ε₀), term i is C(k,i) p^i (1-p)^(k-i) (1 -
// e^gap(i))₊, where gap(i) = ε - (k-2i)ε₀: a binomial weight times a factor in [0, 1]. Terms are
// summed outwards from the largest weight below the cut, as ratios to it.
class BinomialSum {
 public:
  BinomialSum(double epsilon, std::int64_t k, double epsilon0)
      : epsilon_(epsilon),
        epsilon0_(epsilon0),
        k_(k),
        up_(exp(Real(epsilon0))),
        down_(exp(-Real(epsilon0))) {
    const auto count = static_cast<double>(k);
    const double cut = (count - epsilon / epsilon0) /
                       2;  // terms with i above this are 0; `top_` adds one for rounding
    top_ = static_cast<std::int64_t>(std::clamp(std::floor(cut) + 1, 0.0, count));
    const auto mode = static_cast<std::int64_t>(std::floor((count + 1) / (1 + std::exp(epsilon0))));
    start_ = std::min(top_, mode);
  }

  Real value() {
    const Real log_weight =
        log_binomial(k_, start_) - real(start_) * epsilon0_ - real(k_) * log1p(down_);
    add_downwards();
    if (start_ < top_) add_upwards();
    if (sum_.upper() <= 0) return 0;
    if (sum_.lower() <= 0) return Real::hull(0.0, min(1, exp(log_weight) * sum_));
    return exp(min(0, log_weight + log(sum_)));
  }

 private:
  [[nodiscard]] Real gap(std::int64_t i) const {
    return epsilon_ - (real(k_) - 2 * real(i)) * epsilon0_;
  }
  // (1 - e^gap)₊, without max() where it is certainly positive
  [[nodiscard]] static Real factor(const Real& exp_gap) {
    return exp_gap.high() < 0.5 ? 1 - exp_gap : max(0, 1 - exp_gap);
  }

  // Adds the rest of the sum to its error and returns true, if the rest is negligible. The ratios
  // of the weights decrease, so the rest is below the geometric series weight r / (1 - r).
  bool rest_is_negligible(std::int64_t i, const Real& weight, const Real& ratio) {
    constexpr double negligible = 0x1p-64;
    constexpr std::int64_t stride =
        16;  // the interval of terms at which the rest is compared with the sum
    if (const double r = i % stride == 0 ? ratio.upper() : 1; r < 1) {
      const double rest = weight.upper() * r / (1 - r) * (1 + 0x1p-40);
      if (rest < negligible * sum_.upper()) {
        sum_ = sum_.widened(rest);
        return true;
      }
    }
    return false;
  }

  // Adds the terms from start_, inclusive, down to 0.
  void add_downwards() {
    const Real step = square(down_);
    Real weight = 1;
    Real exp_gap = exp(gap(start_));
    for (std::int64_t i = start_;; --i) {
      spend(100);
      sum_ += weight * factor(exp_gap);
      if (i == 0) break;
      const Real ratio = real(i) / real(k_ - i + 1) * up_;
      if (rest_is_negligible(i, weight, ratio)) break;
      weight *= ratio;
      exp_gap *= step;
    }
  }

  // Adds the terms above start_. e^gap grows from almost 0, and is computed anew when it becomes
  // relevant.
  void add_upwards() {
    const Real step = square(up_);
    Real weight = 1;
    Real exp_gap = 0;
    for (std::int64_t i = start_; i < top_; ++i) {
      const Real ratio = real(k_ - i) / real(i + 1) * down_;
      if (rest_is_negligible(i, weight, ratio)) break;
      spend(100);
      weight *= ratio;
      if (exp_gap.high() > 0) {
        exp_gap *= step;
      } else if (gap(i + 1).upper() > -100) {
        exp_gap = exp(gap(i + 1));
      }
      sum_ += weight * (exp_gap.high() > 0 ? factor(exp_gap)
                                           : Real(1).widened(0x1p-140));  // e^-100 < 2^-144
    }
  }

  Real epsilon_;
  Real epsilon0_;
  std::int64_t k_;
  Real up_;    // e^ε₀
  Real down_;  // e^-ε₀
  std::int64_t top_ = 0;
  std::int64_t start_ = 0;
  Real sum_ = 0;
};

Real binomial_part(double epsilon, std::int64_t k, double epsilon0) {
  if (epsilon0 > 300) return Real::hull(0.0, 1.0);
  return BinomialSum(epsilon, k, epsilon0).value();
}

}  // namespace

Real optimal_delta(double epsilon, std::int64_t k, double epsilon0, const Real& aside) {
  if (epsilon0 == 0 || epsilon >= (real(k) * Real(epsilon0)).upper()) return aside;
  return either_failure(aside, binomial_part(epsilon, k, epsilon0));
}

bool optimal_is_feasible(std::int64_t k, double epsilon0) {
  const double p = 1 / (1 + std::exp(epsilon0));
  return std::isfinite(epsilon0) && epsilon0 >= 0 && k <= 1000000000 &&
         static_cast<double>(k) * p * (1 - p) <= 1e8;
}

Profile optimal_profile(std::int64_t k, double epsilon0, const Real& aside, Side side) {
  if (!optimal_is_feasible(k, epsilon0)) {
    throw OutsideConditions("optimal composition is summed term by term, and " + std::to_string(k) +
                                " steps of this epsilon have too many terms: use rdp, zcdp or kov",
                            Remedy::method);
  }
  const bool pure = aside.upper() == 0;
  return {[=](double epsilon) { return optimal_delta(epsilon, k, epsilon0, aside); },
          pure ? (real(k) * Real(epsilon0)).at(side) : std::numeric_limits<double>::infinity(),
          aside};
}

Real advanced_simple_epsilon(const EqualSteps& steps) {
  const Real allowed = deviation(steps);
  const Real drifted = drift(steps);
  if (!certainly_at_most(drifted, allowed)) {
    const double claimed = (2 * allowed).upper();
    const bool feasible = optimal_is_feasible(steps.k, steps.epsilon.lower());
    const double optimum =
        feasible ? epsilon_of(optimal_profile(steps.k, steps.epsilon.lower(), 0, Side::lower),
                              steps.slack.upper(), Side::lower)
                 : 0;
    throw OutsideConditions(
        "the simple form 2 eps sqrt(2 k log(1/delta')) holds only while k eps (e^eps - 1) <= eps "
        "sqrt(2 k log(1/delta')), here " +
            rounded_up(drifted) + " > " + rounded_down(allowed) + "; it would say " +
            rounded_up(claimed) +
            (optimum > claimed
                 ? ", which is too small for some mechanisms (the optimum of such steps is " +
                       rounded_down(optimum) + ")"
                 : ", which it does not prove here") +
            ": use advanced, kov or optimal",
        Remedy::method);
  }
  return 2 * allowed;
}

}  // namespace sotto
