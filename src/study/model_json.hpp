// A trained model as JSON, and back.
#pragma once

#include "sotto/core/json.hpp"
#include "sotto/study/training.hpp"

namespace sotto::study_detail {

Json of_model(const TrainedModel& model);
/// JsonError for what is none.
TrainedModel model_in(const Json& json);

}  // namespace sotto::study_detail
