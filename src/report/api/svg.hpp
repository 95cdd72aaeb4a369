// A chart as a picture.
#pragma once

#include <string>

#include "report/api/chart.hpp"

namespace sotto {

/// A stand-alone SVG document, 760 wide and about 440 high, that may also be put into an HTML page as it is: its ids begin with
/// the chart's id and it has no style sheet. Later series are drawn over earlier ones; dashed lines over lines over bars.
/// Throws InvalidValue as require_consistent does.
std::string svg(const Chart& chart);

}  // namespace sotto
