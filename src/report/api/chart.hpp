// A chart as a value: its data and its words. svg(), csv() and page() render it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// A curve or a histogram. A point that is not finite, or not positive on a logarithmic axis, is
/// not drawn and interrupts the line. For bars, `x` holds the left edge of each bin and finally the
/// right edge of the last bin, so it has one element more than `y`.
struct Series {
  enum class Style { line, dashed, bars };

  std::string name{};  ///< in the legend; a series with an empty name has no entry
  std::vector<double> x{};
  std::vector<double> y{};
  Style style = Style::line;
};

/// An annotated point, such as a crossing of two curves.
struct Mark {
  double x = 0;
  double y = 0;
  std::string text{};
};

/// A chart. All its text is UTF-8 without markup; renderers escape it.
struct Chart {
  std::string id{};  ///< names files and anchors: a letter, then letters, digits, '-' and '_'
  std::string title{};
  std::string caption{};  ///< what the chart shows, in one to three sentences
  std::string x_label{};
  std::string y_label{};
  bool log_x = false;
  bool log_y = false;
  std::optional<double> y_max{};  ///< upper end of the y axis; the data above it are clipped
  std::vector<Series> series{};
  std::vector<Mark> marks{};
};

/// Throws InvalidValue if the id is malformed, the x and y of a series have the wrong lengths, the
/// edges of a histogram do not ascend, or y_max has no place on its axis. All renderers call this
/// first.
void require_consistent(const Chart& chart);

}  // namespace sotto
