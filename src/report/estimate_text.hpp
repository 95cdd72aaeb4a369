// Estimates as words, for the text and for the page.
#pragma once

#include <string>

#include "sotto/study/release.hpp"

namespace sotto::report_detail {

/// A number to read: no more digits than its interval is worth.
std::string shown(double x, double width);
/// "12345.6" as "12,345.6".
std::string in_thousands(const std::string& number);

/// An expression of several lines on one.
std::string on_one_line(std::string text);
/// "north, 10 to 20": the group, the bin, the quantile; "all" where there is nothing to tell apart.
std::string group_name(const Estimate& estimate);
/// "mean of income by region where age > 20".
std::string question(const QueryAnswer& answer);
/// How far a value is from the exact one, in percent of that.
std::string error_in_percent(double value, double exact);

}  // namespace sotto::report_detail
