// The exact sums behind sufficient statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/learning/sufficient_statistics.hpp"

namespace sotto::learning_detail {

/// Returns the upper triangle of Σ vvᵀ without noise, in units of 2^-28. It is secret and must
/// never be released.
std::vector<std::int64_t> exact_moments(const Examples& examples,
                                        const SufficientStatistics& statistics);

}  // namespace sotto::learning_detail
