// The trade-off function of f-DP: the largest true-positive rate of an attacker at a false-positive
// rate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/core/values.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

class SharedAllowance;

/// An attacker knows two neighbouring data sets, sees the output of a plan, and decides from which
/// one it came. A test is a set E of outputs. Its false-positive rate is α = Q(E), its
/// true-positive rate P(E). The trade-off function of f-DP [Dong2022] at α is one minus the largest
/// true-positive rate.
///
/// Upper ends hold for every mechanism that satisfies the plan and for neighbours in either
/// direction. Lower ends are attained by one such mechanism, and are -inf if no attained pair is
/// known. docs/theory/tradeoff.md has the proofs.
///
/// Not thread-safe, not even for const calls: computed values are cached.
class Tradeoff {
 public:
  /// All answers together take about a second, or at most `seconds` by a clock. Throws
  /// OutsideConditions if no theorem bounds the plan's δ, or if the plan cannot be costed under
  /// `relation`.
  explicit Tradeoff(const Plan& plan, std::optional<Relation> relation = std::nullopt,
                    std::optional<double> seconds = std::nullopt);

  /// Returns a bracket of sup{P(E) : Q(E) <= fpr}, the power of the Neyman-Pearson test. It equals
  /// the infimum over a >= 0 of h(a) + a fpr, where h(a) = sup P(E) - a Q(E) is the hockey-stick
  /// divergence. The decimal number fpr and its double are both covered. Computes some ten values
  /// of δ(ε), which later calls reuse. Throws InvalidValue unless fpr is in [0, 1].
  [[nodiscard]] Bound true_positive_rate(double fpr) const;

  /// Returns the membership advantage: the largest difference of true-positive and false-positive
  /// rate, which is δ(0), the total variation distance.
  [[nodiscard]] Bound advantage() const { return advantage_; }

  /// Returns the success probability of the best attacker if the output comes from P with
  /// probability `prior` in (0, 1): 1 - p + p δ(log((1 - p)/p)) with p = min(prior, 1 - prior). At
  /// 1/2 it is (1 + advantage)/2.
  [[nodiscard]] Bound success(double prior = 0.5) const;

  [[nodiscard]] Relation relation() const { return relation_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Returns whether the work limit made some answer wider than it could be.
  [[nodiscard]] bool cut() const { return *cut_; }

 private:
  struct Curves;

  Plan plan_;
  std::optional<Relation> requested_relation_;
  Relation relation_ = Relation::as_stated;
  std::vector<std::string> notes_;
  Bound advantage_;
  std::shared_ptr<Curves>
      curves_;  ///< null if the work limit was reached before they were computed
  std::shared_ptr<SharedAllowance> pool_;
  std::shared_ptr<bool> cut_ = std::make_shared<bool>(false);
};

/// The true-positive rate that Rényi DP of one order allows.
struct RenyiRate {
  double order;
  double rate;
};
/// Returns the upper bound P(E) <= (e^(D_α) Q(E))^((α-1)/α) on the true-positive rate at Q(E) =
/// fpr, which uses the Rényi divergence of one order only (true_positive_rate_from_renyi), rounded
/// up. If `order` is empty, the best order is used. Throws OutsideConditions if no divergence is
/// known.
RenyiRate renyi_true_positive_rate(const Plan& plan, double fpr,
                                   std::optional<Order> order = std::nullopt);

/// Returns the largest true-positive rate that (ε, δ)-DP allows at a false-positive rate in [0, 1],
/// rounded up: min{1, δ + e^ε fpr, 1 - e^-ε (1 - δ - fpr)} [Wasserman2010; Dong2022].
double true_positive_rate(double epsilon, Delta delta, double fpr);

/// Returns the largest membership advantage that (ε, δ)-DP allows, rounded up: 1 - 2(1 - δ)/(1 +
/// e^ε) [Kairouz2015].
double advantage(double epsilon, Delta delta);

}  // namespace sotto
