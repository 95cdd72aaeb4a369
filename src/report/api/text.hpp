// Text for markup and pictures: escaped, measured without a font, broken into lines; numbers as
// labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto::report_detail {

/// Returns text escaped for XML and HTML, for content and for quoted attributes. Characters that
/// are unsafe to display are spelt out, except newlines and tabs. Pages use Markup, which calls
/// this.
std::string escaped(std::string_view text);

/// Estimates the width of UTF-8 text in a sans-serif font of this size. The estimate assumes a wide
/// font, so real text is rarely wider.
double text_width(std::string_view text, double size);

/// Breaks text into lines no wider than `width`, except for a word that is wider itself. Returns at
/// least one line.
std::vector<std::string> wrapped(std::string_view text, double size, double width);

/// Returns the width of the widest line.
double widest_of(const std::vector<std::string>& lines, double size);

/// Returns a length or coordinate with at most two decimals.
std::string coordinate(double length);

/// Returns `x` with this many decimals and a true minus sign (U+2212); zero is "0".
std::string fixed(double x, int decimals);

/// Returns a power of ten in superscripts: "10⁻³".
std::string power_of_ten(int exponent);

}  // namespace sotto::report_detail
