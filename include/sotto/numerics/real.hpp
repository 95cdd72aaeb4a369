// Certified arithmetic: real numbers enclosed in balls with double-double centres.
#pragma once

#include <cstdint>
#include <limits>

#include "sotto/core/bound.hpp"

namespace sotto {

/// A ball: all real numbers x with |x - centre| <= radius, where the centre has 106 bits. It stands
/// for one number that is only known to lie in it.
///
/// Every operation returns a ball that holds the exact result for all x in the balls of the
/// operands, by error-free transforms and bounds on the double-double operations [Joldes2017]. A
/// result beyond the range of doubles becomes the whole line, so that upper() and lower() are
/// always bounds. Operations on whole numbers whose result fits a double are exact (radius 0).
class Real {
 public:
  constexpr Real() = default;
  /// The double itself, exactly; the whole line for an infinity or a NaN.
  constexpr Real(double x)
      : high_(x - x == 0 ? x : 0),
        radius_(x - x == 0 ? 0 : std::numeric_limits<double>::infinity()) {
  }  // NOLINT(google-explicit-constructor): a double is a real number
  constexpr Real(int x) : high_(x) {}  // NOLINT(google-explicit-constructor): so is an int
  /// The ball with the centre `high + low`.
  static Real ball(double high, double low, double radius);
  /// A ball that holds both, with a centre that is a double.
  static Real hull(const Real& a, const Real& b);
  /// The ball of what a user may mean by a double. A whole number below 2^53 is exact. Any other
  /// double becomes the ball of all reals that round to it, which holds both the decimal that the
  /// user typed and its binary value.
  static Real reading(double x);
  /// The whole line: nothing is known.
  static Real unknown();

  /// The tightest doubles known to be at most x, and at least x.
  [[nodiscard]] double lower() const;
  [[nodiscard]] double upper() const;
  [[nodiscard]] Bound bound() const { return {lower(), upper()}; }
  /// The bound on the given side.
  [[nodiscard]] double at(Side side) const { return side == Side::lower ? lower() : upper(); }
  /// The centre rounded to a double, for searches. It bounds nothing.
  [[nodiscard]] double estimate() const { return high_ + low_; }

  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double radius() const { return radius_; }
  /// The ball with the radius increased by `r` >= 0.
  [[nodiscard]] Real widened(double r) const;
  /// The centre alone, as an exact number.
  [[nodiscard]] Real centre() const { return ball(high_, low_, 0); }

  Real operator-() const { return ball(-high_, -low_, radius_); }
  friend Real operator+(const Real& a, const Real& b);
  friend Real operator-(const Real& a, const Real& b) { return a + (-b); }
  friend Real operator*(const Real& a, const Real& b);
  friend Real operator/(const Real& a, const Real& b);
  Real& operator+=(const Real& b) { return *this = *this + b; }
  Real& operator-=(const Real& b) { return *this = *this - b; }
  Real& operator*=(const Real& b) { return *this = *this * b; }
  Real& operator/=(const Real& b) { return *this = *this / b; }

 private:
  double high_ = 0;
  double low_ = 0;
  double radius_ = 0;
};

/// Each returns true only if the order holds for all numbers of both balls.
bool certainly_less(const Real& a, const Real& b);
bool certainly_at_most(const Real& a, const Real& b);

Real min(const Real& a, const Real& b);
Real max(const Real& a, const Real& b);
/// Returns x times 2^exponent.
Real scale(const Real& x, int exponent);

/// The doubles adjacent to x.
double next_up(double x);
double next_down(double x);

}  // namespace sotto
