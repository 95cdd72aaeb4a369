// Holes: where a plan leaves a number open, and the plan with that number put in.
#pragma once

#include <string>
#include <vector>

#include "sotto/plan/plan.hpp"

namespace sotto {

/// What more of a parameter does to the cost.
enum class Effect { cheaper, dearer, unclear };

/// A hole and what may fill it.
struct HolePlace {
  std::string node;       ///< "gaussian", "repeat", …
  std::string parameter;  ///< "sigma", "steps", …
  Effect effect;
  double least, most;  ///< the range of allowed values, ends possibly excluded
  bool whole;          ///< only whole numbers
};

/// All holes, in the order of the text.
std::vector<HolePlace> holes_of(const Plan& plan);

/// The plan with every hole filled by `value`. InvalidValue if the value is not allowed there.
Plan fill(const Plan& plan, double value);

}  // namespace sotto
