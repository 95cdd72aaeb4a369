// Holes: where a plan leaves a number open, and the plan with that number put in.
#pragma once

#include <optional>
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
  double least, most;  ///< the range of what may stand there, ends possibly excluded
  bool whole;          ///< only whole numbers
  double factor = 1;   ///< what stands there is this times the number that is sought
};

/// All holes, in the order of the text. They stand for one and the same number.
std::vector<HolePlace> holes_of(const Plan& plan);

/// The plan with every hole filled by its factor times `value`, as doubles multiply. InvalidValue if that is not allowed
/// there.
Plan fill(const Plan& plan, double value);

/// The plan with every noise scale (sigma and b) replaced by that multiple of a hole, so that fill(…, 1) is the plan
/// again. Empty if a leaf has no noise scale: a guarantee, randomized response, the exponential or the arsinh mechanism.
std::optional<Plan> with_noise_open(const Plan& plan);

}  // namespace sotto
