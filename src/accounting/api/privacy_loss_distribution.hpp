// The distribution of a plan's privacy loss: the probability P(L > ε), and the profile δ(ε).
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

/// The privacy loss is L = log dP/dQ under P. The profile δ(ε) = E_P[(1 - e^(ε-L))₊] is at most P(L
/// > ε), and often far less: (ε, δ)-DP does not mean that the loss exceeds ε with probability at
/// most δ. All values are the larger ones of both directions of neighbours.
///
/// If the plan has a known attained pair (`of_pair`), the values bracket the distribution of that
/// pair: neighbours at the full sensitivity, or the worst mechanism of a stated guarantee. Another
/// mechanism that satisfies the plan may have a larger P(L > ε), since only δ(ε) is guaranteed.
/// Without such a pair the upper ends hold for every mechanism that satisfies the plan, and the
/// lower ends are -inf. docs/theory/tradeoff.md has the proofs.
///
/// Not thread-safe, not even for const calls: computed values are cached.
class PrivacyLossDistribution {
 public:
  /// All answers together take about a second, or at most `seconds` by a clock. Throws
  /// OutsideConditions if no theorem bounds the plan's δ, or if the plan cannot be costed under
  /// `relation`.
  explicit PrivacyLossDistribution(const Plan& plan,
                                   std::optional<Relation> relation = std::nullopt,
                                   std::optional<double> seconds = std::nullopt);

  /// Returns whether one pair of neighbouring inputs attains all values; otherwise they are only
  /// bounds.
  [[nodiscard]] bool of_pair() const;
  /// Returns a bracket of δ(ε).
  [[nodiscard]] Bound delta(Epsilon epsilon) const;
  /// Returns a bracket of P(L > ε). If ε is an atom of L, the upper end includes the atom.
  [[nodiscard]] Bound tail(Epsilon epsilon) const;
  /// Returns an ε up to which a plot of the distribution is informative: where δ(ε) is about 1e-6.
  [[nodiscard]] double reach() const { return reach_; }

  [[nodiscard]] Relation relation() const { return relation_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Returns whether the work limit made some answer wider than it could be.
  [[nodiscard]] bool cut() const { return *cut_; }

 private:
  struct Pairs;
  [[nodiscard]] Bound tail_at(Epsilon epsilon) const;
  void note_width(Bound value) const;

  Relation relation_ = Relation::as_stated;
  std::vector<std::string> notes_;
  double reach_ = 1;
  std::shared_ptr<Pairs> pairs_;
  std::shared_ptr<SharedAllowance> pool_;
  std::shared_ptr<bool> cut_ = std::make_shared<bool>(false);
};

}  // namespace sotto
