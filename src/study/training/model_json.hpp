// A trained model as JSON, and back.
#pragma once

#include "core/api/json.hpp"
#include "study/api/training.hpp"

namespace sotto::study_detail {

Json of_limit(const UnitLimit& limit);
/// JsonError for what is none.
UnitLimit limit_in(const Json& json);

Json of_model(const TrainedModel& model);
/// JsonError for what is none.
TrainedModel model_in(const Json& json);

}  // namespace sotto::study_detail
