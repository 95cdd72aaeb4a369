// Parts in parallel: which part dominates all others.
#pragma once

#include <optional>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// Returns a part whose dominating pair dominates those of all other parts, if the parameters show
/// it; else empty. It is not enough to compare the totals of a whole plan part by part: an adaptive
/// analyst may choose at every use, from the answers so far, which part a record is in.
std::optional<Plan> dominating_part(const Parallel& parallel);

/// Returns the largest number of parts in parallel, over the plan's steps, of which none dominates
/// the others; 1 if there is no such step.
std::size_t undecided_parts(const Plan& plan);

}  // namespace sotto::accounting_detail
