// Rows of values at the limits of types and engines, and constants of the same kind.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "reference.hpp"

namespace sotto::testing {

using Row = std::vector<Datum>;

inline const std::vector<Column>& row_columns() {
  // names that the generated SQL uses, reserved words of SQL, quotes, and other scripts
  static const std::vector<Column> columns{{"b", Type::boolean},   {"select", Type::boolean},
                                           {"i", Type::integer},   {"j", Type::integer},
                                           {"k", Type::integer},   {"r", Type::real},
                                           {"x", Type::real},      {"größe", Type::real},
                                           {"t", Type::text},      {"we\"ird", Type::text},
                                           {"d", Type::date},      {"end", Type::date},
                                           {"s", Type::timestamp}, {"timestamp", Type::timestamp}};
  return columns;
}

// A stored value, as SQL of each engine and as expressions see it.
struct Stored {
  std::string duckdb;
  std::string postgresql;
  std::string spark;
  Datum seen;
  [[nodiscard]] const std::string& in(Dialect dialect) const {
    return dialect == Dialect::duckdb       ? duckdb
           : dialect == Dialect::postgresql ? postgresql
                                            : spark;
  }
};

inline std::string type_sql(Type type, Dialect dialect) {
  static const std::array<const char*, 6> names{"BOOLEAN", "INT8", "FLOAT8",
                                                "TEXT",    "DATE", "TIMESTAMP"};
  static const std::array<const char*, 6> of_spark{"BOOLEAN", "BIGINT", "DOUBLE",
                                                   "STRING",  "DATE",   "TIMESTAMP_NTZ"};
  return (dialect == Dialect::spark ? of_spark : names)[static_cast<std::size_t>(type)];
}

// Returns a text as SQL: for PostgreSQL with escaped backslashes, for Spark as its bytes.
inline std::string text_sql(const std::string& text, Dialect dialect) {
  if (dialect == Dialect::spark) {
    std::string hex;
    char two[3];
    for (const char c : text) {
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      hex += two;
    }
    return "CAST(X'" + hex + "' AS STRING)";
  }
  const bool postgresql = dialect == Dialect::postgresql;
  std::string out = postgresql ? "CAST(E'" : "CAST('";
  for (const char c : text)
    out += c == '\'' || (postgresql && c == '\\') ? std::string(2, c) : std::string(1, c);
  return out + "' AS TEXT)";
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : bits_(seed) {}
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(bits_);
  }
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
    if (one_in(6))
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(bits_()) << 32U | bits_());
    return pick(awkward);
  }
  double number() {
    static constexpr double inf = std::numeric_limits<double>::infinity();
    static constexpr std::array<double, 40> awkward{
        0.0,     -0.0,    1.0,     -1.0,     0.5,      1.5,       2.5,      -2.5,
        0.1,     1e16,    1e22,    -1e22,    1e149,    9.9e149,   1e150,    -1e150,
        1.1e150, 1e-149,  1e-150,  -1e-150,  1e-151,   3e-151,    1e-200,   1e-308,
        5e-324,  -5e-324, 1e308,   -1e308,   inf,      -inf,      0x1p-448, 0x1p-420,
        0x1p53,  0x1p63,  -0x1p63, 0x1p-500, 0x1p-501, -0x1p-502, 1e75,     1e-75};
    if (one_in(8)) return std::numeric_limits<double>::quiet_NaN();
    if (one_in(4)) return static_cast<double>(static_cast<int>(bits_() % 2000) - 1000) / 8;
    if (one_in(4))
      return std::ldexp(1 + static_cast<double>(bits_()) / 0x1p32,
                        static_cast<int>(below(2040)) - 1020) *
             (one_in(2) ? 1 : -1);
    return pick(awkward);
  }
  // Returns a constant in the range of the language.
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
    static const std::array<std::int64_t, 8> awkward{
        *days_of(1, 1, 1),    *days_of(9999, 12, 31), *days_of(2024, 2, 29),
        *days_of(1970, 1, 1), *days_of(1969, 12, 31), *days_of(2020, 12, 31),
        *days_of(2021, 1, 3), *days_of(1582, 10, 10)};
    if (one_in(2)) return pick(awkward);
    return *days_of(1, 1, 1) + static_cast<std::int64_t>(below(3'652'059));
  }
  std::int64_t moment() {
    static constexpr std::array<std::int64_t, 7> times{
        0, 1, day_length - 1, day_length / 2, 36'000'500'000, 59'500'000, 59'999'999};
    return days() * day_length +
           (one_in(2) ? pick(times) : static_cast<std::int64_t>(below(day_length)));
  }

  Stored stored(Type type) {
    const auto of_all = [&](const std::string& duckdb, const std::string& postgresql,
                            const std::string& spark, const Datum& seen) {
      const auto typed = [&](const std::string& text, Dialect dialect) {
        return "CAST('" + text + "' AS " + type_sql(type, dialect) + ")";
      };
      return Stored{typed(duckdb, Dialect::duckdb), typed(postgresql, Dialect::postgresql),
                    typed(spark, Dialect::spark), seen};
    };
    const auto typed = [&](const std::string& text, const Datum& seen) {
      return of_all(text, text, text, seen);
    };
    if (one_in(7)) {
      const auto null = [&](Dialect dialect) {
        return "CAST(NULL AS " + type_sql(type, dialect) + ")";
      };
      return {null(Dialect::duckdb), null(Dialect::postgresql), null(Dialect::spark), Null{}};
    }
    switch (type) {
      case Type::boolean:
        return one_in(2) ? Stored{"TRUE", "TRUE", "TRUE", true}
                         : Stored{"FALSE", "FALSE", "FALSE", false};
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
        return {text_sql(x, Dialect::duckdb), text_sql(x, Dialect::postgresql),
                text_sql(x, Dialect::spark), x};
      }
      case Type::date:
        if (one_in(6)) {
          const bool late = one_in(2);
          const std::string end = late ? "infinity" : "-infinity";
          return of_all(end, end, late ? "+290000-01-01" : "-290000-01-01", Null{});
        }
        if (one_in(8)) return of_all("0044-03-15 (BC)", "0044-03-15 BC", "-0043-03-15", Null{});
        if (one_in(8)) return of_all("10000-01-01", "10000-01-01", "+10000-01-01", Null{});
        {
          const std::int64_t x = days();
          return typed(date_text(x), Day{x});
        }
      default:
        if (one_in(6)) {
          const bool late = one_in(2);
          const std::string end = late ? "infinity" : "-infinity";
          return of_all(end, end, late ? "+290000-01-01 00:00:00" : "-290000-01-01 00:00:00",
                        Null{});
        }
        if (one_in(8))
          return of_all("0044-03-15 (BC) 10:00:00", "0044-03-15 10:00:00 BC",
                        "-0043-03-15 10:00:00", Null{});
        if (one_in(8))
          return of_all("10000-01-01 00:00:00", "10000-01-01 00:00:00", "+10000-01-01 00:00:00",
                        Null{});
        const std::int64_t x = moment();
        return typed(moment_text(x), Moment{x});
    }
  }

 private:
  std::mt19937 bits_;
};

}  // namespace sotto::testing
