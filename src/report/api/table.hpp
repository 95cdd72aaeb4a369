// The pieces that the answers' tables and CSV forms share.
#pragma once

#include <string>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto::report_detail {

/// Seven digits, rounded outward.
std::string up(double x);
std::string down(double x);
/// An end of a bracket on a line of its own: the same, but a decimal of seven digits that differs from it by rounding alone, below 2^-48 of it, as
/// itself, saying so: "0.25 (to 15 digits)".
std::string end_of_bracket(double x, Side side);
/// What is left of a limit: 0 where only its room for rounding is.
std::string left_over(double left, double limit);
/// ε of a whole budget: without the part in 10^15 that a limit has as its room for rounding, and saying so.
std::string promised(double epsilon);
/// A number in CSV: all its digits, nothing if it is not known.
std::string csv_number(double x);
/// A line of CSV.
std::string row(const std::vector<std::string>& cells);

std::string padded(const std::string& text, std::size_t width);
/// A "label   value" line.
std::string field(const std::string& label, const std::string& value);
std::string notes_text(const Answer& answer);
std::string relation_text(const Answer& answer);
std::string notes_text(const std::vector<std::string>& notes);
std::string relation_text(Relation relation);

}  // namespace sotto::report_detail
