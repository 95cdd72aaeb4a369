// The SVG drawing of a chart, as a stand-alone file or as part of a page.
#pragma once

#include "report/api/chart.hpp"
#include "report/html/markup.hpp"

namespace sotto::report_detail {

/// Whether the picture contains the chart's title, or the page around the picture shows it.
enum class Heading { inside, beside };

/// Returns the chart as an `<svg>` element. Throws InvalidValue as require_consistent() does.
Markup picture(const Chart& chart, Heading heading);

}  // namespace sotto::report_detail
