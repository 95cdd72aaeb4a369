// What an attacker can tell: the largest true-positive rate at a false-positive rate (f-DP).
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

class WorkPool;

/// An attacker knows two neighbouring data sets, sees what a plan releases, and says which of the two it came from. A
/// test E accuses wrongly with probability Q(E), the false-positive rate α, and rightly with probability P(E), the
/// true-positive rate. The trade-off function of f-DP [Dong2022] is one minus the largest of the latter.
///
/// Upper ends hold for every mechanism that satisfies the plan's words and every pair of neighbours, in either order.
/// Lower ends are reached by one such mechanism; -inf where none is known. docs/theory/tradeoff.md has the proofs.
///
/// Values once computed are kept: not for several threads at once.
class Tradeoff {
 public:
  /// OutsideConditions where no theorem bounds the plan's δ, or the relation does not fit.
  /// All its answers together take about a second, or so many seconds by a clock.
  explicit Tradeoff(const Plan& plan, std::optional<Relation> relation = std::nullopt, std::optional<double> seconds = std::nullopt);

  /// sup{P(E) : Q(E) <= fpr} = inf over a >= 0 of h(a) + a fpr, h(a) = sup P(E) - a Q(E); fpr in [0, 1].
  /// Decimal and binary reading of fpr are both covered. Some ten values of δ(ε), which later calls share.
  [[nodiscard]] Bound true_positive_rate(double fpr) const;

  /// The largest true-positive minus false-positive rate: δ(0), the total variation distance.
  [[nodiscard]] Bound advantage() const { return advantage_; }

  /// How often the best attacker is right if P is the truth with probability `prior` in (0, 1): with
  /// p = min(prior, 1 - prior), 1 - p + p δ(log((1 - p)/p)). (1 + advantage)/2 at 1/2.
  [[nodiscard]] Bound success(double prior = 0.5) const;

  [[nodiscard]] Relation relation() const { return relation_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Some answer could be narrower with more work.
  [[nodiscard]] bool cut() const { return *cut_; }

 private:
  struct Curves;

  Plan plan_;
  std::optional<Relation> asked_;
  Relation relation_ = Relation::as_stated;
  std::vector<std::string> notes_;
  Bound advantage_;
  std::shared_ptr<Curves> curves_;  ///< none where the work did not suffice for them
  std::shared_ptr<WorkPool> pool_;
  std::shared_ptr<bool> cut_ = std::make_shared<bool>(false);
};

/// What the Rényi divergence of one order alone allows: P(E) <= (e^(D_α) Q(E))^((α-1)/α), rounded up, in either order of neighbours
/// (true_positive_rate_from_renyi), at the order given or the best one. OutsideConditions where no divergence is known.
struct RenyiRate {
  double order;
  double rate;
};
RenyiRate renyi_true_positive_rate(const Plan& plan, double fpr, std::optional<Order> order = std::nullopt);

/// What (ε, δ)-DP alone allows at a false-positive rate in [0, 1], rounded up:
/// min{1, δ + e^ε fpr, 1 - e^-ε (1 - δ - fpr)} [Wasserman2010; Dong2022].
double true_positive_rate(double epsilon, Delta delta, double fpr);

/// The same for the advantage, rounded up: 1 - 2(1 - δ)/(1 + e^ε) [Kairouz2015].
double advantage(double epsilon, Delta delta);

}  // namespace sotto
