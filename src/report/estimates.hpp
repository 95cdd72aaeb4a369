// A query's estimates in a page: each with its interval, as a picture that fits any width, and as a table.
#pragma once

#include <string>
#include <string_view>

#include "sotto/study/release.hpp"

namespace sotto::report_detail {

/// One number is shown large; bins as a histogram with a table; all else as a table whose rows are drawn, dots for means and quantiles, bars
/// for counts and sums. `exact` holds the same estimates without noise, or is null.
std::string drawn_estimates(const QueryAnswer& answer, const QueryAnswer* exact, double confidence);

/// What the pictures' marks mean.
std::string legend(double confidence, bool with_exact);

/// Their style sheet.
extern const std::string_view estimates_style;

}  // namespace sotto::report_detail
