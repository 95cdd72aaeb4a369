// Sums of e^(iy) - 1 - iy, which keep their accuracy for small y: M - 1 of small losses is such a
// sum (docs/theory/pld/moment-generating-functions.md, "No cancellation near M = 1").
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "numerics/api/complex.hpp"

namespace sotto::pld_detail {

/// e^(iy) - 1 - iy, that is cos y - 1 and sin y - y.
struct ReducedWave {
  double cosine;
  double sine;
};
/// Returns both parts, for |y| < 0.7 from their series to 16 units of their own size, and for
/// larger |y| to 16 units of 1 + |y|.
inline ReducedWave reduced_wave(double y) {
  const double square = y * y;
  if (square < 0.49) {
    double cosine = -1.0 / 1307674368000 / 16;  // 1/16!
    double sine = 1.0 / 1307674368000;          // 1/15!
    cosine = cosine * square + 1.0 / 87178291200;
    sine = -sine * square + 1.0 / 6227020800;
    cosine = -cosine * square + 1.0 / 479001600;
    sine = -sine * square + 1.0 / 39916800;
    cosine = -cosine * square + 1.0 / 3628800;
    sine = -sine * square + 1.0 / 362880;
    cosine = -cosine * square + 1.0 / 40320;
    sine = -sine * square + 1.0 / 5040;
    cosine = -cosine * square + 1.0 / 720;
    sine = -sine * square + 1.0 / 120;
    cosine = -cosine * square + 1.0 / 24;
    sine = -sine * square + 1.0 / 6;
    cosine = -cosine * square + 0.5;
    return {-cosine * square, -sine * square * y};
  }
  return {std::cos(y) - 1, std::sin(y) - y};
}

/// Returns Σ_j weight_j ((cos y_j - 1) + i (sin y_j - y_j)) with y_j = t u_j.
inline Complex reduced_wave_sum(const std::vector<double>& weight, const std::vector<double>& u,
                                double t) {
  Complex sum{0, 0};
  for (std::size_t j = 0; j < u.size(); ++j) {
    const ReducedWave one = reduced_wave(t * u[j]);
    sum.re += weight[j] * one.cosine;
    sum.im += weight[j] * one.sine;
  }
  return sum;
}

}  // namespace sotto::pld_detail
