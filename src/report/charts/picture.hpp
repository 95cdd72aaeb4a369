// The drawing behind svg() and page().
#pragma once

#include <string>

#include "report/api/chart.hpp"

namespace sotto::report_detail {

/// Whether the title is part of the picture or written beside it.
enum class Heading { inside, beside };

std::string picture(const Chart& chart, Heading heading);

}  // namespace sotto::report_detail
