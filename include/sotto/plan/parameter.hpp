// A plan's parameter: a number, or the hole that calibration fills.
#pragma once

namespace sotto {

/// Written `?` in a plan's text.
struct Hole {};
inline constexpr Hole hole{};

class Parameter {
 public:
  constexpr Parameter() = default;                        // 0, for a node that is being read
  constexpr Parameter(double value) : value_(value) {}    // NOLINT(google-explicit-constructor)
  constexpr Parameter(int value) : value_(value) {}       // NOLINT(google-explicit-constructor)
  constexpr Parameter(Hole /*hole*/) : is_hole_(true) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool is_hole() const { return is_hole_; }
  /// The number; meaningless for a hole.
  [[nodiscard]] constexpr double value() const { return value_; }
  friend constexpr bool operator==(const Parameter&, const Parameter&) = default;

 private:
  double value_ = 0;
  bool is_hole_ = false;
};

}  // namespace sotto
