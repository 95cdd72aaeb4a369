// An axis: a range that covers the data, round tick values, and the position of a value.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sotto::report_detail {

enum class Scale { linear, logarithmic };

/// Whether a value can be drawn on an axis. From 1e300 on the arithmetic of linear axes would
/// overflow.
inline bool drawable(double value, Scale scale) {
  return std::isfinite(value) && std::fabs(value) < 1e300 && (scale == Scale::linear || value > 0);
}

/// The range of the drawable values that were passed to include().
struct Extent {
  Scale scale = Scale::linear;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value);
  [[nodiscard]] bool empty() const { return !(low <= high); }
};

struct Tick {
  double place;  ///< position on the axis, from 0 at its start to 1 at its end
  std::string label;
};

/// An axis with labelled ticks, and minor ticks without labels. On a logarithmic axis `low` and
/// `high` are decimal logarithms.
struct Axis {
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks{};
  std::vector<double> minor_places{};

  /// Returns the position of a value: 0 at the start, 1 at the end, outside [0, 1] beyond them.
  [[nodiscard]] double place(double value) const;
};

/// Returns an axis that covers the extent and ends at round values, or at `end` if that is given.
Axis axis_for(const Extent& extent, std::optional<double> end);

}  // namespace sotto::report_detail
