// Marks' texts: put where they stay inside the plot and off the curves and each other.
#pragma once

#include <string>
#include <vector>

#include "report/charts/curve.hpp"

namespace sotto::report_detail {

/// A marked point and the lines of its text, already placed.
struct Annotation {
  Point dot{};
  std::vector<std::string> lines{};
  Box text{};
  bool leader = false;  ///< the text stands off, and a thin line leads to it
};

inline constexpr double annotation_size = 12;
inline constexpr double annotation_line_height = 15;

/// One annotation for each mark in the plot area; marks outside of it are left out. `obstacles` are points of the curves.
std::vector<Annotation> annotations_of(const std::vector<Mark>& marks, const Frame& frame, const std::vector<Point>& obstacles);

}  // namespace sotto::report_detail
