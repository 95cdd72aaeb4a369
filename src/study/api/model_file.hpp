// A trained model in a file of its own, with what it cost, signed; and its predictions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/ledger/key.hpp"
#include "study/api/release.hpp"

namespace sotto {

/// "income.model.json"; what is not fit for a file's name becomes '-'.
std::string model_file_name(const std::string& name);

/// One object of JSON, documented in docs/reference/model.md: the model, its privacy statement, and the signature of both.
std::string model_file(const Release& release, const TrainedModel& model, const SigningKey& key);

struct ModelFile {
  TrainedModel model;
  std::string statement;  ///< what was guaranteed to whom, in words
  std::string signer;     ///< the public key whose signature it bears, which was checked
};
/// InvalidValue for what is no model, or was changed after it was signed.
ModelFile read_model_file(const std::string& text);

/// A row's prediction: a class by its value, with its probability where the loss gives one, or a number.
struct Prediction {
  std::vector<std::string> inputs;  ///< the columns that were read, as text; empty where there is none
  std::string value;                ///< empty where the row lacks what the model needs
  std::optional<double> probability = std::nullopt;
  std::optional<bool> right = std::nullopt;  ///< of a class, where the data have the target
  std::optional<double> off = std::nullopt;  ///< of a number, by how much
};
/// What is read of the data: the model's columns and, if the data have it, the target, and any others that are to be shown.
struct ToPredict {
  bool target = false;
  std::vector<Column> shown = {};
};
std::vector<Column> columns_to_predict(const ModelFile& file, const ToPredict& what);
/// For each row of the data, in no order.
std::vector<Prediction> predict(const ModelFile& file, Engine& engine, const ToPredict& what);

/// Whether the model tells classes apart.
bool is_of_classes(const ModelFile& file);

}  // namespace sotto
