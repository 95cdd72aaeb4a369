// Axes: the range that covers the data, its round tick values, and where a value lies.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sotto::report_detail {

enum class Scale { linear, logarithmic };

/// Whether a value has a place on an axis. Beyond 1e300 the arithmetic of linear axes would overflow.
inline bool drawable(double value, Scale scale) { return std::isfinite(value) && std::fabs(value) < 1e300 && (scale == Scale::linear || value > 0); }

/// The least and the greatest of the drawable values seen.
struct Extent {
  Scale scale = Scale::linear;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value);
  [[nodiscard]] bool empty() const { return !(low <= high); }
};

struct Tick {
  double place;  ///< in [0, 1] from the axis' start to its end
  std::string label;
};

/// `low` and `high` are decimal logarithms on a logarithmic axis.
struct Axis {
  Scale scale = Scale::linear;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks{};
  std::vector<double> minor_places{};

  /// 0 at the start, 1 at the end; outside of [0, 1] for values beyond.
  [[nodiscard]] double place(double value) const;
};

/// An axis that covers the extent and ends at round values. With `end`, it ends there instead.
Axis axis_for(const Extent& extent, std::optional<double> end);

}  // namespace sotto::report_detail
