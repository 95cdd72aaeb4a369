// Sums of waves whose parts of first order cancel: what the transform of a small loss is made of.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "numerics/api/complex.hpp"

namespace sotto::pld_detail {

/// cos y - 1 and sin y - y, each to 16 units of its own size for |y| < 0.7 and of 1 + |y| beyond.
struct Wave {
  double cosine;
  double sine;
};
inline Wave wave(double y) {
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

/// Sum over j of weight_j ((cos y_j - 1) + i (sin y_j - y_j)), y_j = t u_j.
inline Complex oscillation(const std::vector<double>& weight, const std::vector<double>& u, double t) {
  Complex sum{0, 0};
  for (std::size_t j = 0; j < u.size(); ++j) {
    const Wave one = wave(t * u[j]);
    sum.re += weight[j] * one.cosine;
    sum.im += weight[j] * one.sine;
  }
  return sum;
}

}  // namespace sotto::pld_detail
