// Exact sums and exact noise.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "sotto/core/errors.hpp"
#include "sotto/random/noise.hpp"

namespace sotto::learning_detail {

/// total · 2^exponent + noise, rounded to the noise's grid as if in exact arithmetic: what lies on the grid is added after the noise.
inline double noisy_total(std::int64_t total, int exponent, const RoundedNoise& noise) {
  const int finer = noise.grid() - exponent;
  if (finer <= 0) return std::ldexp(static_cast<double>(total), exponent) + noise.add(0);
  if (finer > 53) throw InvalidValue("the noise is too large for the sum's grid");
  const std::int64_t below = total & ((std::int64_t{1} << finer) - 1);
  return std::ldexp(static_cast<double>(total - below), exponent) + noise.add(std::ldexp(static_cast<double>(below), exponent));
}

/// The same of many totals, into as many numbers: the noise is drawn in batches, which is faster.
inline void noisy_totals(std::span<const std::int64_t> totals, int exponent, const RoundedNoise& noise, std::span<double> noisy) {
  const int finer = noise.grid() - exponent;
  if (finer > 53) throw InvalidValue("the noise is too large for the sum's grid");
  const std::int64_t mask = finer <= 0 ? 0 : (std::int64_t{1} << finer) - 1;
  const double step = std::ldexp(1.0, exponent);
  for (std::size_t j = 0; j < totals.size(); ++j) noisy[j] = static_cast<double>(totals[j] & mask) * step;
  noise.add(noisy);
  for (std::size_t j = 0; j < totals.size(); ++j) noisy[j] += static_cast<double>(totals[j] - (totals[j] & mask)) * step;
}

}  // namespace sotto::learning_detail
