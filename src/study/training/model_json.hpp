// Converts trained models to JSON and back.
#pragma once

#include "core/api/json.hpp"
#include "study/api/training.hpp"

namespace sotto::study_detail {

Json of_limit(const UnitLimit& limit);
/// Throws JsonError if it is malformed.
UnitLimit limit_in(const Json& json);

Json of_model(const TrainedModel& model);
/// Throws JsonError if it is malformed.
TrainedModel model_in(const Json& json);

}  // namespace sotto::study_detail
