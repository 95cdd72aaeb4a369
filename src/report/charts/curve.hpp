// The data of a series in picture coordinates: clipped lines, outlines of histograms, SVG paths.
#pragma once

#include <string>
#include <vector>

#include "report/api/chart.hpp"
#include "report/charts/axis.hpp"

namespace sotto::report_detail {

struct Point {
  double x = 0;
  double y = 0;
};

/// A rectangle of the picture. The y coordinate grows downwards.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  [[nodiscard]] bool contains(Point p) const {
    return left <= p.x && p.x <= right && top <= p.y && p.y <= bottom;
  }
};

/// The plot area and its axes.
struct Frame {
  Box box{};
  Axis x{};
  Axis y{};

  /// Returns the picture coordinates of a pair of drawable values.
  [[nodiscard]] Point at(double x_value, double y_value) const;
};

/// The connected pieces of a line. A piece with one point is drawn as a dot.
using Pieces = std::vector<std::vector<Point>>;

/// Returns the line through the drawable points, clipped slightly outside the plot area.
Pieces line_pieces(const Series& series, const Frame& frame);

/// Returns the outline of a histogram. Each run of adjacent bars is one piece that begins and ends
/// on the baseline.
Pieces bar_pieces(const Series& series, const Frame& frame);

/// Returns the pieces as the `d` attribute of an SVG path.
std::string path_of(const Pieces& pieces);

/// Returns points along the pieces, at most four units apart.
std::vector<Point> samples_of(const Pieces& pieces);

}  // namespace sotto::report_detail
