// A greedy search: each text in turn takes the position with the least cost among 24 candidates.
#include "report/charts/annotation.hpp"

#include <algorithm>
#include <limits>

#include "report/api/text.hpp"

namespace sotto::report_detail {
namespace {

constexpr double widest = 230;

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

// Returns the box translated into `outer`, with its size unchanged.
Box moved_into(Box box, const Box& outer) {
  const double right =
      std::max(outer.left - box.left, 0.0) - std::max(box.right - outer.right, 0.0);
  const double down = std::max(outer.top - box.top, 0.0) - std::max(box.bottom - outer.bottom, 0.0);
  return {box.left + right, box.top + down, box.right + right, box.bottom + down};
}

Box around(Point p, double radius) {
  return {p.x - radius, p.y - radius, p.x + radius, p.y + radius};
}

struct Choice {
  Box box{};
  bool leader = false;
  double cost = std::numeric_limits<double>::infinity();
};

// Tries eight directions at three distances. Covering the dot costs most, then other boxes, then
// the curves; a larger distance costs a little.
Choice best_place(Point dot, double width, double height, const Box& plot,
                  const std::vector<Box>& occupied, const std::vector<Point>& obstacles) {
  constexpr Point directions[] = {{1, -1}, {-1, -1}, {1, 1},  {-1, 1},
                                  {1, 0},  {-1, 0},  {0, -1}, {0, 1}};
  constexpr double distances[] = {7, 26, 52};
  const Box inner{plot.left + 4, plot.top + 4, plot.right - 4, plot.bottom - 4};
  Choice best;
  for (const double distance : distances) {
    for (const Point& way : directions) {
      const Point centre{dot.x + way.x * (distance + width / 2),
                         dot.y + way.y * (distance + height / 2)};
      const Box wished{centre.x - width / 2, centre.y - height / 2, centre.x + width / 2,
                       centre.y + height / 2};
      const Box box = moved_into(wished, inner);
      double cost = distance / 4 + (overlap(box, around(dot, 5)) > 0 ? 1000 : 0);
      for (const Box& other : occupied) cost += overlap(box, other);
      const Box clearance{box.left - 2, box.top - 2, box.right + 2, box.bottom + 2};
      for (const Point& point : obstacles) cost += clearance.contains(point) ? 6 : 0;
      if (cost < best.cost) best = {box, distance > distances[0], cost};
    }
  }
  return best;
}

}  // namespace

std::vector<Annotation> annotations_of(const std::vector<Mark>& marks, const Frame& frame,
                                       const std::vector<Point>& obstacles) {
  std::vector<Annotation> annotations;
  for (const Mark& mark : marks) {
    if (!drawable(mark.x, frame.x.scale) || !drawable(mark.y, frame.y.scale)) continue;
    const Point dot = frame.at(mark.x, mark.y);
    const Box plot{frame.box.left - 0.5, frame.box.top - 0.5, frame.box.right + 0.5,
                   frame.box.bottom + 0.5};
    if (plot.contains(dot))
      annotations.push_back({.dot = dot, .lines = wrapped(mark.text, annotation_size, widest)});
  }
  std::vector<Box> occupied;
  for (const Annotation& annotation : annotations) occupied.push_back(around(annotation.dot, 5));
  for (Annotation& annotation : annotations) {
    const double width = widest_of(annotation.lines, annotation_size);
    if (width == 0) continue;
    const double height = annotation_line_height * static_cast<double>(annotation.lines.size());
    const Choice choice = best_place(annotation.dot, width, height, frame.box, occupied, obstacles);
    annotation.text = choice.box;
    annotation.leader = choice.leader;
    occupied.push_back(choice.box);
  }
  return annotations;
}

}  // namespace sotto::report_detail
