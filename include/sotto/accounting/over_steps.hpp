// ε as a plan goes on: what it has cost after some of its steps, up to all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto {

/// The number of steps that a plan repeats: k of `k * A`, the largest one of a sum. InvalidValue for a plan that repeats
/// nothing at its top, or has a hole.
std::int64_t step_total(const Plan& plan);

/// The plan when `steps` of its steps are done: the counts of a sum's parts shrink in proportion and are rounded up, so
/// that a part that runs once counts from the start. InvalidValue unless 1 <= steps <= step_total(plan).
Plan after_steps(const Plan& plan, std::int64_t steps);

enum class Spacing { logarithmic, even };
/// About that many step counts from 1 to `most`, both among them, growing.
std::vector<std::int64_t> step_counts(std::int64_t most, std::size_t points, Spacing spacing = Spacing::logarithmic);

struct StepPoint {
  std::int64_t steps;
  Answer answer;  ///< ε of after_steps(plan, steps)
};

/// ε at δ after each of the counts. `progress`, if there is one, is told after each how many are done.
std::vector<StepPoint> epsilon_over_steps(const Plan& plan, Delta delta, const std::vector<std::int64_t>& counts, const Question& question = {},
                                          const std::function<void(std::size_t done)>& progress = {});

}  // namespace sotto
