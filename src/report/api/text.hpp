// Text inside markup: escaped, measured without a font, and broken into lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto::report_detail {

/// The text for XML and HTML, in content or in a quoted attribute. What is unsafe to show is spelt out, but for newlines and tabs.
std::string escaped(std::string_view text);

/// About how wide UTF-8 text is in a sans-serif font of that size; wide fonts are assumed.
double text_width(std::string_view text, double size);

/// The text's words on lines no wider than `width`, unless a word alone is wider. At least one line.
std::vector<std::string> wrapped(std::string_view text, double size, double width);

double widest_of(const std::vector<std::string>& lines, double size);

/// A length with at most two decimals.
std::string coordinate(double length);

/// `x` with exactly that many decimals and a true minus sign; zero has none.
std::string fixed(double x, int decimals);

/// "10⁻³": ten to a whole power.
std::string power_of_ten(int exponent);

}  // namespace sotto::report_detail
