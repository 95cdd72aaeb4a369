// Trains a study's models.
#pragma once

#include <functional>

#include "checkpoint.hpp"
#include "evaluate.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/study/run.hpp"

namespace sotto::study_detail {

/// A training's examples, read before the first noise: those to learn from, and those of the private test.
struct Split {
  Examples train, test;
  std::optional<Examples> on_public = std::nullopt;  ///< public rows, on which the model is measured as it learns
};
Split split_of(const TrainDesign& design, Examples all, const Asking& asking);

/// Trains, from the iterate of a checkpoint if there is one, and tests. `keep` is called before anything of a step is shown.
TrainedModel trained(const Study& study, const TrainDesign& design, const Split& split, const std::optional<Iterate>& from, const Asking& asking,
                     const std::function<void(const Iterate&)>& keep, const std::function<bool(const std::string&, double)>& told);

}  // namespace sotto::study_detail
