// Exact answers for public data, to show separately what noise and what bounding change.
#pragma once

#include <vector>

#include "sotto/data/engine.hpp"
#include "study/api/design.hpp"
#include "study/api/release.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// Two exact answers to every query, in the order of groups, bins and quantiles of the query.
struct PublicAnswers {
  std::vector<QueryAnswer> without_noise;  ///< with the clamps, limits and bins of the study
  std::vector<QueryAnswer>
      in_the_data;  ///< without clamps, limits and bins; NaN if undefined for the data

  [[nodiscard]] bool empty() const { return without_noise.empty(); }
};

/// Computes both by the engine. The result is not private: call it for public data only.
PublicAnswers public_answers(const Study& study, const Design& design, Engine& engine,
                             const Release& release);

}  // namespace sotto
