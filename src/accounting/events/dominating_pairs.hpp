// Dominating pairs of plan nodes that are not leaves: sampled plans, and parts in parallel.
#pragma once

#include <string>

#include "accounting/events/events.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {

/// Throws OutsideConditions with the plan's text followed by `why`.
[[noreturn]] void refuse(const Plan& plan, const std::string& why, Remedy remedy = Remedy::none);

/// Returns the dominating pair of all steps that run on one sample. On Side::lower it is a pair
/// that some mechanism has; steps without a known attained pair are left out. Throws
/// OutsideConditions if no pair is known.
Proved<DominatingPair> sampled_pair(const Plan& plan, const Sampling& sampling, Side side);

/// Returns the pair whose profile is the pointwise maximum of the parts' profiles, for parts of
/// which none dominates the others. Throws OutsideConditions if a part's profile has no closed
/// form, or the profiles cannot be compared.
Proved<DominatingPair> parallel_pair(const Plan& plan, const Parallel& parallel);

}  // namespace sotto::accounting_detail
