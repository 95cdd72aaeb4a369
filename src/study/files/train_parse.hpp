// A section [[train]] of a study.
#pragma once

#include "study/files/section.hpp"
#include "study/api/training.hpp"

namespace sotto::study_detail {

/// The study's `number`-th; `rows`: the study's own limit on a unit's. StudyError.
TrainingRequest parse_train(const toml::node& node, std::size_t number, std::int64_t rows);

}  // namespace sotto::study_detail
