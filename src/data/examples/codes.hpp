// The code of a number, as one formula for single numbers and for columns of them.
#pragma once

#include "sotto/data/examples.hpp"

namespace sotto::data_detail {

/// code = first + step, step = (value - lower) · factor rounded to the nearest whole number and then clamped to [0, steps]. value, |value| < 1e150,
/// is within the scale's bounds if and only if its step is not clamped: the product's relative error is below 2^-51. No operation overflows.
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
    // beside 1.5·2^52 a double has no room for parts of one
    double step = ((value - lower) * factor + 0x1.8p52) - 0x1.8p52;
    step = step > 0 ? step : 0;  // not a number is 0 too
    step = step < steps ? step : steps;
    return static_cast<std::int16_t>(first + static_cast<int>(step));
  }
};

}  // namespace sotto::data_detail
