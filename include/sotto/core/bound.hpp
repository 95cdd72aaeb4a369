// A number known from both sides.
#pragma once

#include <limits>

namespace sotto {

/// The exact value lies in [lower, upper]; either side may be infinite.
struct Bound {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool contains(double x) const { return lower <= x && x <= upper; }
  [[nodiscard]] double width() const { return upper - lower; }
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// Which side of the truth a computation must stay on.
enum class Side { lower, upper };

}  // namespace sotto
