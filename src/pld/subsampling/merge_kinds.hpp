// Merging of many similar sampled steps into few kinds, for schedules with hundreds of phases:
// docs/theory/pld/README.md, "Many kinds as few".
#pragma once

#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

/// Compositions that bound a plan: each kind at its largest size and rate dominates its steps, and
/// at its smallest size and rate is dominated by them.
struct MergedSteps {
  std::vector<LossStep> dominating, dominated;
};

/// Returns the steps with those that have a sampled family merged into at most `max_kinds` kinds;
/// the other steps are unchanged. nullopt if there are no more than max_kinds of them. A
/// composition that dominates step by step dominates as a whole [Zhu2022].
std::optional<MergedSteps> merge_kinds(const std::vector<LossStep>& steps, std::size_t max_kinds);

}  // namespace sotto::pld_detail
