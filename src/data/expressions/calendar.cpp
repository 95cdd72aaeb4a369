// Parses dates and timestamps of the proleptic Gregorian calendar, from year 1 to 9999.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "data/expressions/tree.hpp"

namespace sotto::expression {
namespace {

// Removes a number of exactly `digits` digits from the front and returns it; -1 if there is none.
int take(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

// Removes the first character if it is one of these.
bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool take_date(std::string_view& text) {
  const int year = take(text, 4);
  if (year < 1 || !take(text, "-")) return false;
  const int month = take(text, 2);
  if (month < 1 || month > 12 || !take(text, "-")) return false;
  const int day = take(text, 2);
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr std::array<int, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day >= 1 &&
         day <= lengths[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

}  // namespace

std::string canonical_date(std::string_view text) {
  std::string_view rest = text;
  return take_date(rest) && rest.empty() ? std::string(text) : "";
}

std::string canonical_timestamp(std::string_view text) {
  std::string_view rest = text;
  if (!take_date(rest)) return "";
  const std::string date(text.substr(0, 10));
  if (rest.empty()) return date + " 00:00:00";
  if (!take(rest, " T")) return "";
  const std::string minutes(rest.substr(0, 5));
  const int hour = take(rest, 2);
  if (hour < 0 || hour > 23 || !take(rest, ":")) return "";
  if (const int minute = take(rest, 2); minute < 0 || minute > 59) return "";
  if (rest.empty()) return date + " " + minutes + ":00";
  std::string seconds(rest);
  if (!take(rest, ":")) return "";
  if (const int second = take(rest, 2); second < 0 || second > 59) return "";
  if (!rest.empty()) {
    if (!take(rest, ".") || rest.empty() || rest.size() > 6) return "";
    while (!rest.empty()) {
      if (take(rest, 1) < 0) return "";
    }
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.back() == '.') seconds.pop_back();
  }
  return date + " " + minutes + seconds;
}

}  // namespace sotto::expression
