// A plan's parameter: a number, or the hole that calibration fills.
#pragma once

namespace sotto {

/// Written `?` in a plan's text, `2*?` with a factor: what fills it is the factor times the number that is sought.
struct Hole {
  double factor = 1;  ///< in (0, inf); whole where the parameter is a count
};
inline constexpr Hole hole{};
constexpr Hole operator*(double factor, Hole h) { return {factor * h.factor}; }
constexpr Hole operator*(Hole h, double factor) { return {h.factor * factor}; }
constexpr Hole operator/(Hole h, double divisor) { return {h.factor / divisor}; }

class Parameter {
 public:
  constexpr Parameter() = default;                                   // 0, for a node that is being read
  constexpr Parameter(double value) : value_(value) {}               // NOLINT(google-explicit-constructor)
  constexpr Parameter(int value) : value_(value) {}                  // NOLINT(google-explicit-constructor)
  constexpr Parameter(Hole h) : value_(h.factor), is_hole_(true) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool is_hole() const { return is_hole_; }
  /// The number; meaningless for a hole.
  [[nodiscard]] constexpr double value() const { return value_; }
  /// A hole's factor; meaningless for a number.
  [[nodiscard]] constexpr double factor() const { return value_; }
  friend constexpr bool operator==(const Parameter&, const Parameter&) = default;

 private:
  double value_ = 0;
  bool is_hole_ = false;
};

}  // namespace sotto
