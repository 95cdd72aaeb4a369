// The estimates of one query in a page, each with its interval: as a picture that fits any width,
// and as a table.
#pragma once

#include <string_view>

#include "report/html/markup.hpp"
#include "study/api/release.hpp"

namespace sotto::report_detail {

/// The answers to the same query without noise and as the data have them. Both are present for
/// public data, and both are null otherwise.
struct PublicEstimates {
  const QueryAnswer* without_noise = nullptr;
  const QueryAnswer* in_the_data = nullptr;
};

/// Returns the estimates of a query. A single number is shown large; a histogram is drawn with a
/// table of its numbers; anything else is a table with a drawing in each row: dots for means and
/// quantiles, bars for counts and sums.
Markup drawn_estimates(const QueryAnswer& answer, const PublicEstimates& public_estimates,
                       double confidence);

/// Explains the marks in the pictures. `with_truth`: the pictures also mark the number in the data.
Markup legend(double confidence, bool with_truth);

/// The style sheet of both.
extern const std::string_view estimates_style;

}  // namespace sotto::report_detail
