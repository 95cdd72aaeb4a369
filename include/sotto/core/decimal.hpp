// Doubles as decimal text: exact reading, and writing in the shortest form or rounded to a side.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/bound.hpp"

namespace sotto {

/// Returns the shortest decimal that reads back as `x`. Infinities are "inf" and "-inf", NaN "nan".
std::string shortest(double x);

/// Reads a decimal, "inf" or "nan" and returns the nearest double. Throws InvalidValue if the text
/// is not a number, if it is beyond the range of doubles, or if it is not a whole number and the
/// nearest double is one: Real::reading() takes a double that is a whole number to be exact.
double read_number(std::string_view text);

/// Returns `x` with at most `digits` significant digits: its shortest form if that is short enough,
/// else a decimal that lies on `side` of `x`.
std::string rounded(double x, int digits, Side side);

/// Returns a finite `x` with `decimals` digits (at most 100) behind the point, rounded to nearest.
std::string with_decimals(double x, int decimals);

/// Returns `x` with `digits` significant digits, rounded to nearest, as printf's "%g" writes it in
/// the C locale.
std::string to_nearest(double x, int digits);

/// Reads the number at the start of `text`, after blanks, and sets `end` to the position behind it.
/// Returns nothing, and leaves `end` alone, if no number is there.
std::optional<double> leading_number(std::string_view text, std::size_t& end);

/// Returns `x` as people read it: "100,000", "0.00025", "1e+20". Zero has no sign.
std::string readable(double x);

/// Writes commas between the thousands of a decimal number: "12345.6" becomes "12,345.6".
std::string in_thousands(const std::string& number);

}  // namespace sotto
