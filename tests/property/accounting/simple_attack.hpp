// Lower bounds on the cost of any plan by simple attacks, in closed form and independent of the
// library's numerics: on one leaf, one use of it, and a threshold on its output.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "plan/fields.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::testing {

/// long double has 15 bits of exponent where this test runs, so that squares of the largest doubles
/// are finite. Where it has not, they are infinite, and a bound of infinity would be wrong: they
/// are capped.
using Wide = long double;

/// An event that has at least probability `power` under P and at most e^log_false_alarm under Q,
/// for some mechanism that the plan allows and some neighbours.
struct Attack {
  Wide power;
  Wide log_false_alarm;

  /// ε >= log((p - δ)/q).
  [[nodiscard]] Wide epsilon(double delta) const {
    return power > delta ? std::log(power - static_cast<Wide>(delta)) - log_false_alarm : 0;
  }
  /// δ >= p - e^ε q.
  [[nodiscard]] Wide delta(double epsilon) const {
    return power - std::exp(static_cast<Wide>(epsilon) + log_false_alarm);
  }
  /// D_α >= (α log p - (α-1) log q)/(α-1) (data processing, and the other term of the sum is
  /// positive).
  [[nodiscard]] Wide divergence(double order) const {
    return (order * std::log(power) - (order - 1) * log_false_alarm) / (order - 1);
  }
};

namespace attack_detail {

inline Wide upper_tail(Wide z) { return std::erfc(z / std::sqrt(Wide(2))) / 2; }
// P(Z >= z) <= e^(-z²/2)/2 for z >= 0.
inline Wide log_tail_above(Wide z) { return z > 0 ? -z * z / 2 - std::log(Wide(2)) : Wide(0); }

/// N(μ, 1) against N(0, 1).
inline std::vector<Attack> shifted_normal(Wide mu) {
  std::vector<Attack> all{{Wide(0.5), log_tail_above(mu)},
                          {upper_tail(-mu / 2), std::log(upper_tail(mu / 2))}};
  if (!(upper_tail(mu / 2) > 0)) all.pop_back();
  if (mu > 4) all.push_back({upper_tail(-4), log_tail_above(mu - 4)});
  return all;
}

inline std::vector<Attack> laplace(Wide x) {
  return {{Wide(0.5), -x - std::log(Wide(2))},
          {1 - std::exp(-x / 2) / 2, -x / 2 - std::log(Wide(2))}};
}

/// Binary randomized response of ε.
inline std::vector<Attack> response(Wide epsilon) {
  const Wide log_sum = std::log1p(std::exp(-epsilon));
  return {{1 / (1 + std::exp(-epsilon)), -epsilon - log_sum}};
}

/// At least one of n reports says 1: of one who says so with probability `truth` or `lie`, and n -
/// 1 who say so with probability `lie`.
inline std::vector<Attack> any_report(Wide truth, Wide log_lie, Wide reports) {
  return {{truth, std::min(Wide(0), std::log(reports) + log_lie)}};
}

inline Wide value(const Parameter& parameter) { return parameter.value(); }

/// The events of `all`, or everything is revealed, which has probability δ.
inline std::vector<Attack> or_all(std::vector<Attack> all, Wide delta) {
  if (delta > 0) all.push_back({delta, -std::numeric_limits<Wide>::infinity()});
  return all;
}

inline std::vector<Attack> scaled(std::vector<Attack> all, Wide rate) {
  for (Attack& one : all) one.power *= rate;
  return all;
}

}  // namespace attack_detail

/// Attacks on the plan; what an attack on a part does it does to the whole (post-processing).
inline std::vector<Attack> simple_attacks(const Plan& plan);

template <class T>
std::vector<Attack> attacks_on(const T& node) {
  using namespace attack_detail;
  if constexpr (std::is_same_v<T, Gaussian> || std::is_same_v<T, RingSum>) {
    return shifted_normal(value(node.sensitivity) / value(node.sigma));
  } else if constexpr (std::is_same_v<T, Laplace>) {
    return laplace(value(node.sensitivity) / value(node.b));
  } else if constexpr (std::is_same_v<T, DiscreteGaussian>) {  // its tail is below the continuous
                                                               // one's bound [Canonne2020]
    const Wide mu = value(node.sensitivity) / value(node.sigma);
    return {{Wide(0.5), -mu * mu / 2}};
  } else if constexpr (std::is_same_v<T, DiscreteLaplace>) {  // at least Δ, or at least 0:
                                                              // t^Δ/(1+t) against 1/(1+t)
    const Wide t = std::exp(-1 / value(node.b));
    return {{1 / (1 + t), -value(node.sensitivity) / value(node.b) - std::log1p(t)}};
  } else if constexpr (std::is_same_v<T, RandomizedResponse>) {
    const Wide truth = value(node.p);
    const Wide other = (1 - truth) / (value(node.k) - 1);
    return {{std::max(truth, other), std::log(std::min(truth, other))}};
  } else if constexpr (std::is_same_v<T, Arsinh>) {
    const Wide ratio = value(node.sensitivity) / value(node.a);
    return {
        {Wide(0.5),
         log_tail_above((ratio > 1e-9L ? std::sinh(std::min(ratio, Wide(5000))) / ratio : Wide(1)) *
                        std::sqrt(2 * value(node.rho)))}};
  } else if constexpr (std::is_same_v<T, Staircase>) {
    const Wide above = 1 - std::exp(-value(node.eps) / 2) / 2;
    return {{above, std::log(above) - value(node.eps)}};
  } else if constexpr (std::is_same_v<T, Exponential>) {  // two candidates whose logits differ by 0
                                                          // or ε, by ε/2 or -ε/2
    const Wide e = value(node.eps);
    return {{Wide(0.5), -e - std::log1p(std::exp(-e))},
            {1 / (1 + std::exp(-e / 2)), -e / 2 - std::log1p(std::exp(-e / 2))}};
  } else if constexpr (std::is_same_v<T, Catastrophe>) {
    return or_all(laplace(value(node.eps)), value(node.delta));
  } else if constexpr (std::is_same_v<T, Pure>) {
    return response(value(node.eps));
  } else if constexpr (std::is_same_v<T, Approx>) {
    return or_all(response(value(node.eps)), value(node.delta));
  } else if constexpr (std::is_same_v<T, AggregatedGaussian> || std::is_same_v<T, GopaComplete> ||
                       std::is_same_v<T, GopaConnected> ||
                       std::is_same_v<T, GopaRandom>) {  // the sum of all honest users' values
    return shifted_normal(value(node.sensitivity) /
                          (value(node.sigma) * std::sqrt(value(node.honest))));
  } else if constexpr (std::is_same_v<T, Shuffle>) {
    const Wide e = value(node.eps);
    return any_report(1 / (1 + std::exp(-e)), -e - std::log1p(std::exp(-e)), value(node.users));
  } else if constexpr (std::is_same_v<T, RingHistogram>) {
    const Wide lie = value(node.gamma) / value(node.values);
    return any_report(1 - value(node.gamma) + lie, std::log(lie), value(node.users) - 1);
  } else if constexpr (std::is_same_v<T, WalkSgd>) {  // the coalition is before and after the user
    return scaled(
        shifted_normal(value(node.sensitivity) / value(node.sigma)),
        value(node.colluders) / value(node.users) * (value(node.colluders) / value(node.users)));
  } else if constexpr (std::is_same_v<T, WalkSum>) {  // the user, then the coalition
    return scaled(shifted_normal(value(node.sensitivity) / value(node.sigma)),
                  value(node.colluders) / value(node.users) / value(node.users));
  } else if constexpr (std::is_same_v<T, Rdp>) {  // Gaussian noise that has the divergence stated
    return shifted_normal(std::sqrt(2 * value(node.eps) / value(node.alpha)));
  } else if constexpr (std::is_same_v<T, Zcdp> || std::is_same_v<T, Tcdp>) {
    return shifted_normal(std::sqrt(2 * value(node.rho)));
  } else if constexpr (std::is_same_v<T, Gdp>) {
    return shifted_normal(value(node.mu));
  } else if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
    std::vector<Attack> all;
    for (const Plan& part : node.parts) {
      for (const Attack& one : simple_attacks(part)) all.push_back(one);
    }
    return all;
  } else if constexpr (std::is_same_v<T, Poisson>) {  // (1-q) Q + q P against Q
    return scaled(simple_attacks(node.plan), value(node.rate));
  } else if constexpr (std::is_same_v<T, WithoutReplacement>) {  // all others are as the one in the
                                                                 // record's place
    return scaled(simple_attacks(node.plan), value(node.batch) / value(node.population));
  } else {
    static_assert(std::is_same_v<T, Repeat> || std::is_same_v<T, Group>,
                  "a new leaf needs an attack");
    return simple_attacks(node.plan);
  }
}

inline std::vector<Attack> simple_attacks(const Plan& plan) {
  return std::visit([](const auto& node) { return attacks_on(node); }, plan.node());
}

/// The largest ε at δ that an attack proves, rounded down by a part in 10^9.
inline double attacked_epsilon(const Plan& plan, double delta) {
  Wide most = 0;
  for (const Attack& one : simple_attacks(plan)) most = std::max(most, one.epsilon(delta));
  return static_cast<double>(std::min(most * (1 - 1e-9L) - 1e-15L, Wide(1e307)));
}

inline double attacked_delta(const Plan& plan, double epsilon) {
  Wide most = 0;
  for (const Attack& one : simple_attacks(plan)) most = std::max(most, one.delta(epsilon));
  return static_cast<double>(most * (1 - 1e-9L) - 1e-15L);
}

inline double attacked_divergence(const Plan& plan, double order) {
  Wide most = 0;
  for (const Attack& one : simple_attacks(plan)) most = std::max(most, one.divergence(order));
  return static_cast<double>(std::min(most * (1 - 1e-9L) - 1e-15L, Wide(1e307)));
}

}  // namespace sotto::testing
