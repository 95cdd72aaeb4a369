// What losses and distributions share: a rounded double with its relative error, and bounds in log space.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "pld/api/privacy_loss.hpp"

namespace sotto::pld_detail {

inline constexpr double unit = 0x1p-53;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double pi = 3.141592653589793;
inline constexpr double root_two_pi = 2.5066282746310002;

/// OutsideConditions: a loss or a mass, `what`, is not finite or not known to enough digits, so that no bound follows from its double.
[[noreturn]] void throw_unrepresentable(const char* what);

/// A real number as a double and the relative distance that it may have from it. Every parameter of a loss becomes one, and is checked here: a ball
/// without bounds has the centre 0, and one that reaches from 0 to a denormal number no relative error, so that either would cost nothing.
/// OutsideConditions unless both are finite and the error is small enough for bounds of first order.
struct RoundedDouble {
  static constexpr double largest_relative = 0x1p-10;

  double value;
  double relative;

  explicit RoundedDouble(const Real& x)
      : value(x.estimate()), relative(value == 0 ? 0 : (std::max(x.upper() - value, value - x.lower()) / std::abs(value)) + 2 * unit) {
    const bool known = value == 0 ? x.lower() == 0 && x.upper() == 0 : relative <= largest_relative;
    if (!(known && std::isfinite(value))) throw_unrepresentable("a loss or its mass");
  }
};

/// OutsideConditions unless a sum of masses is finite and within `error` of 1, or at most that above it where the rest is at a loss of 0.
enum class MassSum { whole, part };
inline void require_masses(double sum, double error, MassSum which) {
  if (sum <= 1 + error && (which == MassSum::part ? sum >= 0 : sum >= 1 - error)) return;
  throw_unrepresentable("a distribution of losses whose masses do not sum to 1");
}

inline Direction opposite(Direction direction) { return direction == Direction::remove ? Direction::add : Direction::remove; }

/// |z|, also where its square is no double.
inline double magnitude(Complex z) { return std::hypot(z.re, z.im); }

/// log of M from M - 1, when M - 1 is off by at most `error`.
inline LogMgfValue log_of_excess(Complex excess, double error) {
  const double size = abs(Complex{1 + excess.re, excess.im});
  if (!(error < 0.125 * size)) return {{std::log(size + error) + 4 * unit, 0}, infinity};
  const Complex log = log1p(excess);
  return {log, 1.2 * error / size + 16 * unit * (abs(log) + abs(excess) / size)};
}

/// log of M from e^-scale M, off by at most `error`.
inline LogMgfValue log_of_scaled(Complex value, double scale, double error) {
  const double size = abs(value);
  if (!(error < 0.125 * size)) return {{scale + std::log(size + error) + 4 * unit * (1 + std::abs(scale)), 0}, infinity};
  return {{scale + std::log(size), std::atan2(value.im, value.re)}, 1.2 * error / size + 16 * unit * (1 + std::abs(scale))};
}

/// An upper bound on log M(c) itself: |M(c + it)| is never above it.
inline double upper_value(const LogMgfValue& real) {
  const double bound = std::isinf(real.error) ? real.log.re : real.log.re + real.error;
  return std::isnan(bound) ? infinity : bound;
}

/// log(e^a + e^b); no number if either is none.
inline double log_sum(double a, double b) {
  if (std::isnan(b)) return b;
  const double high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

/// log(e^x - 1), as of (1 + b/a)^k - 1 from k log(1 + b/a).
inline double log_expm1(double x) { return x > 40 ? x : std::log(std::expm1(x)); }

/// An upper bound on log P(Z > z), Z standard normal.
inline double log_tail(double z) {
  if (z <= 0) return 0;
  return -z * z / 2 * (1 - 4 * unit) - std::log(std::max(2.0, 2.5066 * z));  // min(1/2, φ(z)/z)
}

}  // namespace sotto::pld_detail
