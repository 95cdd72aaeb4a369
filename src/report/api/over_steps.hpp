// A plan's cost over its steps, as text and as a picture.
#pragma once

#include <string>
#include <vector>

#include "sotto/accounting/over_steps.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// sotto.epsilon-over-steps/1: a point a step count. There is at least one point.
std::string over_steps_text(const Plan& plan, Delta delta, const std::vector<StepPoint>& points, Format format);

/// ε over the number of steps; the lower bound is drawn where it can be told from the upper one.
Chart over_steps_chart(const Plan& plan, Delta delta, const std::vector<StepPoint>& points, Spacing spacing);

}  // namespace sotto
