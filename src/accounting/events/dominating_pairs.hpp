// The dominating pairs of what is not a leaf: samples and parts in parallel.
#pragma once

#include <string>

#include "accounting/events/events.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {

/// OutsideConditions, with the plan's text before the reason.
[[noreturn]] void refuse(const Plan& plan, const std::string& why, Remedy remedy = Remedy::none);

/// Everything that runs on one sample. On the lower side what some mechanism is known to reach, the rest left out.
Proved<DominatingPair> sampled_pair(const Plan& plan, const Sampling& sampling, Side side);

/// Parts in parallel none of which dominates the others: the pair whose profile is the largest of theirs.
Proved<DominatingPair> parallel_pair(const Plan& plan, const Parallel& parallel);

}  // namespace sotto::accounting_detail
