// Signed model files: a trained model with its privacy statement, and predictions from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/ledger/key.hpp"
#include "study/api/release.hpp"

namespace sotto {

/// Returns "income.model.json" for "income". Characters that are not safe in a file name become
/// '-'.
std::string model_file_name(const std::string& name);

/// Returns a JSON object (docs/reference/model.md) with the model, its privacy statement, and a
/// signature over both.
std::string model_file(const Release& release, const TrainedModel& model, const SigningKey& key);

/// The content of a model file whose signature was checked.
struct ModelFile {
  TrainedModel model;
  std::string statement;  ///< the privacy guarantee in words
  std::string signer;     ///< public key of the verified signature
};
/// Reads a model file. Throws InvalidValue if it is malformed, or if its signature does not match.
ModelFile read_model_file(const std::string& text);

/// The prediction for one row: a class, with its probability if the loss provides one, or a number.
struct Prediction {
  std::vector<std::string>
      inputs;         ///< values of the columns that were read, as text; empty for NULL
  std::string value;  ///< predicted class or number; empty if an input of the row is missing
  std::optional<double> probability = std::nullopt;
  std::optional<bool> right =
      std::nullopt;  ///< whether a predicted class is the target; absent without a target
  std::optional<double> off =
      std::nullopt;  ///< predicted number minus target; absent without a target
};
/// The columns to read in addition to the model's features.
struct ToPredict {
  bool target = false;               ///< read the target, to compare predictions with it
  std::vector<Column> display = {};  ///< further columns to return in Prediction::inputs
};
/// Returns all columns that predict() reads.
std::vector<Column> columns_to_predict(const ModelFile& file, const ToPredict& what);
/// Returns a prediction for each row of the data, in unspecified order.
std::vector<Prediction> predict(const ModelFile& file, Engine& engine, const ToPredict& what);

/// Whether the model is a classifier.
bool is_of_classes(const ModelFile& file);

}  // namespace sotto
