// Models that a study asks for: [[train]] beside [[query]], under the same budget, plan and charge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/study/data_file.hpp"

namespace sotto {

/// A section [[train]].
struct TrainAsk {
  std::string name;
  std::string model = "logistic";     ///< logistic, svm, softmax, linear, huber or network
  std::vector<std::int64_t> hidden;   ///< of a network: the sizes of its hidden layers
  std::string activation = "tanh";    ///< of a network: tanh or relu
  std::string target;                 ///< a column
  std::vector<std::string> features;  ///< columns; empty: all that have bounds or values, but the target and the unit
  std::string where;
  double share = 1;             ///< of the budget
  std::optional<double> units;  ///< about how many there are; else the data file's public_rows
  std::int64_t rows = 1;        ///< at most so many rows a unit
  double test = 0;              ///< this share of the units is kept for a private test
  // What is not said is derived from public numbers (learning/defaults.hpp).
  std::string method;  ///< "gradient", or "moments" for linear
  std::optional<std::int64_t> steps;
  std::optional<double> batch;  ///< units a step, about; else all
  std::optional<double> clip, step_size, l2;
  std::string clipping, optimiser;
  int line = 0;
};

/// How one is trained: all of it public, and fixed before the charge.
struct TrainDesign {
  std::size_t ask;  ///< which
  ExampleQuery query;
  std::size_t classes = 0;
  std::string model;  ///< its description: model_of makes it
  LossFunction loss;
  std::variant<Training, SufficientStatistics> how;
  Plan event;
  double test = 0;
  std::optional<Plan> test_event;  ///< of the numbers of right and wrong predictions
  bool never_clipped = false;
};

/// A model that may be published: with what it is made of, and what it cost.
struct TrainedModel {
  std::string name;
  std::string description;  ///< of the model: "linear(width=3, …)"
  std::string target;
  std::vector<Column> columns;  ///< the stored ones that it reads, the target's too
  std::vector<Feature> features;
  std::optional<Feature> target_feature;
  std::vector<double> parameters;
  std::vector<Bound> intervals = {};  ///< of the parameters, where they are known
  std::string event;                  ///< its part of the study's plan
  std::string how;                    ///< in words
  std::optional<double> accuracy = std::nullopt, accuracy_low = std::nullopt, accuracy_high = std::nullopt;  ///< of the private test
};

}  // namespace sotto
