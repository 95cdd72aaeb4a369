// A model on public rows, as it learns.
#pragma once

#include <memory>
#include <span>

#include "sotto/learning/model.hpp"
#include "study/api/study.hpp"

namespace sotto::study_detail {

/// Opens public data.
using PublicOpener = std::function<std::unique_ptr<Engine>(const Source&, const std::vector<Column>&)>;

/// The rows of the public data that a training names, encoded as its own are; nothing where it names none. EngineError, InvalidValue.
std::optional<Examples> public_examples(const Study& study, const TrainDesign& design, const PublicOpener& open, std::int64_t memory);

/// The mean loss of these parameters, and how many rows they get right. Nobody is protected from what it returns.
PublicPoint measured_on(const Model& model, const Examples& examples, const std::optional<Feature>& target, std::span<const double> parameters,
                        std::int64_t step, int threads);

}  // namespace sotto::study_detail
