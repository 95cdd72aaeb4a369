// A chart as a stand-alone SVG picture.
#pragma once

#include <string>

#include "report/api/chart.hpp"

namespace sotto {

/// Returns an SVG document, 760 wide and about 440 high. It may also be inlined into HTML: it has
/// no style sheet, and its ids begin with the chart's id. Dashed lines are drawn over solid lines
/// and these over bars; within a style, later series cover earlier ones. Throws InvalidValue as
/// require_consistent() does.
std::string svg(const Chart& chart);

}  // namespace sotto
