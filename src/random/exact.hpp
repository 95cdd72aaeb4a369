// Decisions about real numbers of which only the first random bits are drawn, by MPFR with directed
// rounding. Each returns nothing if further bits could change the result. The caller then appends a
// random word to the number and asks again: that is a refinement. These functions are slow;
// samplers call them only if doubles, with their margin of error, do not decide.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sotto::random_detail {

/// The curve f(y) for y >= 0: e^(-(y/τ)²/2), or e^(-y/τ).
enum class Curve { gaussian, laplace };

/// A position y >= 0, in columns. If `real` is set, y is a real number in the interval that starts
/// at the bits below and is one unit of the last of them wide. Otherwise y is exactly `head` units.
struct Position {
  std::uint64_t head;  // the leading bits, in units of 2^-fraction
  int fraction;
  bool real;
  std::vector<std::uint64_t> lower_words = {};  // the bits below `head`, by refinement
};

/// The ordinate (floor + V gap) / 2^power of a point, where V is a real number in [0, 1).
struct Ordinate {
  std::vector<std::uint64_t> words;  // the leading bits of V; refinement appends words
  double floor;
  double gap;
  int power;
};
/// Returns whether the ordinate is below scale · f(y).
std::optional<bool> below(const Ordinate& ordinate, double scale, Curve curve, double tau,
                          const Position& y);

/// The function that turns the standard noise n into the noise that is added.
enum class Shape {
  linear,  // factor · n
  arsinh,  // bend · arsinh(factor · n / bend)
};

/// A rounding: the sum value + shape(n) is rounded to the nearest multiple of 2^grid, where n = ± y
/// 2^unit is noise of scale 1.
struct Rounding {
  double value;
  int grid;
  Shape shape;
  double factor;  // the scale of the noise
  double bend;    // A, for Shape::arsinh
  int unit;       // log2 of a column's width, in scales
};
/// Returns the multiple as a number of grid steps, clamped to ±2^53.
std::optional<double> rounded(const Rounding& rounding, bool negative, const Position& y);

/// Returns floor(y / (-τ log(1-q))). If y/τ is a standard exponential, that is the number of
/// failures before the first success of coins with probability q.
std::optional<std::uint64_t> failures(double q, double tau, const Position& y);

/// The number rate · (high - low) / unit.
struct Quotient {
  double rate, high, low, unit;
};
/// Returns whether y/τ is above the quotient.
std::optional<bool> above(const Quotient& quotient, double tau, const Position& y);

/// The largest result of a rounding, in grid steps.
inline constexpr double most_steps = 0x1p53;

}  // namespace sotto::random_detail
