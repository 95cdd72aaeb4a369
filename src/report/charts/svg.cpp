#include "report/api/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "report/charts/annotation.hpp"
#include "report/charts/curve.hpp"
#include "report/charts/picture.hpp"
#include "report/api/text.hpp"

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

constexpr std::string_view ink = "#222";
constexpr std::string_view soft_ink = "#555";
constexpr std::string_view grid = "#dedede";
constexpr std::string_view faint_grid = "#f3f3f3";

// Okabe and Ito's colours, which colour-blind readers tell apart, without the yellow that white swallows.
constexpr std::array<std::string_view, 7> palette{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000"};

std::string_view colour(std::size_t series) { return palette[series % palette.size()]; }

// name="value" with a space before it.
std::string attribute(std::string_view name, std::string_view value) { return ' ' + std::string(name) + "=\"" + escaped(value) + '"'; }
std::string attribute(std::string_view name, double value) { return attribute(name, coordinate(value)); }

std::string text(Point at, double size, std::string_view anchor, std::string_view fill, std::string_view content, std::string_view more = "") {
  return "<text" + attribute("x", at.x) + attribute("y", at.y) + attribute("font-size", size) +
         (anchor == "start" ? "" : attribute("text-anchor", anchor)) + attribute("fill", fill) + std::string(more) + ">" + escaped(content) +
         "</text>\n";
}

std::string line(Point from, Point to, std::string_view stroke) {
  return "<line" + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) + attribute("y2", to.y) + attribute("stroke", stroke) +
         "/>\n";
}

// Lines are crisp where they cover whole pixels.
double crisp(double length) { return std::floor(length) + 0.5; }

Extent x_extent(const Chart& chart) {
  Extent extent{.scale = chart.log_x ? Scale::logarithmic : Scale::linear};
  for (const Series& series : chart.series) {
    for (const double x : series.x) extent.include(x);
  }
  for (const Mark& mark : chart.marks) extent.include(mark.x);
  return extent;
}

// Bars stand on zero; and where the data come near zero, the axis begins there.
Extent y_extent(const Chart& chart) {
  Extent extent{.scale = chart.log_y ? Scale::logarithmic : Scale::linear};
  bool bars = false;
  for (const Series& series : chart.series) {
    for (const double y : series.y) extent.include(y);
    bars = bars || series.style == Series::Style::bars;
  }
  for (const Mark& mark : chart.marks) extent.include(mark.y);
  if (!chart.log_y && !extent.empty() && (bars || (extent.low > 0 && extent.low < 0.4 * extent.high))) extent.include(0);
  return extent;
}

double widest_label(const Axis& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks) widest = std::max(widest, text_width(tick.label, tick_size));
  return widest;
}

Frame frame_for(const Chart& chart, double top) {
  Frame frame{.x = axis_for(x_extent(chart), std::nullopt), .y = axis_for(y_extent(chart), chart.y_max)};
  const double last_label = frame.x.ticks.empty() ? 0 : text_width(frame.x.ticks.back().label, tick_size);
  const double left = edge + std::max(widest_label(frame.y), 24.0) + 8;
  frame.box = {std::ceil(left), top, std::floor(width - std::max(edge + 4, last_label / 2 + 8)), top + plot_height};
  return frame;
}

std::string y_axis(const Frame& frame) {
  std::string result = "<g class=\"y-ticks\">\n";
  const auto rule = [&](double place, std::string_view stroke) {
    const double y = crisp(frame.box.bottom - plot_height * place);
    result += line({frame.box.left, y}, {frame.box.right, y}, stroke);
  };
  for (const double place : frame.y.minor_places) rule(place, faint_grid);
  for (const Tick& tick : frame.y.ticks) {
    rule(tick.place, grid);
    const double y = frame.box.bottom - plot_height * tick.place;
    result += text({frame.box.left - 8, y + 4}, tick_size, "end", soft_ink, tick.label);
  }
  return result + "</g>\n";
}

std::string x_axis(const Frame& frame) {
  const double length = frame.box.right - frame.box.left;
  const double y = crisp(frame.box.bottom);
  std::string result = "<g class=\"x-ticks\">\n" + line({frame.box.left, y}, {frame.box.right, y}, soft_ink);
  const auto stroke = [&](double place, double size) {
    const double x = crisp(frame.box.left + length * place);
    result += line({x, y}, {x, y + size}, soft_ink);
  };
  for (const double place : frame.x.minor_places) stroke(place, 3);
  for (const Tick& tick : frame.x.ticks) {
    stroke(tick.place, 6);
    result += text({frame.box.left + length * tick.place, frame.box.bottom + 20}, tick_size, "middle", soft_ink, tick.label);
  }
  return result + "</g>\n";
}

// Past the palette's end colours return with another dash.
std::string stroke_of(const Series& series, std::size_t index) {
  const bool repeated = index >= palette.size();
  std::string result = attribute("stroke", colour(index));
  if (series.style == Series::Style::bars) return result + " stroke-width=\"1.5\"";
  result += " stroke-width=\"2.2\"";
  if (series.style == Series::Style::dashed) return result + (repeated ? " stroke-dasharray=\"9 4 2 4\"" : " stroke-dasharray=\"7 5\"");
  return result + (repeated ? " stroke-dasharray=\"1.5 4\"" : "");
}

std::string bar_fill(std::size_t index) { return attribute("fill", colour(index)) + " fill-opacity=\"0.3\""; }

Pieces pieces_of(const Series& series, const Frame& frame) {
  return series.style == Series::Style::bars ? bar_pieces(series, frame) : line_pieces(series, frame);
}

std::string curves(const Chart& chart, const Frame& frame, std::vector<Point>& obstacles) {
  std::string result =
      "<g fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"" + attribute("clip-path", "url(#" + chart.id + ".clip)") + ">\n";
  for (const auto style : {Series::Style::bars, Series::Style::line, Series::Style::dashed}) {
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const Series& series = chart.series[i];
      if (series.style != style) continue;
      const Pieces pieces = pieces_of(series, frame);
      const auto samples = samples_of(pieces);
      obstacles.insert(obstacles.end(), samples.begin(), samples.end());
      const std::string fill = style == Series::Style::bars ? bar_fill(i) : "";
      result += "<path" + attribute("d", path_of(pieces)) + fill + stroke_of(series, i) + "/>\n";
    }
  }
  return result + "</g>\n";
}

std::string marks(const std::vector<Annotation>& annotations) {
  std::string result = annotations.empty() ? "" : "<g class=\"marks\">\n";
  for (const Annotation& annotation : annotations) {
    const Box& box = annotation.text;
    if (annotation.leader) {
      result +=
          line(annotation.dot, {std::clamp(annotation.dot.x, box.left, box.right), std::clamp(annotation.dot.y, box.top, box.bottom)}, soft_ink);
    }
    result += "<circle" + attribute("cx", annotation.dot.x) + attribute("cy", annotation.dot.y) + " r=\"4.5\"" + attribute("fill", ink) +
              " stroke=\"#fff\" stroke-width=\"1.5\"/>\n";
    // The text begins or ends at the side that is next to the dot, since its true width is not known.
    const double centre = (box.left + box.right) / 2;
    const bool over = box.left < annotation.dot.x && annotation.dot.x < box.right;
    const std::string_view anchor = over ? "middle" : centre > annotation.dot.x ? "start" : "end";
    const double x = over ? centre : centre > annotation.dot.x ? box.left : box.right;
    double y = box.top + 0.78 * annotation_line_height;
    for (const std::string& content : annotation.lines) {
      result +=
          text({x, y}, annotation_size, anchor, ink, content, " stroke=\"#fff\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
      y += annotation_line_height;
    }
  }
  return result + (annotations.empty() ? "" : "</g>\n");
}

struct Legend {
  std::string drawing;
  double height = 0;
};

std::string swatch_at(double x, double y, const Series& series, std::size_t index) {
  if (series.style != Series::Style::bars) {
    return "<path" + attribute("d", path_of({{{x, y}, {x + swatch, y}}})) + " fill=\"none\"" + stroke_of(series, index) + "/>\n";
  }
  return "<rect" + attribute("x", x) + attribute("y", y - 6) + attribute("width", swatch) + " height=\"12\"" + bar_fill(index) +
         stroke_of(series, index) + "/>\n";
}

// Entries from left to right below the plot, on as many rows as they need.
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
      result.drawing += text({x + swatch + 8, y + 16 * static_cast<double>(k) + 4.5}, label_size, "start", ink, lines[k]);
    }
    x += entry + 18;
  }
  if (!result.drawing.empty()) result = {"<g class=\"legend\">\n" + result.drawing + "</g>\n", lowest + legend_row / 2 - top};
  return result;
}

// The root element, what screen readers say, the plot area for clipping, and the background.
std::string opening(const Chart& chart, const Frame& frame, double height) {
  const std::string size = attribute("width", width) + attribute("height", height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + size + attribute("viewBox", "0 0 " + coordinate(width) + ' ' + coordinate(height)) +
         " role=\"img\"" + attribute("aria-labelledby", chart.id + ".title " + chart.id + ".description") +
         " font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\">\n" + "<title" +
         attribute("id", chart.id + ".title") + ">" + escaped(chart.title) + "</title>\n" + "<desc" + attribute("id", chart.id + ".description") +
         ">" + escaped(chart.caption) + "</desc>\n" + "<clipPath" + attribute("id", chart.id + ".clip") + "><rect" + attribute("x", frame.box.left) +
         attribute("y", frame.box.top - 2) + attribute("width", frame.box.right - frame.box.left) + attribute("height", plot_height + 4) +
         "/></clipPath>\n" + "<rect" + size + " rx=\"6\" fill=\"#fff\"/>\n";
}

}  // namespace

std::string picture(const Chart& chart, Heading heading) {
  require_consistent(chart);
  std::string words;
  double y = edge - 4;
  if (heading == Heading::inside && !chart.title.empty()) {
    for (const std::string& part : wrapped(chart.title, title_size, (width - 2 * edge) / 1.05)) {
      y += 21;
      words += text({edge, y - 5}, title_size, "start", ink, part, " font-weight=\"600\"");
    }
    y += 2;
  }
  // The y axis' label lies flat above the axis, where it is read without turning the head.
  for (const std::string& part : wrapped(chart.y_label, label_size, width - 2 * edge)) {
    if (part.empty()) continue;
    y += 17;
    words += text({edge, y - 4}, label_size, "start", soft_ink, part);
  }

  const Frame frame = frame_for(chart, y + 13);
  y = frame.box.bottom + 24;
  for (const std::string& part : wrapped(chart.x_label, label_size, frame.box.right - frame.box.left)) {
    if (part.empty()) continue;
    y += 18;
    words += text({(frame.box.left + frame.box.right) / 2, y - 3}, label_size, "middle", soft_ink, part);
  }
  const Legend entries = legend(chart, frame.box.left, y + 6);
  y += entries.height > 0 ? 6 + entries.height : 0;
  const double height = std::ceil(y + 12);

  std::vector<Point> obstacles;
  const std::string drawn_curves = curves(chart, frame, obstacles);
  const std::string drawn_marks = marks(annotations_of(chart.marks, frame, obstacles));
  return opening(chart, frame, height) + words + y_axis(frame) + x_axis(frame) + drawn_curves + drawn_marks + entries.drawing + "</svg>\n";
}

}  // namespace report_detail

std::string svg(const Chart& chart) { return report_detail::picture(chart, report_detail::Heading::inside); }

}  // namespace sotto
