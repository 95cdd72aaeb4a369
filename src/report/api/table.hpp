// Parts that the tables and the CSV of all answers share: numbers rounded to their side, rows,
// labelled lines.
#pragma once

#include <string>
#include <vector>

#include "sotto/accounting/account.hpp"

namespace sotto::report_detail {

/// Returns `x` with at most seven significant digits, rounded up.
std::string rounded_up(double x);
/// Returns `x` with at most seven significant digits, rounded down; "not known" for minus infinity.
std::string rounded_down(double x);
/// Returns one end of a bracket, rounded outward to seven digits. If the seven-digit decimal on the
/// inner side differs from `x` by at most 2^-48 of it, that decimal is returned with a note
/// instead: "0.25 (to 15 digits)".
std::string end_of_bracket(double x, Side side);
/// Returns the rest of a limit, rounded down. A rest of at most 2^-48 of the limit is the limit's
/// allowance for rounding and is returned as "0".
std::string remaining_amount(double left, double limit);
/// Returns the ε or δ that a whole budget promises. The limit's allowance for rounding (2^-48 of
/// it) is left out, and a note says so: "1 (to 15 digits)".
std::string promise_text(double x);
/// Returns a number with all its digits for a CSV field; empty for minus infinity, which stands for
/// an unknown lower bound.
std::string csv_number(double x);
/// Returns a line of CSV, quoted where necessary.
std::string csv_row(const std::vector<std::string>& cells);

/// Returns the number of characters of UTF-8 text, which is its width in a terminal.
std::size_t display_width(const std::string& text);
/// Returns the text with blanks appended up to a display width.
std::string padded(const std::string& text, std::size_t width);
/// Returns a line with a label in a column of twelve characters and an escaped value behind it.
std::string field(const std::string& label, const std::string& value);
/// Returns a labelled line for each note.
std::string notes_text(const Answer& answer);
std::string notes_text(const std::vector<std::string>& notes);
/// Returns the name of the neighbouring relation, with an explanation if a plan does not determine
/// it.
std::string relation_text(const Answer& answer);
std::string relation_text(Relation relation);

}  // namespace sotto::report_detail
