// Data in the plot area: points in the picture's coordinates, lines broken and clipped, histograms' outlines.
#pragma once

#include <string>
#include <vector>

#include "report/charts/axis.hpp"
#include "report/api/chart.hpp"

namespace sotto::report_detail {

struct Point {
  double x = 0;
  double y = 0;
};

/// A rectangle of the picture; y grows downwards.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  [[nodiscard]] bool contains(Point p) const { return left <= p.x && p.x <= right && top <= p.y && p.y <= bottom; }
};

/// The plot area and its axes.
struct Frame {
  Box box{};
  Axis x{};
  Axis y{};

  /// The picture's coordinates of drawable values.
  [[nodiscard]] Point at(double x_value, double y_value) const;
};

/// Connected pieces of a line. A piece of one point is a dot.
using Pieces = std::vector<std::vector<Point>>;

/// The line through the drawable points, without what lies far from the plot area.
Pieces line_pieces(const Series& series, const Frame& frame);

/// The histogram's outline, one piece for each run of touching bars, from the baseline over the bars and back to it.
Pieces bar_pieces(const Series& series, const Frame& frame);

/// The pieces as an SVG path.
std::string path_of(const Pieces& pieces);

/// Points all along the pieces, no more than a few units apart.
std::vector<Point> samples_of(const Pieces& pieces);

}  // namespace sotto::report_detail
