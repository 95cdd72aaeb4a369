// Maps series to the picture. Lines are clipped, because renderers fail on very large coordinates.
#include "report/charts/curve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "report/api/text.hpp"

namespace sotto::report_detail {
namespace {

// Lines continue this far outside the plot area, so that their clipped ends and joins are not
// visible.
constexpr double margin = 20;

// Returns the part of a segment inside the box, by the algorithm of Liang and Barsky; nullopt if it
// lies outside.
std::optional<std::pair<Point, Point>> clipped(Point from, Point to, const Box& box) {
  double begin = 0;
  double end = 1;
  const auto clip = [&](double start, double change, double low, double high) {
    if (change == 0) return low <= start && start <= high;
    const double at_low = (low - start) / change;
    const double at_high = (high - start) / change;
    begin = std::max(begin, std::min(at_low, at_high));
    end = std::min(end, std::max(at_low, at_high));
    return begin <= end;
  };
  const Point change{to.x - from.x, to.y - from.y};
  if (!clip(from.x, change.x, box.left, box.right) || !clip(from.y, change.y, box.top, box.bottom))
    return std::nullopt;
  const auto along = [&](double t) {
    return t == 1 ? to : Point{from.x + t * change.x, from.y + t * change.y};
  };
  return std::pair{along(begin), along(end)};
}

bool same(Point a, Point b) { return a.x == b.x && a.y == b.y; }

void append(Pieces& pieces, Point from, Point to) {
  if (pieces.empty() || !same(pieces.back().back(), from)) pieces.push_back({from});
  if (!same(from, to)) pieces.back().push_back(to);
}

// Splits the series at points that cannot be drawn.
Pieces drawable_runs(const Series& series, const Frame& frame) {
  Pieces runs(1);
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (drawable(series.x[i], frame.x.scale) && drawable(series.y[i], frame.y.scale)) {
      runs.back().push_back(frame.at(series.x[i], series.y[i]));
    } else if (!runs.back().empty()) {
      runs.emplace_back();
    }
  }
  return runs;
}

}  // namespace

Point Frame::at(double x_value, double y_value) const {
  const auto bounded = [](double length) { return std::clamp(length, -1e9, 1e9); };
  return {bounded(box.left + (box.right - box.left) * x.place(x_value)),
          bounded(box.bottom - (box.bottom - box.top) * y.place(y_value))};
}

Pieces line_pieces(const Series& series, const Frame& frame) {
  const Box around{frame.box.left - margin, frame.box.top - margin, frame.box.right + margin,
                   frame.box.bottom + margin};
  Pieces pieces;
  for (const auto& run : drawable_runs(series, frame)) {
    Pieces of_run;
    if (run.size() == 1 && around.contains(run.front())) of_run.push_back(run);
    for (std::size_t i = 0; i + 1 < run.size(); ++i) {
      if (const auto part = clipped(run[i], run[i + 1], around))
        append(of_run, part->first, part->second);
    }
    pieces.insert(pieces.end(), of_run.begin(), of_run.end());
  }
  return pieces;
}

Pieces bar_pieces(const Series& series, const Frame& frame) {
  const auto inside = [&](double y) {
    return std::clamp(y, frame.box.top - margin, frame.box.bottom + margin);
  };
  const double baseline =
      frame.y.scale == Scale::logarithmic ? frame.box.bottom : inside(frame.at(frame.x.low, 0).y);
  Pieces pieces;
  bool open = false;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    const bool drawn = drawable(series.x[i], frame.x.scale) &&
                       drawable(series.x[i + 1], frame.x.scale) &&
                       drawable(series.y[i], frame.y.scale);
    if (drawn) {
      const Point left = frame.at(series.x[i], series.y[i]);
      const double right = frame.at(series.x[i + 1], series.y[i]).x;
      if (!open) pieces.push_back({{left.x, baseline}});
      pieces.back().push_back({left.x, inside(left.y)});
      pieces.back().push_back({right, inside(left.y)});
    }
    if (open && !drawn) pieces.back().push_back({pieces.back().back().x, baseline});
    open = drawn;
  }
  if (open) pieces.back().push_back({pieces.back().back().x, baseline});
  return pieces;
}

std::string path_of(const Pieces& pieces) {
  std::string path;
  for (const auto& piece : pieces) {
    std::string last;
    int written = 0;
    for (const Point& point : piece) {
      std::string text = coordinate(point.x) + ' ' + coordinate(point.y);
      if (text == last) continue;  // nothing to draw: both points round to the same coordinates
      path += (written == 0 ? 'M' : 'L') + text;
      ++written;
      last = std::move(text);
    }
    if (written == 1) path += "h0";  // a line of length 0 with round ends is a dot
  }
  return path;
}

std::vector<Point> samples_of(const Pieces& pieces) {
  constexpr double spacing = 4;
  std::vector<Point> samples;
  for (const auto& piece : pieces) {
    for (std::size_t i = 0; i + 1 < piece.size(); ++i) {
      const Point change{piece[i + 1].x - piece[i].x, piece[i + 1].y - piece[i].y};
      const double count = std::ceil(std::hypot(change.x, change.y) / spacing);
      for (double k = 0; k < count; ++k)
        samples.push_back({piece[i].x + change.x * k / count, piece[i].y + change.y * k / count});
    }
    samples.push_back(piece.back());
  }
  return samples;
}

}  // namespace sotto::report_detail
