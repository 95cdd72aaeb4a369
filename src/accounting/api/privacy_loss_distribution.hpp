// The distribution of a plan's privacy loss: how likely it is to exceed ε, beside δ(ε).
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

/// L = log dP/dQ under P. δ(ε) = E_P[(1 - e^(ε-L))₊] is less than P(L > ε), often far less: (ε, δ)-DP is no promise that
/// the loss stays below ε but for probability δ. The larger of both orders of neighbours.
///
/// Where the plan's pair is known and reached (`of_pair`), this is that pair's distribution, from both sides: neighbours at the
/// full sensitivity, or the worst mechanism that a stated guarantee allows. P(L > ε) may be larger for another mechanism
/// that satisfies the same words: δ(ε) is the guarantee, this is its anatomy. Elsewhere the upper end holds for every
/// mechanism that satisfies the words, and nothing is known below. docs/theory/tradeoff.md has the proofs.
///
/// Values once computed are kept: not for several threads at once.
class PrivacyLossDistribution {
 public:
  /// OutsideConditions where no theorem bounds the plan's δ, or the relation does not fit.
  /// All its answers together take about a second, or so many seconds by a clock.
  explicit PrivacyLossDistribution(const Plan& plan, std::optional<Relation> relation = std::nullopt, std::optional<double> seconds = std::nullopt);

  [[nodiscard]] bool of_pair() const;
  /// δ(ε), ε >= 0.
  [[nodiscard]] Bound delta(Epsilon epsilon) const;
  /// P(L > ε). At an atom the upper end still holds the atom.
  [[nodiscard]] Bound tail(Epsilon epsilon) const;
  /// An ε up to which the distribution is worth a look: where δ(ε) is about 1e-6.
  [[nodiscard]] double reach() const { return reach_; }

  [[nodiscard]] Relation relation() const { return relation_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Some answer could be narrower with more work.
  [[nodiscard]] bool cut() const { return *cut_; }

 private:
  struct Pairs;
  [[nodiscard]] Bound tail_at(Epsilon epsilon) const;
  void note_width(Bound value) const;

  Relation relation_ = Relation::as_stated;
  std::vector<std::string> notes_;
  double reach_ = 1;
  std::shared_ptr<Pairs> pairs_;
  std::shared_ptr<WorkPool> pool_;
  std::shared_ptr<bool> cut_ = std::make_shared<bool>(false);
};

}  // namespace sotto
