// The exact sums behind sufficient statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "sotto/learning/sufficient_statistics.hpp"

namespace sotto::learning_detail {

/// The upper triangle of Σ vvᵀ, without noise, in whole numbers of 2^-28. Never shown.
std::vector<std::int64_t> exact_moments(const Examples& examples, const SufficientStatistics& statistics);

}  // namespace sotto::learning_detail
