// Of parts in parallel, the one whose pair dominates those of all others.
#pragma once

#include <optional>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// A part whose pair dominates those of all others, where that is plain from the parameters; else empty. Which part a record is in
/// may be decided anew at every use, from what was seen before: the largest total over fixed choices would not do.
std::optional<Plan> dominating_part(const Parallel& parallel);

/// How many parts some step of the plan has in parallel none of which dominates the others; 1 if there is no such step.
std::size_t undecided_parts(const Plan& plan);

}  // namespace sotto::accounting_detail
