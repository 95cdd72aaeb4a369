// Estimates as words, for the text and for the page.
#pragma once

#include <string>
#include <vector>

#include "study/api/release.hpp"

namespace sotto::report_detail {

/// A number to read: no more digits than its interval is worth.
std::string shown(double x, double width);

/// An expression of several lines on one.
std::string on_one_line(std::string text);
/// "10 to 20"; the first and the last bin of a group also count what lies beyond: "below 10", "90 and more".
std::string bin_name(const QueryAnswer& answer, std::size_t estimate);
/// "north, 10 to 20": the group, the bin, the quantile; "all" where there is nothing to tell apart.
std::string group_name(const QueryAnswer& answer, std::size_t estimate);
/// "mean of income by region where age > 20".
std::string question(const QueryAnswer& answer);
/// How far a value is from the true one, in percent of that; "below …" where the two look the same as shown; "—" where there is none.
std::string error_in_percent(double value, double truth, double width);
/// A number, or "—" for NaN.
std::string shown_if_any(double x, double width);
/// What a reader of these numbers must know, in sentences: what is cut, what an answer outside its interval means, how many intervals miss.
std::vector<std::string> remarks(const QueryAnswer& answer, double confidence);

}  // namespace sotto::report_detail
