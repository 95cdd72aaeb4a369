// The reference semantics of row expressions in plain C++: the values of one row and all operations
// on them, written independently of the library.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "sotto/data/schema.hpp"

namespace sotto::testing {

using Null = std::monostate;
struct Day {
  std::int64_t days;  // since 1970
  friend auto operator<=>(const Day&, const Day&) = default;
};
struct Moment {
  std::int64_t microseconds;  // since 1970
  friend auto operator<=>(const Moment&, const Moment&) = default;
};
using Datum = std::variant<Null, bool, std::int64_t, double, std::string, Day, Moment>;

inline bool is_null(const Datum& x) { return std::holds_alternative<Null>(x); }

// --- the calendar ---

constexpr std::int64_t day_length = 86'400'000'000;

inline std::optional<std::int64_t> days_of(int year, int month, int day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year},
                            std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return sys_days{date}.time_since_epoch().count();
}
inline std::chrono::year_month_day date_of(std::int64_t days) {
  return std::chrono::sys_days{std::chrono::days{days}};
}
inline std::int64_t floored(std::int64_t x, std::int64_t by) {
  return x / by - (x % by < 0 ? 1 : 0);
}

inline std::string date_text(std::int64_t days) {
  const auto date = date_of(days);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}
inline std::string moment_text(std::int64_t microseconds) {
  const std::int64_t days = floored(microseconds, day_length);
  const std::int64_t rest = microseconds - days * day_length;
  char text[32];
  std::snprintf(text, sizeof text, " %02d:%02d:%02d.%06d", static_cast<int>(rest / 3'600'000'000),
                static_cast<int>(rest / 60'000'000 % 60), static_cast<int>(rest / 1'000'000 % 60),
                static_cast<int>(rest % 1'000'000));
  std::string all = date_text(days) + text;
  all.erase(all.find_last_not_of('0') + 1);
  if (all.back() == '.') all.pop_back();
  return all;
}

// --- reading texts, without regular expressions ---

struct Reader {
  const std::string& text;
  std::size_t at = 0;
  bool ok = true;
  [[nodiscard]] bool done() const { return at == text.size(); }
  bool take(const std::string& one_of) {
    if (done() || one_of.find(text[at]) == std::string::npos || text[at] == '\0') return false;
    ++at;
    return true;
  }
  int digits() {
    int n = 0;
    while (take("0123456789")) ++n;
    return n;
  }
  int number(int width) {
    int value = 0;
    for (int i = 0; i < width; ++i) {
      if (!take("0123456789")) {
        ok = false;
        return 0;
      }
      value = 10 * value + (text[at - 1] - '0');
    }
    return value;
  }
  void expect(const std::string& one_of) { ok = ok && take(one_of); }
};

inline std::optional<std::int64_t> read_date(Reader& r) {
  const int year = r.number(4);
  r.expect("-");
  const int month = r.number(2);
  r.expect("-");
  const int day = r.number(2);
  if (!r.ok || year == 0) return std::nullopt;
  return days_of(year, month, day);
}
inline Datum as_date(const std::string& text) {
  Reader r{text};
  const auto days = read_date(r);
  if (!days || !r.done()) return Null{};
  return Day{*days};
}
inline Datum as_moment(const std::string& text) {
  Reader r{text};
  const auto days = read_date(r);
  if (!days) return Null{};
  std::int64_t time = 0;
  if (!r.done()) {
    r.expect(" T");
    const int hour = r.number(2);
    r.expect(":");
    const int minute = r.number(2);
    int second = 0;
    int fraction = 0;
    if (r.take(":")) {
      second = r.number(2);
      if (r.take(".")) {
        int width = 0;
        while (width < 6 && r.take("0123456789"))
          fraction = 10 * fraction + (text[r.at - 1] - '0'), ++width;
        if (width == 0) return Null{};
        for (; width < 6; ++width) fraction *= 10;
      }
    }
    if (!r.ok || !r.done() || hour > 23 || minute > 59 || second > 59) return Null{};
    time = ((hour * 60LL + minute) * 60 + second) * 1'000'000 + fraction;
  }
  return Moment{*days * day_length + time};
}

// --- the arithmetic ---

__extension__ typedef __int128 Wide;

inline Datum whole(Wide x) {
  if (x < std::numeric_limits<std::int64_t>::min() || x > std::numeric_limits<std::int64_t>::max())
    return Null{};
  return static_cast<std::int64_t>(x);
}
inline Datum real(double x) {
  if (std::isnan(x) || std::abs(x) >= 1e150) return Null{};
  volatile double sum = x + 0x1p-448;
  return sum - 0x1p-448;
}

inline Datum as_integer(const std::string& text) {
  Reader r{text};
  const bool negative = r.take("+-") && text[0] == '-';
  const std::size_t start = r.at;
  const int n = r.digits();
  if (n < 1 || n > 19 || !r.done()) return Null{};
  Wide value = 0;
  for (std::size_t i = start; i < text.size(); ++i) value = 10 * value + (text[i] - '0');
  return whole(negative ? -value : value);
}
inline Datum as_real(const std::string& text) {
  Reader r{text};
  r.take("+-");
  const int before = r.digits();
  const bool point = r.take(".");
  const int after = point ? r.digits() : 0;
  if (before > 40 || after > 40 || before + after == 0) return Null{};
  if (r.take("eE")) {
    r.take("+-");
    const std::size_t start = r.at;
    const int n = r.digits();
    if (n < 1 || n > 3 || (n == 3 && text[start] > '1')) return Null{};
  }
  if (!r.done()) return Null{};
  return real(std::strtod(text.c_str(), nullptr));
}
inline Datum as_boolean(const std::string& text) {
  std::string word = text;
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (word == "true" || word == "t" || word == "1") return true;
  if (word == "false" || word == "f" || word == "0") return false;
  return Null{};
}

inline Datum cast(const Datum& x, Type to) {
  if (is_null(x)) return Null{};
  if (const auto* text = std::get_if<std::string>(&x)) {
    switch (to) {
      case Type::boolean: return as_boolean(*text);
      case Type::integer: return as_integer(*text);
      case Type::real: return as_real(*text);
      case Type::date: return as_date(*text);
      case Type::timestamp: return as_moment(*text);
      default: return x;
    }
  }
  if (const auto* i = std::get_if<std::int64_t>(&x)) {
    if (to == Type::real) return static_cast<double>(*i);
    if (to == Type::boolean) return *i != 0;
    if (to == Type::text) return std::to_string(*i);
  }
  if (const auto* r = std::get_if<double>(&x)) {
    if (to == Type::integer) {
      const double nearest = std::nearbyint(*r);
      if (nearest < -0x1p63 || nearest >= 0x1p63) return Null{};
      return static_cast<std::int64_t>(nearest);
    }
  }
  if (const auto* b = std::get_if<bool>(&x)) {
    if (to == Type::integer) return std::int64_t{*b};
    if (to == Type::text) return std::string(*b ? "true" : "false");
  }
  if (const auto* d = std::get_if<Day>(&x)) {
    if (to == Type::text) return date_text(d->days);
    if (to == Type::timestamp) return Moment{d->days * day_length};
  }
  if (const auto* m = std::get_if<Moment>(&x)) {
    if (to == Type::date) return Day{floored(m->microseconds, day_length)};
  }
  return x;
}

inline Datum part_of(const std::string& part, const Datum& x) {
  if (is_null(x)) return Null{};
  const auto* moment = std::get_if<Moment>(&x);
  const std::int64_t days =
      moment != nullptr ? floored(moment->microseconds, day_length) : std::get<Day>(x).days;
  const std::int64_t time = moment != nullptr ? moment->microseconds - days * day_length : 0;
  const auto date = date_of(days);
  const int year = static_cast<int>(date.year());
  const auto month = static_cast<std::int64_t>(static_cast<unsigned>(date.month()));
  const std::int64_t dow = ((days + 4) % 7 + 7) % 7;
  const std::int64_t isodow = dow == 0 ? 7 : dow;
  const std::int64_t thursday = days - isodow + 4;
  const int isoyear = static_cast<int>(date_of(thursday).year());
  if (part == "year") return std::int64_t{year};
  if (part == "month") return month;
  if (part == "quarter") return (month + 2) / 3;
  if (part == "day") return static_cast<std::int64_t>(static_cast<unsigned>(date.day()));
  if (part == "dow") return dow;
  if (part == "isodow") return isodow;
  if (part == "doy") return days - *days_of(year, 1, 1) + 1;
  if (part == "isoyear") return std::int64_t{isoyear};
  if (part == "week") return (thursday - *days_of(isoyear, 1, 1)) / 7 + 1;
  if (part == "hour") return time / 3'600'000'000;
  if (part == "minute") return time / 60'000'000 % 60;
  return time / 1'000'000 % 60;
}

// Three-valued logic: NULL if one operand is NULL.
inline Datum compare(const std::string& sign, const Datum& x, const Datum& y) {
  if (is_null(x) || is_null(y)) return Null{};
  if (sign == "=") return x == y;
  if (sign == "<>" || sign == "!=") return x != y;
  if (sign == "<") return x < y;
  if (sign == "<=") return x <= y;
  if (sign == ">") return x > y;
  return x >= y;
}
inline bool is_true(const Datum& x) { return !is_null(x) && std::get<bool>(x); }
inline bool is_false(const Datum& x) { return !is_null(x) && !std::get<bool>(x); }
inline Datum both(const Datum& x, const Datum& y) {
  if (is_false(x) || is_false(y)) return false;
  if (is_null(x) || is_null(y)) return Null{};
  return true;
}
inline Datum opposite(const Datum& x) { return is_null(x) ? x : Datum(!std::get<bool>(x)); }
inline Datum either(const Datum& x, const Datum& y) {
  return opposite(both(opposite(x), opposite(y)));
}

inline Datum compute(char sign, const Datum& x, const Datum& y, bool as_reals) {
  if (is_null(x) || is_null(y)) return Null{};
  if (as_reals) {
    const double a = std::get<double>(cast(x, Type::real));
    const double b = std::get<double>(cast(y, Type::real));
    if (sign == '+') return real(a + b);
    if (sign == '-') return real(a - b);
    if (sign == '*') return real(a * b);
    return b == 0 ? Datum(Null{}) : real(a / b);
  }
  if (const auto* day = std::get_if<Day>(&x)) return day->days - std::get<Day>(y).days;
  const Wide a = std::get<std::int64_t>(x);
  const Wide b = std::get<std::int64_t>(y);
  return whole(sign == '+' ? a + b : sign == '-' ? a - b : a * b);
}

}  // namespace sotto::testing
