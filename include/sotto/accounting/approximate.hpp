// A plan as a list of (ε, δ)-DP steps: what basic, advanced and optimal composition work on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/definitions.hpp"

namespace sotto {

/// Which line turns a Gaussian step and a share of δ into ε.
enum class GaussianLine { exact, classical };

/// `count` equal steps. A step that is (ε, δ)-DP by itself ignores its share of δ; one that is so only at a price
/// (Gaussian noise, zCDP, RDP, …) spends the share.
struct Step {
  Plan plan;
  std::int64_t count;
  bool needs_share;
  /// The step's guarantee, given its share of δ. OutsideConditions where no line applies.
  std::function<ApproximateDP(double share, Derivation* why)> guarantee;
};

/// The plan's steps, repetitions and sums flattened, equal parts merged; groups are carried into the parts.
std::vector<Step> steps_of(const Plan& plan, GaussianLine line);

/// The plan's own (ε, δ) without any share: the sum over steps, if none needs one. An upper bound.
std::optional<ApproximateDP> own_guarantee(const Plan& plan);

}  // namespace sotto
