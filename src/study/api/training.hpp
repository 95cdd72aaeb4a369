// Models in a study: sections [[train]] share the budget, plan and charge with its queries.
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
  std::string model =
      "logistic";  ///< logistic, svm, softmax, linear, huber, network or convolutional
  std::vector<std::int64_t> hidden;  ///< network: sizes of the hidden layers
  std::string activation = "tanh";   ///< network: tanh or relu
  std::vector<std::int64_t> channels,
      kernel;  ///< convolutional: number and width of the filters of each convolution
  std::optional<std::int64_t>
      group_norm;  ///< convolutional: groups of channels of the norm after each convolution
  std::vector<std::string>
      layers;  ///< convolutional, instead: all layers but the last, as parse_layer reads them
  std::string target;  ///< a column
  std::vector<std::string>
      features;  ///< columns; empty: all with bounds or values except target and unit
  std::string where;
  double share = 1;             ///< weight of the training's share of the budget
  std::optional<double> units;  ///< approximate number of units; else the data file's public_rows
  std::int64_t rows = 1;        ///< maximum number of rows of a unit
  bool chose_rows = false;      ///< whether the study sets `rows`
  double test = 0;              ///< share of the units reserved for a private test
  std::string
      evaluate;  ///< name of public data to measure the model on during training; may be empty
  // Settings that are absent are derived from public numbers (learning/api/defaults.hpp).
  std::string
      method;  ///< "gradient", "moments" for linear, "output" or "objective" for convex losses
  bool individual = false;  ///< individual accounting: each unit pays for its own gradients
  std::optional<std::int64_t> steps;
  std::optional<double> batch;  ///< expected units per step; absent: all units
  std::optional<double> clip, step_size, l2;
  std::string clipping, optimiser;
  int line = 0;
};

/// The settings of one training: all of it public, and fixed before the charge.
struct TrainDesign {
  std::size_t ask;  ///< index in Study::trainings
  ExampleQuery query;
  std::size_t classes = 0;
  std::string model;  ///< description from which model_of() makes the model
  LossFunction loss;
  std::variant<Training, SufficientStatistics, OutputPerturbation, ObjectivePerturbation,
               IndividualTraining>
      how;
  Plan event;
  double test = 0;
  std::optional<Plan> test_event;  ///< event of the counts of right and wrong predictions
  bool never_clipped = false;      ///< no gradient can exceed the clipping norm
};

/// Quality of a model on public data at one step. It depends on private rows only through the
/// parameters.
struct PublicPoint {
  std::int64_t step;         ///< number of steps taken
  double loss;               ///< mean loss over the rows
  std::int64_t right = 0;    ///< classification: number of right predictions
  double squared_error = 0;  ///< regression: mean squared error, in units of the target
};
/// The course of a training on public data.
struct PublicEvaluation {
  std::string data, version;
  std::int64_t rows = 0;
  bool is_of_classes = false;
  std::vector<PublicPoint> points;  ///< in order of steps; the last is the released model
};

/// A trained model that may be published, with its inputs and its cost.
struct TrainedModel {
  std::string name;
  std::string description;  ///< model description: "linear(width=3, …)"
  std::string target;
  std::vector<Column> columns;  ///< stored columns that the model reads, including the target's
  std::vector<Feature> features;
  std::optional<Feature> target_feature;
  std::vector<double> parameters;
  std::vector<Bound> intervals = {};  ///< intervals of the parameters; empty if unknown
  std::string event;                  ///< the training's part of the study's plan
  std::string how;                    ///< training method, in words
  std::optional<double> accuracy = std::nullopt, accuracy_low = std::nullopt,
                        accuracy_high = std::nullopt;  ///< result of the private test
  std::optional<ImageSize> image = std::nullopt;       ///< size of the images that replace features
  std::optional<PublicEvaluation> evaluation =
      std::nullopt;  ///< quality on public data, if the study names some
  std::optional<UnitLimit> limit = std::nullopt;  ///< limit of a unit, if it may have several rows
};

}  // namespace sotto
