// The holes of a plan: finding, filling and making them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/plan/plan.hpp"

namespace sotto {

/// How the privacy cost changes if a parameter grows.
enum class Effect { cheaper, costlier, unclear };

/// A hole, and the numbers that may fill it.
struct HolePlace {
  std::string node;       ///< "gaussian", "repeat", …
  std::string parameter;  ///< "sigma", "steps", …
  Effect effect;
  double least, most;  ///< the range of the parameter; an end may itself be excluded
  bool whole;          ///< true if the parameter is a count
  double factor = 1;   ///< the parameter is this times the unknown number
};

/// Returns all holes in the order of the text.
std::vector<HolePlace> holes_of(const Plan& plan);

/// Returns the plan with every hole filled with its factor times `value`, rounded to a double.
/// Throws InvalidValue if a result is out of the range of its parameter.
Plan fill(const Plan& plan, double value);

/// Returns the plan with every noise scale (sigma and b) s replaced by the hole `s*?`, so that
/// fill(…, 1) gives the plan back. Returns nothing if a leaf has no noise scale: a guarantee,
/// randomized response, the exponential or the arsinh mechanism.
std::optional<Plan> with_noise_holes(const Plan& plan);

}  // namespace sotto
