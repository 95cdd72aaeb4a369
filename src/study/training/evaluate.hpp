// Measures a model on public rows during its training.
#pragma once

#include <memory>
#include <span>

#include "sotto/learning/model.hpp"
#include "study/api/study.hpp"

namespace sotto::study_detail {

/// Opens public data.
using PublicOpener =
    std::function<std::unique_ptr<Engine>(const Source&, const std::vector<Column>&)>;

/// Reads the public data that a training names, encoded like its own examples. Empty if it names
/// none. Throws EngineError or InvalidValue.
std::optional<Examples> public_examples(const Study& study, const TrainDesign& design,
                                        const PublicOpener& open, std::int64_t memory);

/// Returns the mean loss and the right predictions of these parameters. Not private: for public
/// rows only.
PublicPoint measured_on(const Model& model, const Examples& examples,
                        const std::optional<Feature>& target, std::span<const double> parameters,
                        std::int64_t step, int threads);

}  // namespace sotto::study_detail
