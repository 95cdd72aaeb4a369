// Checks that a model read from a file can be applied.
#pragma once

#include "study/api/training.hpp"

namespace sotto::study_detail {

/// Throws InvalidValue unless description, features, target and parameters fit together, and the
/// parameters are finite numbers with which every output is finite.
void require_sound(const TrainedModel& model);

}  // namespace sotto::study_detail
