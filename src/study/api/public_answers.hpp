// For data that are public: what noise and what bounding did to a study's answers.
#pragma once

#include <vector>

#include "sotto/data/engine.hpp"
#include "study/api/design.hpp"
#include "study/api/release.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// Two answers to every query, in its own order of groups, bins and quantiles.
struct PublicAnswers {
  std::vector<QueryAnswer> without_noise;  ///< under the same clamps, limits and bins
  std::vector<QueryAnswer> in_the_data;    ///< under none of them; NaN where the data have no such number

  [[nodiscard]] bool empty() const { return without_noise.empty(); }
};

/// Asks the engine for both. Nobody is protected from what it returns.
PublicAnswers public_answers(const Study& study, const Design& design, Engine& engine, const Release& release);

}  // namespace sotto
