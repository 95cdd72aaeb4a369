// Decimal text by std::from_chars and std::to_chars, which ignore the locale; digits are rounded to
// a side on the exact decimal expansion.
#include "sotto/core/decimal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/api/suggestion.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// A positive finite double in decimal digits, exactly: 0.d₁d₂d₃… times 10^exponent with d₁ > 0.
struct Digits {
  std::string digits;
  int exponent;
};

// Splits the scientific form that std::to_chars writes, such as "1.25e-07".
Digits digits_of(const std::string& scientific) {
  const auto e = scientific.find('e');
  const std::string fraction = e > 2 ? scientific.substr(2, e - 2) : "";
  return {scientific.substr(0, 1) + fraction, std::stoi(scientific.substr(e + 1)) + 1};
}

// Returns the fewest digits that read back as x.
Digits shortest_digits(double x) {
  std::array<char, 64> buffer{};
  return digits_of({buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x,
                                                 std::chars_format::scientific)
                                       .ptr});
}

// Returns every digit of x, of which no double has more than 767.
Digits all_digits(double x) {
  std::array<char, 800> buffer{};
  return digits_of({buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x,
                                                 std::chars_format::scientific, 770)
                                       .ptr});
}

// Adds one unit in the last digit.
void increment(Digits& number) {
  for (auto digit = number.digits.rbegin(); digit != number.digits.rend(); ++digit) {
    if (*digit != '9') {
      ++*digit;
      return;
    }
    *digit = '0';
  }
  number.digits = "1" + number.digits;
  ++number.exponent;
}

// Writes the number without an exponent if that takes at most 16 digits before the point and at
// most three zeros behind it, else in scientific form.
std::string written(Digits number) {
  std::string& d = number.digits;
  while (d.size() > 1 && d.back() == '0') d.pop_back();
  const int point = number.exponent;
  const auto size = static_cast<int>(d.size());
  if (point > -4 && point <= 0)
    return "0." + std::string(static_cast<std::size_t>(-point), '0') + d;
  if (point > 0 && point <= 16) {
    if (size <= point) return d + std::string(static_cast<std::size_t>(point - size), '0');
    return d.substr(0, static_cast<std::size_t>(point)) + "." +
           d.substr(static_cast<std::size_t>(point));
  }
  const int power = point - 1;
  const std::string magnitude = std::to_string(power < 0 ? -power : power);
  return d.substr(0, 1) + (size > 1 ? "." + d.substr(1) : "") + (power < 0 ? "e-" : "e+") +
         (magnitude.size() < 2 ? "0" : "") + magnitude;
}

// Returns whether a decimal is exactly a whole number: after its exponent has shifted the point, no
// digit behind the point is other than zero.
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
  if (const auto point = text.find('.'); point != std::string_view::npos)
    exponent -= static_cast<long>(text.size() - point - 1);
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
  const std::string excerpt(text.substr(0, 40));  // a message stays short, whatever the input
  if (error == std::errc::result_out_of_range)
    throw InvalidValue("the number " + excerpt +
                       " is beyond the range of doubles, about 1e-308 to 1.8e+308");
  if (error != std::errc{} || end != text.data() + text.size())
    throw InvalidValue("'" + excerpt + "' is not a number" + advice_on_number(text));
  if (std::isfinite(value) && value == std::floor(value) && !denotes_whole(text)) {
    throw InvalidValue("the number " + excerpt +
                       " has more digits than a double can hold: write at most 15");
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
  if (x == 0) return "0";
  if (!std::isfinite(x)) return shortest(x);
  const bool away = (side == Side::upper) == (x > 0);  // away from zero
  const auto places = static_cast<std::size_t>(digits);
  Digits number = shortest_digits(std::fabs(x));
  // the shortest form fits, and reads back as x itself
  if (number.digits.size() <= places) return (x < 0 ? "-" : "") + written(std::move(number));
  number = all_digits(std::fabs(x));
  const bool inexact = number.digits.find_first_not_of('0', places) != std::string::npos;
  number.digits.resize(places, '0');
  if (inexact && away) increment(number);
  return (x < 0 ? "-" : "") + written(std::move(number));
}

std::string with_decimals(double x, int decimals) {
  std::array<char, 512> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x,
                                       std::chars_format::fixed, decimals)
                             .ptr};
}

std::string to_nearest(double x, int digits) {
  std::array<char, 64> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), x,
                                       std::chars_format::general, digits)
                             .ptr};
}

std::optional<double> leading_number(std::string_view text, std::size_t& end) {
  const std::size_t start = std::min(text.find_first_not_of(" \t"), text.size());
  double value = 0;
  const auto [last, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  end = static_cast<std::size_t>(last - text.data());
  return value;
}

std::string readable(double x) { return in_thousands(rounded(x, 17, Side::lower)); }

std::string in_thousands(const std::string& number) {
  const std::size_t first = number.find_first_of("0123456789");
  if (first == std::string::npos || number.find('e') != std::string::npos) return number;
  const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  std::string text = number.substr(0, first);
  for (std::size_t digit = first; digit < end; ++digit) {
    if (digit != first && (end - digit) % 3 == 0) text += ',';
    text += number[digit];
  }
  return text + number.substr(end);
}

}  // namespace sotto
