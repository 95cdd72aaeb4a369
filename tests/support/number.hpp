// Reads the decimals of reference tables, in every locale.
#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <system_error>

namespace sotto {

/// Returns the number at the start of the text, or 0 or infinity if it is beyond the range of the
/// type, like strtod.
template <class Number = double>
Number number_in(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" +");
  if (start == std::string::npos) return 0;
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  if (text.find("e-") != std::string::npos) return 0;
  return text[start] == '-' ? -std::numeric_limits<Number>::infinity()
                            : std::numeric_limits<Number>::infinity();
}

}  // namespace sotto
