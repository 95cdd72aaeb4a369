// Places the texts of annotated points inside the plot so that they cover neither curves nor each
// other.
#pragma once

#include <string>
#include <vector>

#include "report/charts/curve.hpp"

namespace sotto::report_detail {

/// An annotated point and the lines of its text with their final position.
struct Annotation {
  Point dot{};
  std::vector<std::string> lines{};
  Box text{};
  bool leader = false;  ///< the text is not next to the dot: a thin line connects them
};

inline constexpr double annotation_size = 12;
inline constexpr double annotation_line_height = 15;

/// Returns an annotation for each mark inside the plot area. `obstacles` are points along the
/// curves, which texts avoid where they can.
std::vector<Annotation> annotations_of(const std::vector<Mark>& marks, const Frame& frame,
                                       const std::vector<Point>& obstacles);

}  // namespace sotto::report_detail
