// Whether a model that was read can be applied.
#pragma once

#include "study/api/training.hpp"

namespace sotto::study_detail {

/// InvalidValue unless the parts fit together: the description, the features, the target and the parameters, which
/// are numbers with which every output is finite.
void require_sound(const TrainedModel& model);

}  // namespace sotto::study_detail
