// What a section [[train]] learns from what: the model, and what is read of the data.
#pragma once

#include <string>

#include "study/api/study.hpp"

namespace sotto::study_detail {

struct RequestedModel {
  LossFunction loss;
  ExampleQuery query;
  std::size_t classes;      // 0 of numbers
  std::string description;  // model_of makes it
  bool is_network;
};
/// StudyError, InvalidValue.
RequestedModel requested_model(const Study& study, const TrainingRequest& ask);

/// The stored columns that a query reads: of its features, its target and its condition.
std::vector<Column> columns_read(const Study& study, const ExampleQuery& query);

/// The public data on which a training is measured; nothing where it names none. StudyError if they lack a column that the model reads.
const DataFile* public_data_of(const Study& study, const TrainingRequest& ask, const ExampleQuery& query);

}  // namespace sotto::study_detail
