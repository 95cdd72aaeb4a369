// ε as a function of the number of steps that a plan has done.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto {

/// Returns the number of steps of a plan: k of `k * A`, or the largest k of the parts of a sum.
/// Throws InvalidValue if the plan has no repetition at its top level, or has a hole.
std::int64_t step_total(const Plan& plan);

/// Returns the plan after `steps` of its steps. The counts of a sum's parts shrink in proportion
/// and are rounded up, so a part that runs once counts from the start. Throws InvalidValue unless 1
/// <= steps <= step_total(plan).
Plan after_steps(const Plan& plan, std::int64_t steps);

enum class Spacing { logarithmic, even };
/// Returns at most `points` ascending step counts from 1 to `most`, both included. Throws
/// InvalidValue unless most >= 1 and points >= 2.
std::vector<std::int64_t> step_counts(std::int64_t most, std::size_t points,
                                      Spacing spacing = Spacing::logarithmic);

/// A point of the curve of ε over steps.
struct StepPoint {
  std::int64_t steps;
  Answer answer;  ///< ε of after_steps(plan, steps)
};

/// Returns ε at δ after each of the counts. If `progress` is set, it is called after each point
/// with the number of points done.
std::vector<StepPoint> epsilon_over_steps(
    const Plan& plan, Delta delta, const std::vector<std::int64_t>& counts,
    const Question& question = {}, const std::function<void(std::size_t done)>& progress = {});

}  // namespace sotto
