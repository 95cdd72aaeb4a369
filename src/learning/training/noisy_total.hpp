// Exact sums and exact noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "sotto/core/errors.hpp"
#include "sotto/random/noise.hpp"

namespace sotto::learning_detail {

/// Noise for sums whose coordinates are whole numbers of 2^exponent: its grid is at least 2^10 times the coarsest of theirs, so that what lies on the
/// noise's grid of a 64-bit total is a double.
inline RoundedNoise noise_on_sums(double scale, std::span<const int> exponents) {
  int grid = RoundedNoise::grid_for(scale);
  for (const int exponent : exponents) grid = std::max(grid, exponent + 10);
  return {NoiseKind::gaussian, scale, grid};
}

/// Both parts of a total, below the noise's grid and on it, are doubles.
inline void require_room(int finer) {
  if (finer < 10 || finer > 53) throw InvalidValue("the noise is too small or too large for the sum's grid");
}

/// total · 2^exponent + noise, rounded to the noise's grid as if in exact arithmetic: what lies on the grid is added after the noise, which
/// noise_on_sums made.
inline double noisy_total(std::int64_t total, int exponent, const RoundedNoise& noise) {
  const int finer = noise.grid() - exponent;
  require_room(finer);
  const std::int64_t below = total & ((std::int64_t{1} << finer) - 1);
  return std::ldexp(static_cast<double>(total - below), exponent) + noise.add(std::ldexp(static_cast<double>(below), exponent));
}

/// The same of many totals, into as many numbers: the noise is drawn in batches, which is faster.
inline void noisy_totals(std::span<const std::int64_t> totals, int exponent, const RoundedNoise& noise, std::span<double> noisy) {
  const int finer = noise.grid() - exponent;
  require_room(finer);
  const std::int64_t mask = (std::int64_t{1} << finer) - 1;
  const double step = std::ldexp(1.0, exponent);
  for (std::size_t j = 0; j < totals.size(); ++j) noisy[j] = static_cast<double>(totals[j] & mask) * step;
  noise.add(noisy);
  for (std::size_t j = 0; j < totals.size(); ++j) noisy[j] += static_cast<double>(totals[j] - (totals[j] & mask)) * step;
}

}  // namespace sotto::learning_detail
