// Of parts in parallel, the one that costs at least as much as every other, at every ε.
#pragma once

#include <optional>

#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

/// A part whose pair dominates those of all others, where that is plain from the parameters; else empty. Which part a record is in
/// may be decided anew at every use, from what was seen before: the largest total over fixed choices would not do.
std::optional<Plan> dearest_part(const Parallel& parallel);

/// How many parts some step of the plan has in parallel none of which is dearest; 1 if there is no such step.
std::size_t undecided_parts(const Plan& plan);

}  // namespace sotto::accounting_detail
