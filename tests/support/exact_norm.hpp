// An exact check of the clipping bound on the numbers that a model adds, by whole numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "sotto/learning/model.hpp"

namespace sotto {

/// Returns whether Σ (total 2^exponent)² <= norm², without rounding. The norm must be a multiple of
/// 2^-18 steps of the finest layer, and below 2^53 of these.
inline bool is_within_norm(const Model& model, const std::vector<std::int64_t>& totals,
                           const Clipping& clipping) {
  __extension__ using Wide = unsigned __int128;
  const auto exponents = model.exponents(clipping);
  const auto layers = model.layers();
  const int least = *std::min_element(exponents.begin(), exponents.end());
  Wide square = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::size_t j = layers[l].start; j < layers[l].start + layers[l].size; ++j) {
      const Wide size = static_cast<Wide>(std::abs(totals[j]))
                        << static_cast<unsigned>(exponents[l] - least);
      square += size * size;
    }
  }
  const double norm = std::ldexp(clipping.norm, 18 - least);
  if (!(norm < 0x1p53) || norm != std::floor(norm))
    throw std::logic_error("choose a norm of fewer bits");
  if (square >> 90U != 0) return false;
  return (square << 36U) <= static_cast<Wide>(norm) * static_cast<Wide>(norm);
}

}  // namespace sotto
