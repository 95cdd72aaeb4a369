// Estimates as words, for the text output and for the page.
#pragma once

#include <string>
#include <vector>

#include "study/api/release.hpp"

namespace sotto::report_detail {

/// Returns a number with no more decimals than are meaningful beside an interval of this width.
std::string with_interval_digits(double x, double width);
/// As with_interval_digits(), or "—" if `x` is NaN.
std::string with_interval_digits_or_dash(double x, double width);

/// Returns an expression with its line breaks and tabs replaced by blanks.
std::string on_one_line(std::string text);
/// Returns the range of a bin, "10 to 20". The first and the last bin of a group also count values
/// beyond their ends and are called "below 10" and "90 and more".
std::string bin_name(const QueryAnswer& answer, std::size_t estimate);
/// Returns what distinguishes an estimate from the others of its query: "north, 10 to 20", from its
/// group, bin and quantile; "all" if the query has only one.
std::string group_name(const QueryAnswer& answer, std::size_t estimate);
/// Returns a query in a few words: "mean of income by region where age > 20".
std::string question(const QueryAnswer& answer);
/// Returns the distance of a value from the true one in percent of the true one; "below … %" if the
/// two read alike with the digits that `width` allows; "—" if the true value is 0 or not known.
std::string error_in_percent(double value, double truth, double width);
/// Returns sentences that a reader needs to interpret the numbers: which rows count, what an answer
/// outside its interval means, how many of the intervals are expected to miss.
std::vector<std::string> remarks(const QueryAnswer& answer, double confidence);

}  // namespace sotto::report_detail
