// Certified arithmetic: a real number enclosed in a ball with a double-double centre.
#pragma once

#include <cstdint>
#include <limits>

#include "sotto/core/bound.hpp"

namespace sotto {

/// A real number x known to satisfy |x - centre| <= radius, where the centre has 106 bits.
///
/// Every operation returns a ball that holds the exact result for every x in the operands' balls
/// (error-free transforms and bounds on the double-double operations: [Joldes2017]). A result that
/// leaves the range of doubles becomes the whole line, so `upper()` and `lower()` are bounds always.
/// Results of whole numbers that fit a double stay exact (radius 0).
class Real {
 public:
  constexpr Real() = default;
  /// The double itself, exactly; of an infinity or a NaN nothing is known.
  constexpr Real(double x)
      : high_(x - x == 0 ? x : 0),
        radius_(x - x == 0 ? 0 : std::numeric_limits<double>::infinity()) {}  // NOLINT(google-explicit-constructor): a double is a real
  constexpr Real(int x) : high_(x) {}                                         // NOLINT(google-explicit-constructor): so is an int
  /// A ball from its parts; `high + low` is the centre.
  static Real ball(double high, double low, double radius);
  /// The smallest ball that holds both.
  static Real hull(const Real& a, const Real& b);
  /// What a user means by a double: a whole number below 2^53 is exact; any other stands for every real that
  /// rounds to it, so that the decimal and the binary reading are both inside.
  static Real reading(double x);
  /// The whole line: nothing is known.
  static Real unknown();

  /// The largest double that is <= x for certain, and the smallest that is >= x for certain.
  [[nodiscard]] double lower() const;
  [[nodiscard]] double upper() const;
  [[nodiscard]] Bound bound() const { return {lower(), upper()}; }
  /// The bound on the given side.
  [[nodiscard]] double at(Side side) const { return side == Side::lower ? lower() : upper(); }
  /// The centre, rounded: for searches, never for claims.
  [[nodiscard]] double estimate() const { return high_ + low_; }

  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double radius() const { return radius_; }
  /// The same centre with radius grown by `r` >= 0.
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

/// True only if the order holds for every member of both balls.
bool certainly_less(const Real& a, const Real& b);
bool certainly_at_most(const Real& a, const Real& b);

Real min(const Real& a, const Real& b);
Real max(const Real& a, const Real& b);
/// x times 2^exponent.
Real scale(const Real& x, int exponent);

/// The doubles next to x.
double next_up(double x);
double next_down(double x);

}  // namespace sotto
