// Doubles as text: read with care, written in the shortest form or rounded to a named side.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/bound.hpp"

namespace sotto {

/// The shortest decimal that reads back as `x`; infinity is "inf".
std::string shortest(double x);

/// Reads a decimal, "inf" or "nan". InvalidValue for text that is none, that is beyond the range of doubles, or that
/// rounds to a whole number without being one (whole numbers stand for themselves alone, see Real::reading).
double read_number(std::string_view text);

/// `x` with at most `digits` significant digits: the shortest form that reads back as `x` if that is short enough,
/// else rounded so that the printed number is on `side` of `x`.
std::string rounded(double x, int digits, Side side);

/// A finite `x` with so many decimals (at most 100), to nearest.
std::string with_decimals(double x, int decimals);

/// `x` to so many significant digits, to nearest, as printf's "%g" writes it in the C locale.
std::string to_nearest(double x, int digits);

/// Reads the number at the start of `text` and sets `end` behind it; nothing if there is none.
std::optional<double> leading_number(std::string_view text, std::size_t& end);

/// The same number to read: "100,000", "0.00025", "1e+20". It has no sign at zero.
std::string readable(double x);

/// A number in decimals with commas between thousands: "12345.6" as "12,345.6".
std::string in_thousands(const std::string& number);

}  // namespace sotto
