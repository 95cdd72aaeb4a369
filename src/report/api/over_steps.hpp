// The cost of a plan as its steps go on, as text and as a chart.
#pragma once

#include <string>
#include <vector>

#include "report/api/answers.hpp"
#include "report/api/chart.hpp"
#include "sotto/accounting/over_steps.hpp"

namespace sotto {

/// Returns ε at each step count; sotto.epsilon-over-steps/1. `points` must not be empty.
std::string over_steps_text(const Plan& plan, Delta delta, const std::vector<StepPoint>& points,
                            Format format);

/// A chart of ε over the number of steps. The lower bound is drawn if it is visibly below the upper
/// one (by more than 0.5 %) at any point.
Chart over_steps_chart(const Plan& plan, Delta delta, const std::vector<StepPoint>& points,
                       Spacing spacing);

}  // namespace sotto
