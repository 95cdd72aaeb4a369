// Random row expressions and awkward rows, with what each expression must give for each row, computed in plain C++.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sotto/data/expression.hpp"

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
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)}, std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return sys_days{date}.time_since_epoch().count();
}
inline std::chrono::year_month_day date_of(std::int64_t days) { return std::chrono::sys_days{std::chrono::days{days}}; }
inline std::int64_t floored(std::int64_t x, std::int64_t by) { return x / by - (x % by < 0 ? 1 : 0); }

inline std::string date_text(std::int64_t days) {
  const auto date = date_of(days);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}
inline std::string moment_text(std::int64_t microseconds) {
  const std::int64_t days = floored(microseconds, day_length);
  const std::int64_t rest = microseconds - days * day_length;
  char text[32];
  std::snprintf(text, sizeof text, " %02d:%02d:%02d.%06d", static_cast<int>(rest / 3'600'000'000), static_cast<int>(rest / 60'000'000 % 60),
                static_cast<int>(rest / 1'000'000 % 60), static_cast<int>(rest % 1'000'000));
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
        while (width < 6 && r.take("0123456789")) fraction = 10 * fraction + (text[r.at - 1] - '0'), ++width;
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

inline Datum whole(__int128 x) {
  if (x < std::numeric_limits<std::int64_t>::min() || x > std::numeric_limits<std::int64_t>::max()) return Null{};
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
  __int128 value = 0;
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
  const std::int64_t days = moment != nullptr ? floored(moment->microseconds, day_length) : std::get<Day>(x).days;
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

// Three-valued: NULL where either is.
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
inline Datum either(const Datum& x, const Datum& y) { return opposite(both(opposite(x), opposite(y))); }

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
  const __int128 a = std::get<std::int64_t>(x);
  const __int128 b = std::get<std::int64_t>(y);
  return whole(sign == '+' ? a + b : sign == '-' ? a - b : a * b);
}

// --- rows ---

using Row = std::vector<Datum>;

inline const std::vector<Column>& row_columns() {
  // a name that the generated SQL uses itself, words of SQL, quotes, and other scripts
  static const std::vector<Column> columns{
      {"b", Type::boolean},   {"select", Type::boolean},     {"i", Type::integer}, {"j", Type::integer},    {"k", Type::integer}, {"r", Type::real},
      {"x", Type::real},      {"größe", Type::real},         {"t", Type::text},    {"we\"ird", Type::text}, {"d", Type::date},    {"end", Type::date},
      {"s", Type::timestamp}, {"timestamp", Type::timestamp}};
  return columns;
}

// A stored value: as SQL of each engine, and what the expression sees of it.
struct Stored {
  std::string duckdb;
  std::string postgresql;
  Datum seen;
};

class Random {
 public:
  explicit Random(std::uint32_t seed) : bits_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(bits_); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List>
  auto pick(const List& list) -> std::decay_t<decltype(list[0])> {
    return list[below(std::size(list))];
  }

  std::int64_t integer() {
    static constexpr std::array<std::int64_t, 26> awkward{0,
                                                          1,
                                                          -1,
                                                          2,
                                                          3,
                                                          -7,
                                                          10,
                                                          100,
                                                          255,
                                                          1LL << 31,
                                                          -(1LL << 31),
                                                          (1LL << 53) - 1,
                                                          1LL << 53,
                                                          (1LL << 53) + 1,
                                                          -(1LL << 53) - 1,
                                                          3037000500,
                                                          3037000499,
                                                          -3037000500,
                                                          INT64_MAX,
                                                          INT64_MAX - 1,
                                                          INT64_MIN,
                                                          INT64_MIN + 1,
                                                          1LL << 62,
                                                          -(1LL << 62),
                                                          999999999999,
                                                          9223372036854774784};
    if (one_in(3)) return static_cast<std::int64_t>(bits_() % 20) - 10;
    if (one_in(6)) return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits_()) << 32U | bits_());
    return pick(awkward);
  }
  double number() {
    static constexpr double inf = std::numeric_limits<double>::infinity();
    static constexpr std::array<double, 40> awkward{0.0,      -0.0,     1.0,    -1.0,    0.5,     1.5,      2.5,      -2.5,      0.1,    1e16,
                                                    1e22,     -1e22,    1e149,  9.9e149, 1e150,   -1e150,   1.1e150,  1e-149,    1e-150, -1e-150,
                                                    1e-151,   3e-151,   1e-200, 1e-308,  5e-324,  -5e-324,  1e308,    -1e308,    inf,    -inf,
                                                    0x1p-448, 0x1p-420, 0x1p53, 0x1p63,  -0x1p63, 0x1p-500, 0x1p-501, -0x1p-502, 1e75,   1e-75};
    if (one_in(8)) return std::numeric_limits<double>::quiet_NaN();
    if (one_in(4)) return static_cast<double>(static_cast<int>(bits_() % 2000) - 1000) / 8;
    if (one_in(4)) return std::ldexp(1 + static_cast<double>(bits_()) / 0x1p32, static_cast<int>(below(2040)) - 1020) * (one_in(2) ? 1 : -1);
    return pick(awkward);
  }
  // A constant: within the language's range.
  double constant_real() {
    for (;;) {
      const double x = number();
      if (x == 0 || (std::abs(x) >= 1e-150 && std::abs(x) < 1e150)) return x == 0 ? 0.0 : x;
    }
  }
  std::string text() {
    static const std::array<std::string, 62> awkward{"",
                                                     " ",
                                                     "a",
                                                     "A",
                                                     "b",
                                                     "ä",
                                                     "Z",
                                                     "z",
                                                     "'",
                                                     "''",
                                                     "\\",
                                                     "\\'",
                                                     "\\\\",
                                                     "\"",
                                                     "--",
                                                     "/*",
                                                     ";",
                                                     "%",
                                                     "$$",
                                                     "é",
                                                     "日本",
                                                     "🦆",
                                                     "a\nb",
                                                     "\t",
                                                     "true",
                                                     "TRUE",
                                                     "f",
                                                     "1",
                                                     "0",
                                                     "yes",
                                                     "tru",
                                                     "42",
                                                     "-42",
                                                     "+7",
                                                     " 42",
                                                     "42 ",
                                                     "9223372036854775807",
                                                     "9223372036854775808",
                                                     "-9223372036854775808",
                                                     "-9223372036854775809",
                                                     "00012",
                                                     "1e5",
                                                     "1.5",
                                                     "-.5",
                                                     "5.",
                                                     ".",
                                                     "1e199",
                                                     "1e200",
                                                     "1e-199",
                                                     "-1e150",
                                                     "1e149",
                                                     "0.1",
                                                     "NaN",
                                                     "inf",
                                                     "1_000",
                                                     "0.30000000000000004",
                                                     "2024-02-29",
                                                     "2023-02-29",
                                                     "1900-02-29",
                                                     "2000-02-29",
                                                     "42\n",
                                                     "9007199254740993"};
    static const std::array<std::string, 22> moments{"0001-01-01",
                                                     "9999-12-31",
                                                     "0000-01-01",
                                                     "2026-13-01",
                                                     "2026-04-31",
                                                     "infinity",
                                                     "today",
                                                     "2026-1-1",
                                                     "10000-01-01",
                                                     "2026-01-31 23:59:59",
                                                     "2026-01-31T23:59",
                                                     "2026-01-31 24:00:00",
                                                     "2026-01-31 23:59:60",
                                                     "2026-01-31 10:20:30.123456",
                                                     "2026-01-31 10:20:30.1234567",
                                                     "2026-01-31 10:20:30.5",
                                                     "2026-01-31 10:20:30.",
                                                     "9999-12-31 23:59:59.999999",
                                                     "0001-01-01 00:00:00",
                                                     "2026-01-31 1:2:3",
                                                     "epoch",
                                                     "0400-02-29"};
    if (one_in(4)) return pick(moments);
    if (one_in(8)) return date_text(days());
    if (one_in(8)) return moment_text(moment());
    if (one_in(8)) return std::to_string(integer());
    if (one_in(8)) {  // a number with many digits
      std::string digits = one_in(2) ? "-" : "";
      for (std::size_t n = 1 + below(45); n > 0; --n) digits += static_cast<char>('0' + below(10));
      if (one_in(2)) digits += ".";
      for (std::size_t n = below(45); n > 0; --n) digits += static_cast<char>('0' + below(10));
      if (one_in(2)) digits += "e" + std::to_string(static_cast<int>(below(460)) - 230);
      return digits;
    }
    return pick(awkward);
  }
  std::int64_t days() {
    static const std::array<std::int64_t, 8> awkward{*days_of(1, 1, 1),      *days_of(9999, 12, 31), *days_of(2024, 2, 29), *days_of(1970, 1, 1),
                                                     *days_of(1969, 12, 31), *days_of(2020, 12, 31), *days_of(2021, 1, 3),  *days_of(1582, 10, 10)};
    if (one_in(2)) return pick(awkward);
    return *days_of(1, 1, 1) + static_cast<std::int64_t>(below(3'652'059));
  }
  std::int64_t moment() {
    static constexpr std::array<std::int64_t, 7> times{0, 1, day_length - 1, day_length / 2, 36'000'500'000, 59'500'000, 59'999'999};
    return days() * day_length + (one_in(2) ? pick(times) : static_cast<std::int64_t>(below(day_length)));
  }

  Stored stored(Type type) {
    const auto the_same = [](const std::string& sql, const Datum& seen) { return Stored{sql, sql, seen}; };
    static const std::array<const char*, 6> names{"BOOLEAN", "INT8", "FLOAT8", "TEXT", "DATE", "TIMESTAMP"};
    const std::string name = names[static_cast<std::size_t>(type)];
    if (one_in(7)) return the_same("CAST(NULL AS " + name + ")", Null{});
    const auto typed = [&](const std::string& text, const Datum& seen) { return the_same("CAST('" + text + "' AS " + name + ")", seen); };
    switch (type) {
      case Type::boolean: return one_in(2) ? the_same("TRUE", true) : the_same("FALSE", false);
      case Type::integer: {
        const std::int64_t x = integer();
        return typed(std::to_string(x), x);
      }
      case Type::real: {
        const double x = number();
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", x);
        return typed(text, real(x));
      }
      case Type::text: {
        const std::string x = text();
        std::string doubled;
        for (const char c : x) doubled += c == '\'' ? "''" : std::string(1, c);
        return typed(doubled, x);
      }
      case Type::date:
        if (one_in(6)) return typed(one_in(2) ? "infinity" : "-infinity", Null{});
        if (one_in(8)) return {"CAST('0044-03-15 (BC)' AS DATE)", "CAST('0044-03-15 BC' AS DATE)", Null{}};
        if (one_in(8)) return typed("10000-01-01", Null{});
        {
          const std::int64_t x = days();
          return typed(date_text(x), Day{x});
        }
      default:
        if (one_in(6)) return typed(one_in(2) ? "infinity" : "-infinity", Null{});
        if (one_in(8)) return {"CAST('0044-03-15 (BC) 10:00:00' AS TIMESTAMP)", "CAST('0044-03-15 10:00:00 BC' AS TIMESTAMP)", Null{}};
        if (one_in(8)) return typed("10000-01-01 00:00:00", Null{});
        const std::int64_t x = moment();
        return typed(moment_text(x), Moment{x});
    }
  }

 private:
  std::mt19937 bits_;
};

// --- expressions ---

struct RandomExpression {
  std::string text;
  Type type;
  std::function<Datum(const Row&)> value;
};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  RandomExpression any(int depth) {
    static constexpr std::array<Type, 6> types{Type::boolean, Type::integer, Type::real, Type::text, Type::date, Type::timestamp};
    return of(random_.pick(types), depth);
  }

  RandomExpression of(Type type, int depth) {
    if (depth <= 0 || random_.one_in(8)) return leaf(type);
    if (random_.one_in(6)) return cases(type, depth);
    if (random_.one_in(10)) return coalesce(type, depth);
    if (type != Type::boolean && random_.one_in(8)) return extreme(type, depth);
    if (random_.one_in(6)) return cast_to(type, depth);
    switch (type) {
      case Type::boolean: return boolean(depth);
      case Type::integer: return integer(depth);
      case Type::real: return number(depth);
      default: return random_.one_in(2) ? leaf(type) : cast_to(type, depth);
    }
  }

 private:
  using E = RandomExpression;

  std::string word(std::string text) {  // in any case
    if (random_.one_in(2)) {
      for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    return text;
  }
  static std::string in(const E& e) { return "(" + e.text + ")"; }

  E leaf(Type type) {
    if (random_.one_in(3)) return constant(type);
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < row_columns().size(); ++i) {
      if (row_columns()[i].type == type) fitting.push_back(i);
    }
    const std::size_t i = random_.pick(fitting);
    std::string doubled;
    for (const char c : row_columns()[i].name) doubled += c == '"' ? "\"\"" : std::string(1, c);
    return {"\"" + doubled + "\"", type, [i](const Row& row) { return row[i]; }};
  }

  E constant(Type type) {
    const auto fixed = [type](const std::string& text, const Datum& x) { return E{text, type, [x](const Row&) { return x; }}; };
    if (random_.one_in(12)) {
      static const std::array<const char*, 6> names{"boolean", "integer", "real", "text", "date", "timestamp"};
      return fixed(word("TRY_CAST") + "(NULL AS " + names[static_cast<std::size_t>(type)] + ")", Null{});
    }
    switch (type) {
      case Type::boolean: return random_.one_in(2) ? fixed(word("TRUE"), true) : fixed(word("FALSE"), false);
      case Type::integer: {
        const std::int64_t x = random_.integer();
        return fixed(std::to_string(x), x);
      }
      case Type::real: {
        const double x = random_.constant_real();
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", x);
        const std::string shown = text;
        return fixed(shown.find_first_of(".e") == std::string::npos ? shown + "." : shown, x);
      }
      case Type::text: {
        const std::string x = random_.text();
        std::string doubled;
        for (const char c : x) doubled += c == '\'' ? "''" : std::string(1, c);
        return fixed("'" + doubled + "'", x);
      }
      case Type::date: {
        const std::int64_t x = random_.days();
        return fixed(word("DATE") + " '" + date_text(x) + "'", Day{x});
      }
      default: {
        const std::int64_t x = random_.moment();
        return fixed(word("TIMESTAMP") + "'" + moment_text(x) + "'", Moment{x});
      }
    }
  }

  // Two or more of one type; numbers may mix, and then count as reals.
  std::vector<E> alike(Type type, std::size_t count, int depth) {
    std::vector<E> all;
    const bool mixed = type == Type::real && random_.one_in(2);
    for (std::size_t i = 0; i < count; ++i) {
      if (mixed && i > 0 && random_.one_in(2)) {
        E e = of(Type::integer, depth);
        all.push_back({e.text, Type::real, [e](const Row& row) { return cast(e.value(row), Type::real); }});
      } else {
        all.push_back(of(type, depth));
      }
    }
    return all;
  }
  Type any_type() {
    static constexpr std::array<Type, 6> types{Type::boolean, Type::integer, Type::real, Type::text, Type::date, Type::timestamp};
    return random_.pick(types);
  }

  E boolean(int depth) {
    switch (random_.below(7)) {
      case 0: {
        const E a = of(Type::boolean, depth - 1), b = of(Type::boolean, depth - 1), c = of(Type::boolean, depth - 1);
        return {in(a) + word(" AND ") + in(b) + word(" AND ") + in(c), Type::boolean,
                [=](const Row& row) { return both(both(a.value(row), b.value(row)), c.value(row)); }};
      }
      case 1: {
        const E a = of(Type::boolean, depth - 1), b = of(Type::boolean, depth - 1);
        return {in(a) + word(" OR ") + in(b), Type::boolean, [=](const Row& row) { return either(a.value(row), b.value(row)); }};
      }
      case 2: {
        const E a = of(Type::boolean, depth - 1);
        return {word("NOT ") + in(a), Type::boolean, [=](const Row& row) { return opposite(a.value(row)); }};
      }
      case 3: {
        const E a = any(depth - 1);
        const bool no = random_.one_in(2);
        return {in(a) + word(no ? " IS NOT NULL" : " IS NULL"), Type::boolean, [=](const Row& row) { return is_null(a.value(row)) != no; }};
      }
      case 4: return member(depth);
      case 5: {
        const auto all = alike(any_type(), 3, depth - 1);
        const bool no = random_.one_in(3);
        return {in(all[0]) + word(no ? " NOT BETWEEN " : " BETWEEN ") + in(all[1]) + word(" AND ") + in(all[2]), Type::boolean, [=](const Row& row) {
                  const Datum x = all[0].value(row);
                  const Datum inside = both(compare(">=", x, all[1].value(row)), compare("<=", x, all[2].value(row)));
                  return no ? opposite(inside) : inside;
                }};
      }
      default: {
        static const std::array<std::string, 7> signs{"=", "<>", "!=", "<", "<=", ">", ">="};
        const std::string sign = random_.pick(signs);
        const auto all = alike(any_type(), 2, depth - 1);
        return {in(all[0]) + sign + in(all[1]), Type::boolean, [=](const Row& row) { return compare(sign, all[0].value(row), all[1].value(row)); }};
      }
    }
  }

  E member(int depth) {
    const bool no = random_.one_in(3);
    const auto all = alike(any_type(), 2 + random_.below(4), depth - 1);
    std::string text = in(all[0]) + word(no ? " NOT IN (" : " IN (");
    for (std::size_t i = 1; i < all.size(); ++i) text += (i == 1 ? "" : ", ") + all[i].text;
    return {text + ")", Type::boolean, [=](const Row& row) {
              Datum found = false;
              const Datum x = all[0].value(row);
              for (std::size_t i = 1; i < all.size(); ++i) found = either(found, compare("=", x, all[i].value(row)));
              return no ? opposite(found) : found;
            }};
  }

  E integer(int depth) {
    switch (random_.below(6)) {
      case 0: {
        const E a = of(Type::integer, depth - 1);
        return {"-" + in(a), Type::integer, [=](const Row& row) { return compute('-', std::int64_t{0}, a.value(row), false); }};
      }
      case 1: {
        const E a = of(Type::integer, depth - 1);
        return {word("ABS") + in(a), Type::integer, [=](const Row& row) {
                  const Datum x = a.value(row);
                  return !is_null(x) && std::get<std::int64_t>(x) < 0 ? compute('-', std::int64_t{0}, x, false) : x;
                }};
      }
      case 2: {
        const E a = of(Type::date, depth - 1), b = of(Type::date, depth - 1);
        return {in(a) + " - " + in(b), Type::integer, [=](const Row& row) { return compute('-', a.value(row), b.value(row), false); }};
      }
      case 3: {
        static const std::array<std::string, 12> parts{"year",   "quarter", "month",   "week", "day",    "dow",
                                                       "isodow", "doy",     "isoyear", "hour", "minute", "second"};
        const std::size_t i = random_.below(parts.size());
        const std::string part = parts[i];
        const E a = of(i < 9 && random_.one_in(2) ? Type::date : Type::timestamp, depth - 1);
        return {word("EXTRACT(") + part + word(" FROM ") + a.text + ")", Type::integer, [=](const Row& row) { return part_of(part, a.value(row)); }};
      }
      default: {
        const char sign = random_.pick(std::string("+-*"));
        const E a = of(Type::integer, depth - 1), b = of(Type::integer, depth - 1);
        return {in(a) + sign + in(b), Type::integer, [=](const Row& row) { return compute(sign, a.value(row), b.value(row), false); }};
      }
    }
  }

  E number(int depth) {
    switch (random_.below(6)) {
      case 0: {
        const E a = of(Type::real, depth - 1);
        const std::size_t which = random_.below(3);
        static const std::array<std::string, 3> names{"FLOOR", "ABS", "-"};
        return {word(names[which]) + in(a), Type::real, [=](const Row& row) -> Datum {
                  const Datum x = a.value(row);
                  if (is_null(x)) return x;
                  const double r = std::get<double>(x);
                  return which == 0 ? std::floor(r) : which == 1 ? std::abs(r) : 0 - r;
                }};
      }
      case 1: {
        const E a = of(Type::integer, depth - 1), b = of(Type::integer, depth - 1);
        return {in(a) + "/" + in(b), Type::real, [=](const Row& row) { return compute('/', a.value(row), b.value(row), true); }};
      }
      default: {
        const char sign = random_.pick(std::string("+-*/"));
        const E a = of(Type::real, depth - 1), b = of(random_.one_in(3) ? Type::integer : Type::real, depth - 1);
        return {in(a) + sign + in(b), Type::real, [=](const Row& row) { return compute(sign, a.value(row), b.value(row), true); }};
      }
    }
  }

  E cases(Type type, int depth) {
    const bool simple = random_.one_in(2);
    const std::size_t count = 1 + random_.below(3);
    auto results = alike(type, count + 1, depth - 1);
    if (random_.one_in(3)) results.back() = {word("NULL"), type, [](const Row&) -> Datum { return Null{}; }};
    const bool has_else = random_.one_in(2);
    const auto conditions = simple ? alike(any_type(), count + 1, depth - 1) : alike(Type::boolean, count + 1, depth - 1);
    std::string text = word("CASE");
    if (simple) text += " " + conditions[count].text;
    for (std::size_t i = 0; i < count; ++i) text += word(" WHEN ") + conditions[i].text + word(" THEN ") + results[i].text;
    if (has_else) text += word(" ELSE ") + results[count].text;
    return {text + word(" END"), type, [=](const Row& row) -> Datum {
              for (std::size_t i = 0; i < count; ++i) {
                const Datum c = conditions[i].value(row);
                if (is_true(simple ? compare("=", conditions[count].value(row), c) : c)) return results[i].value(row);
              }
              return has_else ? results[count].value(row) : Null{};
            }};
  }

  E coalesce(Type type, int depth) {
    const auto all = alike(type, 2 + random_.below(2), depth - 1);
    return {word("COALESCE") + list(all), type, [=](const Row& row) -> Datum {
              for (const E& e : all) {
                if (const Datum x = e.value(row); !is_null(x)) return x;
              }
              return Null{};
            }};
  }

  E extreme(Type type, int depth) {
    const bool least = random_.one_in(2);
    const auto all = alike(type, 2 + random_.below(2), depth - 1);
    return {word(least ? "LEAST" : "GREATEST") + list(all), type, [=](const Row& row) {
              Datum best;
              for (const E& e : all) {
                const Datum x = e.value(row);
                if (is_null(best) || (!is_null(x) && (least ? x < best : x > best))) best = x;
              }
              return best;
            }};
  }

  static std::string list(const std::vector<E>& all) {
    std::string text = "(";
    for (const E& e : all) text += (text.size() == 1 ? "" : ", ") + e.text;
    return text + ")";
  }

  E cast_to(Type type, int depth) {
    static const std::array<std::vector<Type>, 6> from{{{Type::text, Type::integer},
                                                        {Type::text, Type::real, Type::boolean},
                                                        {Type::text, Type::integer},
                                                        {Type::integer, Type::boolean, Type::date},
                                                        {Type::text, Type::timestamp},
                                                        {Type::text, Type::date}}};
    static const std::array<const char*, 6> names{"BOOLEAN", "INTEGER", "REAL", "TEXT", "DATE", "TIMESTAMP"};
    const std::size_t i = static_cast<std::size_t>(type);
    const E a = of(random_.one_in(12) ? type : random_.pick(from[i]), depth - 1);
    return {word("TRY_CAST(") + a.text + word(std::string(" AS ") + names[i]) + ")", type, [=](const Row& row) { return cast(a.value(row), type); }};
  }

  Random& random_;
};

}  // namespace sotto::testing
