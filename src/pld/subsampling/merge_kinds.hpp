// Many sampled steps that differ little, merged into fewer kinds: for an upper bound each at the largest size and rate of its kind, for a lower bound
// at the smallest.
#pragma once

#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

struct Merged {
  std::vector<LossStep> above, below;
};

/// At most about so many kinds of graded steps, what else there is unchanged; nothing where there are no more than that. What dominates step by step
/// dominates composed [Zhu2022].
std::optional<Merged> merged(const std::vector<LossStep>& steps, std::size_t most);

}  // namespace sotto::pld_detail
