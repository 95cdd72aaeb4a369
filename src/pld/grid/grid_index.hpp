// Indices of grid points, which saturate instead of overflowing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sotto/core/errors.hpp"

namespace sotto::pld_detail {

/// A whole number of grid spacings as an index. No grid has 2^52 points, so a saturated index compares with theirs as the loss itself does.
inline std::int64_t grid_index(double spacings) {
  constexpr double most = 0x1p52;
  if (std::isnan(spacings)) throw OutsideConditions("a loss is not a number: it has no place on a grid");
  return static_cast<std::int64_t>(std::clamp(spacings, -most, most));
}

}  // namespace sotto::pld_detail
