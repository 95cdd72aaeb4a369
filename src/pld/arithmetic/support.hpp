// Rounding: parameters that are known as doubles with a relative error, log M from M with its
// error, and sums of logarithms. docs/theory/pld/rounding.md lists the assumptions of all error
// bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

inline constexpr double unit = 0x1p-53;  // one rounding has at most this relative error
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double pi = 3.141592653589793;
inline constexpr double root_two_pi = 2.5066282746310002;

/// Throws OutsideConditions for a privacy loss that doubles cannot represent. `problem` is a clause
/// that names the parameter, loss or mass and its fault.
[[noreturn]] void throw_unrepresentable(const char* problem);

/// A rounded double is a real number, known as a double and a bound on its relative distance from
/// it. Every parameter of a loss becomes one. The constructor throws OutsideConditions unless the
/// double is finite and the relative error small enough for bounds of first order. (A ball without
/// bounds has the centre 0, and a ball around 0 has no relative error: either would wrongly cost
/// nothing.)
struct RoundedDouble {
  static constexpr double largest_relative = 0x1p-10;

  double value;
  double relative;

  explicit RoundedDouble(const Real& x)
      : value(x.estimate()),
        relative(value == 0 ? 0
                            : (std::max(x.upper() - value, value - x.lower()) / std::abs(value)) +
                                  2 * unit) {
    const bool known = value == 0 ? x.lower() == 0 && x.upper() == 0 : relative <= largest_relative;
    if (!(known && std::isfinite(value)))
      throw_unrepresentable(
          "a parameter of a privacy loss is not finite, or its relative error exceeds 2^-10");
  }
};

/// Whether masses are the whole distribution, or a part of it whose remaining mass is at loss 0.
enum class MassSum { whole, part };
/// Throws OutsideConditions unless a sum of masses is finite, at most 1 + error, and at least
/// 1 - error (whole) or 0 (part).
inline void require_masses(double sum, double error, MassSum which) {
  if (sum <= 1 + error && (which == MassSum::part ? sum >= 0 : sum >= 1 - error)) return;
  throw_unrepresentable("the masses of a privacy loss distribution do not sum to 1");
}

inline Direction opposite(Direction direction) {
  return direction == Direction::remove ? Direction::add : Direction::remove;
}

/// Returns |z|, also where |z|² would overflow or underflow.
inline double magnitude(Complex z) { return std::hypot(z.re, z.im); }

/// Returns log M, given M - 1 with an absolute error of at most `error`.
inline LogMgfValue log_of_excess(Complex excess, double error) {
  const double size = abs(Complex{1 + excess.re, excess.im});
  if (!(error < 0.125 * size)) return {{std::log(size + error) + 4 * unit, 0}, infinity};
  const Complex log = log1p(excess);
  return {log, 1.2 * error / size + 16 * unit * (abs(log) + abs(excess) / size)};
}

/// Returns log M, given e^-scale M with an absolute error of at most `error`.
inline LogMgfValue log_of_scaled(Complex value, double scale, double error) {
  const double size = abs(value);
  if (!(error < 0.125 * size))
    return {{scale + std::log(size + error) + 4 * unit * (1 + std::abs(scale)), 0}, infinity};
  return {{scale + std::log(size), std::atan2(value.im, value.re)},
          1.2 * error / size + 16 * unit * (1 + std::abs(scale))};
}

/// Returns an upper bound on log M(c) from its value at the real point c. It bounds log |M(c + it)|
/// for every t, too.
inline double upper_log_mgf(const LogMgfValue& real) {
  const double bound = std::isinf(real.error) ? real.log.re : real.log.re + real.error;
  return std::isnan(bound) ? infinity : bound;
}

/// Returns log(e^a + e^b); NaN if either is NaN.
inline double log_sum(double a, double b) {
  if (std::isnan(b)) return b;
  const double high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

/// Returns log(e^x - 1) for x > 0: the log of (1 + b/a)^k - 1 if x = k log(1 + b/a).
inline double log_expm1(double x) { return x > 40 ? x : std::log(std::expm1(x)); }

/// Returns an upper bound on log P(Z > z) for Z standard normal, from min(1/2, φ(z)/z).
inline double log_normal_tail(double z) {
  if (z <= 0) return 0;
  return -z * z / 2 * (1 - 4 * unit) - std::log(std::max(2.0, 2.5066 * z));
}

}  // namespace sotto::pld_detail
