// Models that a study asks for: [[train]] beside [[query]], under the same budget, plan and charge.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "learning/api/individual.hpp"
#include "learning/api/perturbation.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/learning/train.hpp"
#include "study/api/data_file.hpp"
#include "study/api/limit.hpp"

namespace sotto {

/// A section [[train]].
struct TrainingRequest {
  std::string name;
  std::string model = "logistic";              ///< logistic, svm, softmax, linear, huber, network or convolutional
  std::vector<std::int64_t> hidden;            ///< of a network: the sizes of its hidden layers
  std::string activation = "tanh";             ///< of a network: tanh or relu
  std::vector<std::int64_t> channels, kernel;  ///< of a convolutional net: the filters of each convolution, and how wide they are
  std::optional<std::int64_t> group_norm;      ///< of a convolutional net: so many groups of channels are normed behind each convolution
  std::vector<std::string> layers;             ///< of a convolutional net, instead: all but the last, as parse_layer reads them
  std::string target;                          ///< a column
  std::vector<std::string> features;           ///< columns; empty: all that have bounds or values, but the target and the unit
  std::string where;
  double share = 1;             ///< of the budget
  std::optional<double> units;  ///< about how many there are; else the data file's public_rows
  std::int64_t rows = 1;        ///< at most so many rows a unit
  bool chose_rows = false;      ///< the study says how many
  double test = 0;              ///< this share of the units is kept for a private test
  std::string evaluate;         ///< the name of public data on which the model is measured as it learns; empty: none
  // What is not said is derived from public numbers (learning/defaults.hpp).
  std::string method;       ///< "gradient", "moments" for linear, "output" or "objective" for convex losses
  bool individual = false;  ///< each unit pays for its own gradients
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
  std::variant<Training, SufficientStatistics, OutputPerturbation, ObjectivePerturbation, IndividualTraining> how;
  Plan event;
  double test = 0;
  std::optional<Plan> test_event;  ///< of the numbers of right and wrong predictions
  bool never_clipped = false;
};

/// A model on public data: nothing here is about private rows but what the model itself says.
struct PublicPoint {
  std::int64_t step;         ///< after so many steps
  double loss;               ///< the mean over the rows
  std::int64_t right = 0;    ///< predictions, of classes
  double squared_error = 0;  ///< of numbers: the mean, in units of the target
};
struct PublicEvaluation {
  std::string data, version;
  std::int64_t rows = 0;
  bool is_of_classes = false;
  std::vector<PublicPoint> points;  ///< as the training went; the last one is the model that is released
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
  std::optional<ImageSize> image = std::nullopt;                                                             ///< what it reads instead of features
  std::optional<PublicEvaluation> evaluation = std::nullopt;  ///< on public data, if the study names some
  std::optional<UnitLimit> limit = std::nullopt;              ///< how much of a unit counts, where it may have several rows
};

}  // namespace sotto
