// The clamp of features: the code of a number, by one formula for single numbers and for columns.
#pragma once

#include "sotto/data/examples.hpp"

namespace sotto::data_detail {

/// Computes codes: first + step, where step is (value - lower) · factor, rounded to the nearest
/// integer and then clamped to [0, steps]. For |value| < 1e150, the step is clamped if and only if
/// the value is outside the bounds: the relative error of the product is below 2^-51. No operation
/// overflows.
struct Coder {
  double lower;
  double factor;
  double steps;
  int first;

  explicit Coder(const Scaled& scale)
      : lower(scale.lower),
        factor((scale.from_zero ? feature_one : 2 * feature_one) / (scale.upper - scale.lower)),
        steps(scale.from_zero ? feature_one : 2 * feature_one),
        first(scale.from_zero ? 0 : -feature_one) {}

  [[nodiscard]] std::int16_t code(double value) const {
    // a double near 1.5 · 2^52 has no bits for fractions: adding and subtracting it rounds
    double step = ((value - lower) * factor + 0x1.8p52) - 0x1.8p52;
    step = step > 0 ? step : 0;  // NaN becomes 0, too
    step = step < steps ? step : steps;
    return static_cast<std::int16_t>(first + static_cast<int>(step));
  }
};

}  // namespace sotto::data_detail
