// A parameter of a plan: a number, or a hole for a number that calibration finds.
#pragma once

namespace sotto {

/// A place for an unknown number, written `?` in the text of a plan, or `2*?` with a factor. All
/// holes of a plan stand for multiples of one number x: a hole is filled with its factor times x.
struct Hole {
  double factor = 1;  ///< in (0, inf), and whole if the parameter is a count
};
inline constexpr Hole hole{};
constexpr Hole operator*(double factor, Hole h) { return {factor * h.factor}; }
constexpr Hole operator*(Hole h, double factor) { return {h.factor * factor}; }
constexpr Hole operator/(Hole h, double divisor) { return {h.factor / divisor}; }

/// A number or a hole.
class Parameter {
 public:
  constexpr Parameter() = default;                      // 0, until the parser reads it
  constexpr Parameter(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  constexpr Parameter(int value) : value_(value) {}     // NOLINT(google-explicit-constructor)
  constexpr Parameter(Hole h)
      : value_(h.factor), is_hole_(true) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool is_hole() const { return is_hole_; }
  /// The number. Not to be called for a hole.
  [[nodiscard]] constexpr double value() const { return value_; }
  /// The factor of a hole. Not to be called for a number.
  [[nodiscard]] constexpr double factor() const { return value_; }
  friend constexpr bool operator==(const Parameter&, const Parameter&) = default;

 private:
  double value_ = 0;
  bool is_hole_ = false;
};

}  // namespace sotto
