// Reads a section [[train]] of a study.
#pragma once

#include "study/api/training.hpp"
#include "study/files/section.hpp"

namespace sotto::study_detail {

/// Reads section [[train]] number `number`, from 1. `rows` is the study's default limit on the rows
/// of a unit. Throws StudyError.
TrainingRequest parse_train(const toml::node& node, std::size_t number, std::int64_t rows);

}  // namespace sotto::study_detail
