// Questions about lazily revealed reals, decided with as many digits as it takes. Slow, and asked only where doubles leave doubt.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sotto::random_detail {

enum class Curve { gaussian, laplace };  // e^(-(y/τ)²/2) and e^(-y/τ), y >= 0

/// A position y >= 0 in columns: `head` whole units of 2^-fraction, and further bits below. A real y lies anywhere between that and
/// one unit of its last bit more; otherwise (a whole number of units) y is exactly that.
struct Position {
  std::uint64_t head;
  int fraction;
  bool real;
  std::vector<std::uint64_t> more = {};
};

/// Is (floor + V gap) / 2^power below scale · curve(y)? V in [0, 1) starts with these words. Nothing while in doubt.
struct Ordinate {
  std::vector<std::uint64_t> words;
  double floor;
  double gap;
  int power;
};
std::optional<bool> below(const Ordinate& ordinate, double scale, Curve curve, double tau, const Position& y);

/// What is done with the noise before it is rounded.
enum class Shape {
  linear,  // factor · n
  arsinh,  // bend · arsinh(factor · n / bend)
};

/// n = ± y 2^unit is the noise; what is rounded is value + shape(n), to a multiple of 2^grid.
struct Rounding {
  double value;
  int grid;
  Shape shape;
  double factor;
  double bend;
  int unit;
};
/// The multiple, as a whole number of grid steps; beyond ±2^53 that limit. Nothing while in doubt.
std::optional<double> rounded(const Rounding& rounding, bool negative, const Position& y);

/// floor(y / (-τ log(1-q))): of an exponential y/τ, how many coins of probability q fail before the first that does not.
std::optional<std::uint64_t> failures(double q, double tau, const Position& y);

/// rate · (high - low) / unit
struct Quotient {
  double rate, high, low, unit;
};
/// Is y/τ above it?
std::optional<bool> above(const Quotient& quotient, double tau, const Position& y);

inline constexpr double most_steps = 0x1p53;

}  // namespace sotto::random_detail
