// A chart as a value: what is drawn, not how. svg, csv and page read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// A curve or a histogram. A point that is not finite, or not positive on a logarithmic axis, is left out and breaks the line.
/// Bars: `x` holds the bins' left edges and, last, the end of the last bin; it has one element more than `y`.
struct Series {
  enum class Style { line, dashed, bars };

  std::string name{};  ///< in the legend; an empty name has no entry there
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

/// All text is UTF-8 without markup.
struct Chart {
  std::string id{};  ///< the file's stem: a letter, then letters, digits, '-' and '_'
  std::string title{};
  std::string caption{};  ///< what to see, in one to three sentences
  std::string x_label{};
  std::string y_label{};
  bool log_x = false;
  bool log_y = false;
  std::optional<double> y_max{};  ///< the y axis ends here, and what lies above is cut off
  std::vector<Series> series{};
  std::vector<Mark> marks{};
};

/// Throws InvalidValue if the id cannot name a file and an anchor, a series' x and y do not fit together, a histogram's edges do
/// not ascend, or y_max has no place on its axis. svg, csv and page ask this first.
void require_consistent(const Chart& chart);

}  // namespace sotto
