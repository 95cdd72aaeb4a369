// A query's estimates in a page: each with its interval, as a picture that fits any width, and as a table.
#pragma once

#include <string>
#include <string_view>

#include "study/api/release.hpp"

namespace sotto::report_detail {

/// The same estimates without noise and as the data have them, for public data; else both are null.
struct Beside {
  const QueryAnswer* without_noise = nullptr;
  const QueryAnswer* in_the_data = nullptr;
};

/// One number is shown large; bins as a histogram with a table; all else as a table whose rows are drawn, dots for means and quantiles, bars
/// for counts and sums.
std::string drawn_estimates(const QueryAnswer& answer, const Beside& beside, double confidence);

/// What the pictures' marks mean.
std::string legend(double confidence, bool with_truth);

/// Their style sheet.
extern const std::string_view estimates_style;

}  // namespace sotto::report_detail
