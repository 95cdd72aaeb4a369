#include "sotto/core/decimal.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

double read(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string scientific(double x, int digits) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::scientific, digits - 1).ptr;
  return {buffer.data(), end};
}

// One unit of the last printed digit of a number in scientific form.
double last_digit(const std::string& text, int digits) {
  return read("1e" + std::to_string(std::stoi(text.substr(text.find('e') + 1)) - (digits - 1)));
}

// Whether a decimal's text denotes a whole number, exactly: no non-zero digit behind the (shifted) point.
bool denotes_whole(std::string_view text) {
  long exponent = 0;
  if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    text = text.substr(0, e);
  }
  std::string mantissa;
  for (const char c : text) {
    if (c == '.') continue;
    mantissa += c;
  }
  if (const auto point = text.find('.'); point != std::string_view::npos) exponent -= static_cast<long>(text.size() - point - 1);
  while (mantissa.size() > 1 && mantissa.back() == '0') {
    mantissa.pop_back();
    ++exponent;
  }
  return exponent >= 0 || mantissa.find_first_not_of("+-0") == std::string::npos;
}

}  // namespace

double read_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string shown(text.substr(0, 40));
  if (error == std::errc::result_out_of_range) throw InvalidValue("the number " + shown + " is beyond the range of doubles");
  if (error != std::errc{} || end != text.data() + text.size()) throw InvalidValue("'" + shown + "' is not a number");
  if (std::isfinite(value) && value == std::floor(value) && !denotes_whole(text)) {
    throw InvalidValue("the number " + shown + " has more digits than a double can hold: write fewer");
  }
  return value;
}

std::string shortest(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  return {buffer.data(), end};
}

std::string rounded(double x, int digits, Side side) {
  if (!std::isfinite(x) || x == 0) return shortest(x);
  std::string text = scientific(x, digits);
  // Printing rounds to nearest; a step of one last digit then suffices to reach the asked side.
  const double printed = read(text);
  if (side == Side::upper && printed < x) text = scientific(printed + last_digit(text, digits), digits);
  if (side == Side::lower && printed > x) text = scientific(printed - last_digit(text, digits), digits);
  return shortest(read(text));
}

}  // namespace sotto
