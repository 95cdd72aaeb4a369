// Draws a chart as SVG: title and labels, the plot area with its axes, curves, annotated points,
// and the legend below.
#include "report/api/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "report/api/text.hpp"
#include "report/charts/annotation.hpp"
#include "report/charts/curve.hpp"
#include "report/charts/picture.hpp"

namespace sotto {
namespace report_detail {
namespace {

constexpr double width = 760;
constexpr double plot_height = 300;
constexpr double edge = 20;  // between the picture's edge and its content
constexpr double title_size = 16;
constexpr double label_size = 12.5;
constexpr double tick_size = 12;
constexpr double legend_row = 22;
constexpr double swatch = 26;

constexpr std::string_view font_family =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

constexpr const char* ink = "#222";
constexpr const char* soft_ink = "#555";
constexpr const char* grid = "#dedede";
constexpr const char* faint_grid = "#f3f3f3";

// The colours of Okabe and Ito, which colour-blind readers can distinguish, without their yellow,
// which is too pale on white.
constexpr std::array palette{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                             "#e69f00", "#56b4e9", "#000"};

const char* colour(std::size_t series) { return palette[series % palette.size()]; }

Attributes joined(Attributes first, const Attributes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Markup text(Point at, double size, const char* anchor, const char* fill, const std::string& content,
            const Attributes& more = {}) {
  const bool is_default = std::string_view(anchor) == "start";
  const Attributes own{{"x", coordinate(at.x)},
                       {"y", coordinate(at.y)},
                       {"font-size", coordinate(size)},
                       {"text-anchor", is_default ? std::nullopt : std::optional<Markup>(anchor)},
                       {"fill", fill}};
  return tag("text", joined(own, more), content) + "\n";
}

Markup line(Point from, Point to, const char* stroke) {
  return empty_tag("line", {{"x1", coordinate(from.x)},
                            {"y1", coordinate(from.y)},
                            {"x2", coordinate(to.x)},
                            {"y2", coordinate(to.y)},
                            {"stroke", stroke}}) +
         "\n";
}

Markup group(const char* css_class, const Markup& content) {
  return tag("g", {{"class", css_class}}, "\n" + content) + "\n";
}

// Returns the nearest centre of a pixel below: a line of width 1 there covers whole pixels and
// looks sharp.
double crisp(double length) { return std::floor(length) + 0.5; }

Extent x_extent(const Chart& chart) {
  Extent extent{.scale = chart.log_x ? Scale::logarithmic : Scale::linear};
  for (const Series& series : chart.series) {
    for (const double x : series.x) extent.include(x);
  }
  for (const Mark& mark : chart.marks) extent.include(mark.x);
  return extent;
}

// The y axis includes zero under bars, and where the data come close enough to zero.
Extent y_extent(const Chart& chart) {
  Extent extent{.scale = chart.log_y ? Scale::logarithmic : Scale::linear};
  bool bars = false;
  for (const Series& series : chart.series) {
    for (const double y : series.y) extent.include(y);
    bars = bars || series.style == Series::Style::bars;
  }
  for (const Mark& mark : chart.marks) extent.include(mark.y);
  if (!chart.log_y && !extent.empty() &&
      (bars || (extent.low > 0 && extent.low < 0.4 * extent.high)))
    extent.include(0);
  return extent;
}

double widest_label(const Axis& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks) widest = std::max(widest, text_width(tick.label, tick_size));
  return widest;
}

Frame frame_for(const Chart& chart, double top) {
  Frame frame{.x = axis_for(x_extent(chart), std::nullopt),
              .y = axis_for(y_extent(chart), chart.y_max)};
  const double last_label =
      frame.x.ticks.empty() ? 0 : text_width(frame.x.ticks.back().label, tick_size);
  const double left = edge + std::max(widest_label(frame.y), 24.0) + 8;
  frame.box = {std::ceil(left), top, std::floor(width - std::max(edge + 4, last_label / 2 + 8)),
               top + plot_height};
  return frame;
}

Markup y_axis(const Frame& frame) {
  Markup result;
  const auto rule = [&](double place, const char* stroke) {
    const double y = crisp(frame.box.bottom - plot_height * place);
    result += line({frame.box.left, y}, {frame.box.right, y}, stroke);
  };
  for (const double place : frame.y.minor_places) rule(place, faint_grid);
  for (const Tick& tick : frame.y.ticks) {
    rule(tick.place, grid);
    const double y = frame.box.bottom - plot_height * tick.place;
    result += text({frame.box.left - 8, y + 4}, tick_size, "end", soft_ink, tick.label);
  }
  return group("y-ticks", result);
}

Markup x_axis(const Frame& frame) {
  const double length = frame.box.right - frame.box.left;
  const double y = crisp(frame.box.bottom);
  Markup result = line({frame.box.left, y}, {frame.box.right, y}, soft_ink);
  const auto stroke = [&](double place, double size) {
    const double x = crisp(frame.box.left + length * place);
    result += line({x, y}, {x, y + size}, soft_ink);
  };
  for (const double place : frame.x.minor_places) stroke(place, 3);
  for (const Tick& tick : frame.x.ticks) {
    stroke(tick.place, 6);
    result += text({frame.box.left + length * tick.place, frame.box.bottom + 20}, tick_size,
                   "middle", soft_ink, tick.label);
  }
  return group("x-ticks", result);
}

// More series than colours: the colours repeat, with a different dash pattern.
Attributes stroke_of(const Series& series, std::size_t index) {
  const bool repeated = index >= palette.size();
  if (series.style == Series::Style::bars)
    return {{"stroke", colour(index)}, {"stroke-width", "1.5"}};
  Attributes stroke{{"stroke", colour(index)}, {"stroke-width", "2.2"}};
  if (series.style == Series::Style::dashed) {
    stroke.push_back({"stroke-dasharray", repeated ? "9 4 2 4" : "7 5"});
  } else if (repeated) {
    stroke.push_back({"stroke-dasharray", "1.5 4"});
  }
  return stroke;
}

Attributes bar_fill(std::size_t index) {
  return {{"fill", colour(index)}, {"fill-opacity", "0.3"}};
}

Pieces pieces_of(const Series& series, const Frame& frame) {
  return series.style == Series::Style::bars ? bar_pieces(series, frame)
                                             : line_pieces(series, frame);
}

// Draws all series. Appends points along the curves to `obstacles`, so that annotations can avoid
// them.
Markup curves(const Chart& chart, const Frame& frame, std::vector<Point>& obstacles) {
  Markup paths;
  for (const auto style : {Series::Style::bars, Series::Style::line, Series::Style::dashed}) {
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const Series& series = chart.series[i];
      if (series.style != style) continue;
      const Pieces pieces = pieces_of(series, frame);
      const auto samples = samples_of(pieces);
      obstacles.insert(obstacles.end(), samples.begin(), samples.end());
      const Attributes fill = style == Series::Style::bars ? bar_fill(i) : Attributes{};
      paths +=
          empty_tag("path", joined(joined({{"d", path_of(pieces)}}, fill), stroke_of(series, i))) +
          "\n";
    }
  }
  return tag("g",
             {{"fill", "none"},
              {"stroke-linejoin", "round"},
              {"stroke-linecap", "round"},
              {"clip-path", "url(#" + chart.id + ".clip)"}},
             "\n" + paths) +
         "\n";
}

// The lines of an annotation's text.
Markup annotation_text(const Annotation& annotation) {
  // The estimated width of the text may be wrong, so the text is anchored at the side that faces
  // the dot.
  const Box& box = annotation.text;
  const double centre = (box.left + box.right) / 2;
  const bool over = box.left < annotation.dot.x && annotation.dot.x < box.right;
  const char* const anchor = over ? "middle" : centre > annotation.dot.x ? "start" : "end";
  const double x = over ? centre : centre > annotation.dot.x ? box.left : box.right;

  // A white outline keeps the text readable on top of a curve.
  const Attributes outline{{"stroke", "#fff"},
                           {"stroke-width", "4"},
                           {"stroke-linejoin", "round"},
                           {"paint-order", "stroke"}};
  Markup result;
  double y = box.top + 0.78 * annotation_line_height;
  for (const std::string& content : annotation.lines) {
    result += text({x, y}, annotation_size, anchor, ink, content, outline);
    y += annotation_line_height;
  }
  return result;
}

Markup marks(const std::vector<Annotation>& annotations) {
  if (annotations.empty()) return {};
  Markup result;
  for (const Annotation& annotation : annotations) {
    const Box& box = annotation.text;
    const Point dot = annotation.dot;
    if (annotation.leader) {
      result += line(
          dot, {std::clamp(dot.x, box.left, box.right), std::clamp(dot.y, box.top, box.bottom)},
          soft_ink);
    }
    result += empty_tag("circle", {{"cx", coordinate(dot.x)},
                                   {"cy", coordinate(dot.y)},
                                   {"r", "4.5"},
                                   {"fill", ink},
                                   {"stroke", "#fff"},
                                   {"stroke-width", "1.5"}}) +
              "\n" + annotation_text(annotation);
  }
  return group("marks", result);
}

struct Legend {
  Markup drawing;
  double height = 0;
};

Markup swatch_at(double x, double y, const Series& series, std::size_t index) {
  const Attributes stroke = stroke_of(series, index);
  if (series.style != Series::Style::bars) {
    return empty_tag("path", joined({{"d", path_of({{{x, y}, {x + swatch, y}}})}, {"fill", "none"}},
                                    stroke)) +
           "\n";
  }
  const Attributes place{{"x", coordinate(x)},
                         {"y", coordinate(y - 6)},
                         {"width", coordinate(swatch)},
                         {"height", "12"}};
  return empty_tag("rect", joined(joined(place, bar_fill(index)), stroke)) + "\n";
}

// Places the legend's entries from left to right below the plot and starts a new row where the
// width is used up.
Legend legend(const Chart& chart, double left, double top) {
  Legend result;
  double x = left;
  double y = top + legend_row / 2;
  double lowest = y;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    if (series.name.empty()) continue;
    const auto lines = wrapped(series.name, label_size, width - edge - left - swatch - 8);
    const double entry = swatch + 8 + widest_of(lines, label_size);
    if (x > left && x + entry > width - edge) {
      x = left;
      y = lowest + legend_row;
    }
    result.drawing += swatch_at(x, y, series, i);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      lowest = std::max(lowest, y + 16 * static_cast<double>(k));
      result.drawing += text({x + swatch + 8, y + 16 * static_cast<double>(k) + 4.5}, label_size,
                             "start", ink, lines[k]);
    }
    x += entry + 18;
  }
  if (!result.drawing.empty())
    result = {group("legend", result.drawing), lowest + legend_row / 2 - top};
  return result;
}

// The start of the picture: title and description for screen readers, the plot area for clipping,
// and the background.
Markup opening(const Chart& chart, const Frame& frame, double height) {
  const Attributes plot{{"x", coordinate(frame.box.left)},
                        {"y", coordinate(frame.box.top - 2)},
                        {"width", coordinate(frame.box.right - frame.box.left)},
                        {"height", coordinate(plot_height + 4)}};
  const Attributes background{
      {"width", coordinate(width)}, {"height", coordinate(height)}, {"rx", "6"}, {"fill", "#fff"}};
  return tag("title", {{"id", chart.id + ".title"}}, chart.title) + "\n" +
         tag("desc", {{"id", chart.id + ".description"}}, chart.caption) + "\n" +
         tag("clipPath", {{"id", chart.id + ".clip"}}, empty_tag("rect", plot)) + "\n" +
         empty_tag("rect", background) + "\n";
}

Markup root(const Chart& chart, double height, const Markup& content) {
  const Attributes attributes{{"xmlns", "http://www.w3.org/2000/svg"},
                              {"width", coordinate(width)},
                              {"height", coordinate(height)},
                              {"viewBox", "0 0 " + coordinate(width) + ' ' + coordinate(height)},
                              {"role", "img"},
                              {"aria-labelledby", chart.id + ".title " + chart.id + ".description"},
                              {"font-family", trusted_markup(font_family)}};
  return tag("svg", attributes, "\n" + content) + "\n";
}

// The title, unless the page shows it, and the y axis' label, which lies flat above the axis so
// that it is easy to read. Moves `y` to the bottom of the last line.
Markup words_above(const Chart& chart, Heading heading, double& y) {
  Markup words;
  if (heading == Heading::inside && !chart.title.empty()) {
    for (const std::string& part : wrapped(chart.title, title_size, (width - 2 * edge) / 1.05)) {
      y += 21;
      words += text({edge, y - 5}, title_size, "start", ink, part, {{"font-weight", "600"}});
    }
    y += 2;
  }
  for (const std::string& part : wrapped(chart.y_label, label_size, width - 2 * edge)) {
    if (part.empty()) continue;
    y += 17;
    words += text({edge, y - 4}, label_size, "start", soft_ink, part);
  }
  return words;
}

}  // namespace

Markup picture(const Chart& chart, Heading heading) {
  require_consistent(chart);
  double y = edge - 4;
  Markup words = words_above(chart, heading, y);

  const Frame frame = frame_for(chart, y + 13);
  y = frame.box.bottom + 24;
  for (const std::string& part :
       wrapped(chart.x_label, label_size, frame.box.right - frame.box.left)) {
    if (part.empty()) continue;
    y += 18;
    words +=
        text({(frame.box.left + frame.box.right) / 2, y - 3}, label_size, "middle", soft_ink, part);
  }
  const Legend entries = legend(chart, frame.box.left, y + 6);
  y += entries.height > 0 ? 6 + entries.height : 0;
  const double height = std::ceil(y + 12);

  std::vector<Point> obstacles;
  const Markup paths = curves(chart, frame, obstacles);
  const Markup points = marks(annotations_of(chart.marks, frame, obstacles));
  return root(chart, height,
              opening(chart, frame, height) + words + y_axis(frame) + x_axis(frame) + paths +
                  points + entries.drawing);
}

}  // namespace report_detail

std::string svg(const Chart& chart) {
  return report_detail::picture(chart, report_detail::Heading::inside).str();
}

}  // namespace sotto
