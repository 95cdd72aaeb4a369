// The weights of a linear model in the units of the columns that it reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/bound.hpp"
#include "study/api/training.hpp"

namespace sotto {

/// The change of the output when a number grows by one, or when a category changes from its
/// reference level to this level.
struct ModelWeight {
  std::string name;     ///< "age", "region=south"
  std::string against;  ///< the reference level of a category: "north"; empty for a number
  double value;
  std::optional<Bound> interval;  ///< interval that accounts for noise, if known
  double scaled;                  ///< the weight of the scaled feature, comparable between features
};

struct ModelWeights {
  std::string unit;                  ///< unit of the output: "hours", "log-odds of ill = true"
  std::vector<ModelWeight> weights;  ///< by size of `scaled`, largest first
  ModelWeight intercept;             ///< the output at the reference
  std::string
      reference;  ///< "age = 50, region = north"; numbers stand in the middle of their bounds
};

/// Returns the weights of a linear model with one output; an empty optional for any other model.
/// The level indicators of a category may sum to the intercept's constant, so that their weights
/// are not identified. Then weights are relative to the first level: predictions are equal, with
/// one weight fewer.
std::optional<ModelWeights> weights_in_units(const TrainedModel& model);

}  // namespace sotto
