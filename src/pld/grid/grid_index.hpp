// Indices of grid points, which saturate instead of overflowing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sotto/core/errors.hpp"

namespace sotto::pld_detail {

/// Returns a whole number of grid spacings as an index, clamped to ±2^52. No grid has so many
/// points, so a saturated index compares with a grid's own indices as the loss itself would. Throws
/// OutsideConditions for NaN.
inline std::int64_t grid_index(double spacings) {
  constexpr double limit = 0x1p52;
  if (std::isnan(spacings))
    throw OutsideConditions(
        "method pld gives no bound: a privacy loss is not a number (NaN); use another method");
  return static_cast<std::int64_t>(std::clamp(spacings, -limit, limit));
}

}  // namespace sotto::pld_detail
