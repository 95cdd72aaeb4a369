// Resolves a section [[train]] to a model and to the columns that it reads.
#pragma once

#include <string>

#include "study/api/study.hpp"

namespace sotto::study_detail {

/// The model of a section [[train]] and the query for its examples.
struct RequestedModel {
  LossFunction loss;
  ExampleQuery query;
  std::size_t classes;      // 0 for regression
  std::string description;  // from which model_of() makes the model
  bool is_network;
};
/// Throws StudyError or InvalidValue.
RequestedModel requested_model(const Study& study, const TrainingRequest& ask);

/// Returns the stored columns that a query reads for its features, target and condition.
std::vector<Column> columns_read(const Study& study, const ExampleQuery& query);

/// Returns the public data on which a training is measured; null if it names none. Throws
/// StudyError if they lack a column that the model reads.
const DataFile* public_data_of(const Study& study, const TrainingRequest& ask,
                               const ExampleQuery& query);

}  // namespace sotto::study_detail
