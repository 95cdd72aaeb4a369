// A number that is known through a lower and an upper bound.
#pragma once

#include <limits>

namespace sotto {

/// An interval [lower, upper] that holds the exact value. Either end may be infinite.
struct Bound {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool contains(double x) const { return lower <= x && x <= upper; }
  [[nodiscard]] double width() const { return upper - lower; }
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// The side of the exact value on which a rounded result must lie: `lower` results never exceed it,
/// `upper` results are never below it.
enum class Side { lower, upper };

}  // namespace sotto
