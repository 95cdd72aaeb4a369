// The weights of a linear model in the units of the columns that it reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/bound.hpp"
#include "study/api/training.hpp"

namespace sotto {

/// How much the output changes when a number grows by one, or when a category has this level
/// instead of its reference level.
struct ModelWeight {
  std::string name;     ///< "age", "region=south"
  std::string against;  ///< the reference level of a category: "north"; empty for a number
  double value;
  std::optional<Bound> interval;  ///< for the noise, where it is known
  double scaled;                  ///< the same for the scaled features: the parameters by size
};

struct ModelWeights {
  std::string unit;                  ///< of the output: "hours", "log-odds of ill = true"
  std::vector<ModelWeight> weights;  ///< the largest scaled one first
  ModelWeight intercept;             ///< the output at the reference
  std::string reference;             ///< "age = 50, region = north"; numbers stand in the middle of their bounds
};

/// Of a linear model with one output; nothing for any other model. Levels of a category whose
/// weights are not identified, since they always add up to the intercept's feature, are compared
/// with the first level: the same predictions, with a weight less.
std::optional<ModelWeights> weights_in_units(const TrainedModel& model);

}  // namespace sotto
