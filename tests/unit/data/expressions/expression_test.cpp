// Row expressions: precedence, types, canonical texts, SQL, and errors.
#include "sotto/data/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

const std::vector<Column> people{{"age", Type::integer},    {"income", Type::real},
                                 {"name", Type::text},      {"born", Type::date},
                                 {"seen", Type::timestamp}, {"member", Type::boolean},
                                 {"values", Type::integer}, {"End", Type::real}};

std::string canonical(const std::string& text) { return Expression::parse(text, people).text(); }

// Returns "column: message" of the error, or "" if the text is accepted.
std::string refusal(const std::string& text) {
  try {
    (void)Expression::parse(text, people);
    return "";
  } catch (const ParseError& e) {
    return std::to_string(e.column()) + ": " + e.what();
  }
}

TEST(Expression, PrecedenceIsThatOfSql) {
  EXPECT_EQ(canonical("age+1*2-3"), "age + 1 * 2 - 3");
  EXPECT_EQ(canonical("age-(1-2)"), "age - (1 - 2)");
  EXPECT_EQ(canonical("(age-1)-2"), "age - 1 - 2");
  EXPECT_EQ(canonical("age/(2/income)"), "age / (2 / income)");
  EXPECT_EQ(canonical("-age*2"), "-age * 2");
  EXPECT_EQ(canonical("-(age*2)"), "-(age * 2)");
  EXPECT_EQ(canonical("-(5)"), "-(5)");
  EXPECT_EQ(canonical("age - -5"), "age - -5");
  EXPECT_EQ(canonical("not member or member and age=1"), "NOT member OR member AND age = 1");
  EXPECT_EQ(canonical("not (member or member)"), "NOT (member OR member)");
  EXPECT_EQ(canonical("(member or member) and member"), "(member OR member) AND member");
  EXPECT_EQ(canonical("member and (member and member)"), "member AND member AND member");
  EXPECT_EQ(canonical("not age is null"), "age IS NOT NULL");
  EXPECT_EQ(canonical("not age in (1,2)"), "age NOT IN (1, 2)");
  EXPECT_EQ(canonical("age not between 1 and 2 and member"), "age NOT BETWEEN 1 AND 2 AND member");
  EXPECT_EQ(canonical("(age = 1) = member"), "(age = 1) = member");
  EXPECT_EQ(canonical("(not member) = member"), "(NOT member) = member");
}

TEST(Expression, HasOneCanonicalText) {
  EXPECT_EQ(canonical("case when member then null else 1 end"),
            "CASE WHEN member THEN NULL ELSE 1 END");
  EXPECT_EQ(canonical("Case age When 1 Then 'x' End"), "CASE age WHEN 1 THEN 'x' END");
  EXPECT_EQ(canonical("FLOOR(income)"), "floor(income)");
  EXPECT_EQ(canonical("\"age\""), "age");
  EXPECT_EQ(canonical("AGE"), "age");
  EXPECT_EQ(canonical("\"End\" + 1"), "\"End\" + 1");
  EXPECT_EQ(canonical("values"), "\"values\"");
  EXPECT_EQ(canonical("income * 1.50e0"), "income * 1.5");
  EXPECT_EQ(canonical("income * 2."), "income * 2.0");
  EXPECT_EQ(canonical("income * .5"), "income * 0.5");
  EXPECT_EQ(canonical("-0.0"), "0.0");
  EXPECT_EQ(canonical("seen > timestamp '2026-01-31T10:20'"),
            "seen > TIMESTAMP '2026-01-31 10:20:00'");
  EXPECT_EQ(canonical("seen > timestamp '2026-01-31 10:20:30.500'"),
            "seen > TIMESTAMP '2026-01-31 10:20:30.5'");
  EXPECT_EQ(canonical("extract(YEAR from born)"), "EXTRACT(year FROM born)");
  EXPECT_EQ(canonical("age != 1"), "age <> 1");
  EXPECT_EQ(canonical("name = 'it''s'"), "name = 'it''s'");
  EXPECT_EQ(canonical("try_cast(null as Real)"), "TRY_CAST(NULL AS real)");
  EXPECT_EQ(canonical("-9223372036854775808"), "-9223372036854775808");
}

TEST(Expression, KnowsItsTypeAndItsColumns) {
  const auto type = [](const char* text) { return Expression::parse(text, people).type(); };
  EXPECT_EQ(type("age + 1"), Type::integer);
  EXPECT_EQ(type("age + 1.0"), Type::real);
  EXPECT_EQ(type("age / 2"), Type::real);
  EXPECT_EQ(type("born - DATE '2000-01-01'"), Type::integer);
  EXPECT_EQ(type("CASE WHEN member THEN 1 ELSE 2.0 END"), Type::real);
  EXPECT_EQ(type("CASE WHEN member THEN NULL ELSE born END"), Type::date);
  EXPECT_EQ(type("COALESCE(age, 0)"), Type::integer);
  EXPECT_EQ(type("name < 'x'"), Type::boolean);
  EXPECT_EQ(type("floor(age)"), Type::integer);
  EXPECT_EQ(type("TRY_CAST(seen AS date)"), Type::date);
  EXPECT_EQ(Expression::parse("age + income * age", people).columns(),
            (std::vector<std::string>{"age", "income"}));
  EXPECT_TRUE(Expression::parse("1", people).columns().empty());
}

TEST(Expression, ErrorsSayWhatToWriteInstead) {
  EXPECT_EQ(refusal("agee > 1"), "1: no column \"agee\"; did you mean age?");
  EXPECT_EQ(refusal("1 + \"Name\""), "5: no column \"Name\"; did you mean name?");
  EXPECT_EQ(refusal("zzzzzzz"),
            "1: no column \"zzzzzzz\"; there are: age, income, name, born, seen, member, "
            "\"values\", \"End\"");
  EXPECT_EQ(
      refusal("born > '2026-01-31'"),
      "6: a comparison needs values of one type, not a date and a text: write DATE '2026-01-31'");
  EXPECT_EQ(refusal("name = 5"),
            "6: a comparison needs values of one type, not a text and an integer: write TRY_CAST(… "
            "AS integer), or a text in single quotes");
  EXPECT_EQ(refusal("member = 1"),
            "8: a comparison needs values of one type, not a boolean and an integer: compare a "
            "boolean with TRUE or FALSE");
  EXPECT_EQ(refusal("name + 1"),
            "6: + needs numbers, not a text: write TRY_CAST(… AS integer) or TRY_CAST(… AS real)");
  EXPECT_EQ(refusal("age AND member"),
            "5: AND needs booleans, not an integer: write a comparison, such as x <> 0");
  EXPECT_EQ(refusal("1 < age < 5"),
            "9: one comparison at a time: put the first in parentheses, or join two by AND");
  EXPECT_EQ(refusal("round(income)"), "1: no function \"round\": write floor(x + 0.5)");
  EXPECT_EQ(refusal("sin(income)"),
            "1: no function \"sin\"; there are: floor, abs, COALESCE, LEAST, GREATEST, EXTRACT, "
            "TRY_CAST");
  EXPECT_EQ(refusal("EXTRACT(hour FROM born)"), "9: a date has no hour: use a timestamp");
  EXPECT_EQ(refusal("CASE WHEN member THEN NULL END"),
            "1: CASE has no type: write TRY_CAST(NULL AS integer) for one of the NULLs");
  EXPECT_EQ(refusal("TRY_CAST(income AS text)"),
            "20: a real cannot be cast to a text; it can be cast to: integer");
  EXPECT_EQ(refusal("name = 'größe' + 1"),
            "16: + needs numbers, not a text: write TRY_CAST(… AS integer) or TRY_CAST(… AS real)");
  EXPECT_EQ(refusal("age = '\xff'"), "1: the expression must be valid UTF-8 without zero bytes");
  EXPECT_EQ(refusal(std::string("age = '\0'", 10)),
            "1: the expression must be valid UTF-8 without zero bytes");
}

// Each case is an expression, its outcome ("refused COLUMN: MESSAGE" or "harmless TEXT") and an
// empty line.
TEST(Expression, AttacksAreRefusedOrHarmless) {
  std::ifstream file(SOTTO_SOURCE_DIR "/tests/unit/data/expressions/hostile_expressions.txt");
  ASSERT_TRUE(file);
  int cases = 0;
  for (std::string expression, outcome; std::getline(file, expression);) {
    if (expression.starts_with("# ") || expression.empty()) continue;
    ASSERT_TRUE(std::getline(file, outcome));
    if (expression == "(nothing)") expression.clear();
    const std::string refused = refusal(expression);
    EXPECT_EQ(refused.empty() ? "  harmless " + canonical(expression) : "  refused " + refused,
              outcome)
        << expression;
    ++cases;
  }
  EXPECT_GT(cases, 100);
}

TEST(Expression, IsNeitherTooDeepNorTooLarge) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  EXPECT_EQ(refusal("age" + repeated(" + 1", 99)), "");
  EXPECT_NE(refusal("age" + repeated(" + 1", 100)).find("nested too deeply"), std::string::npos);
  EXPECT_NE(refusal(repeated("(", 100'000)).find("nested too deeply"), std::string::npos);
  EXPECT_NE(refusal(repeated("NOT ", 20'000) + "member").find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(refusal(repeated("- ", 20'000) + "age").find("nested too deeply"), std::string::npos);
  EXPECT_NE(refusal(repeated("x", 100'001)).find("at most 100000 bytes"), std::string::npos);
  EXPECT_EQ(refusal("age IN (1" + repeated(", 2", 9'000) + ")"), "");
  EXPECT_EQ(refusal("member" + repeated(" OR member", 5'000)), "");
  std::string copies = "age";
  for (int i = 0; i < 10; ++i) copies = "TRY_CAST((" + copies + ") BETWEEN 1 AND 2 AS integer)";
  EXPECT_NE(refusal(copies).find("too large"), std::string::npos);
  copies = "age";
  for (int i = 0; i < 10; ++i) copies = "CASE " + copies + " WHEN 1 THEN 2 WHEN 2 THEN 1 END";
  EXPECT_NE(refusal(copies).find("too large"), std::string::npos);
}

TEST(Expression, SqlContainsEachOperandOnce) {
  for (const Dialect dialect : {Dialect::duckdb, Dialect::postgresql, Dialect::spark}) {
    std::string nested = "income";
    for (int i = 0; i < 30; ++i)
      nested = "(" + nested + ") * income / 2 + TRY_CAST(TRY_CAST(age AS text) AS integer)";
    const std::string sql = Expression::parse(nested, people).sql(dialect);
    EXPECT_LT(sql.size(), 40'000U);
    std::size_t message = 0;
    const std::string income = quoted("income", dialect);
    for (std::size_t at = sql.find(income); at != std::string::npos; at = sql.find(income, at + 1))
      ++message;
    EXPECT_EQ(message, 31U);
  }
}

TEST(Expression, QuotesNamesAndConstants) {
  EXPECT_EQ(quoted("a\"b"), "\"a\"\"b\"");
  EXPECT_THROW(quoted(""), InvalidValue);
  EXPECT_THROW(quoted(std::string("a\0b", 3)), InvalidValue);
  EXPECT_THROW(quoted("\xc3"), InvalidValue);
  const Dialect duckdb = Dialect::duckdb;
  const Dialect postgresql = Dialect::postgresql;
  EXPECT_EQ(literal(std::string("it's\\"), Type::text, duckdb), "'it''s\\'");
  EXPECT_EQ(literal(std::string("it's\\"), Type::text, postgresql),
            "(CAST(E'it''s\\\\' AS TEXT) COLLATE \"C\")");
  EXPECT_EQ(literal(std::string("it's\\"), Type::text, Dialect::spark),
            "CAST(X'697427735C' AS STRING)");
  EXPECT_EQ(literal(std::string("${a}"), Type::text, Dialect::spark),
            "CAST(X'247B617D' AS STRING)");
  EXPECT_EQ(literal(std::string("2024-02-29T01:02"), Type::timestamp, Dialect::spark),
            "CAST('2024-02-29 01:02:00' AS TIMESTAMP_NTZ)");
  EXPECT_EQ(quoted("a`\"b", Dialect::spark), "`a``\"b`");
  EXPECT_EQ(literal(std::int64_t{-5}, Type::integer, duckdb), "CAST(-5 AS BIGINT)");
  EXPECT_EQ(literal(2.0, Type::real, duckdb), "CAST('2.0' AS DOUBLE PRECISION)");
  EXPECT_EQ(literal(-0.0, Type::real, duckdb), "CAST('0.0' AS DOUBLE PRECISION)");
  EXPECT_EQ(literal(true, Type::boolean, duckdb), "TRUE");
  EXPECT_EQ(literal(std::string("2024-02-29"), Type::date, duckdb), "CAST('2024-02-29' AS DATE)");
  EXPECT_EQ(literal(std::string("2024-02-29T01:02"), Type::timestamp, duckdb),
            "CAST('2024-02-29 01:02:00' AS TIMESTAMP)");
  EXPECT_THROW(literal(std::string("2023-02-29"), Type::date, duckdb), InvalidValue);
  EXPECT_THROW(literal(std::string("2023-02-28'"), Type::date, duckdb), InvalidValue);
  EXPECT_THROW(literal(1.0, Type::integer, duckdb), InvalidValue);
  for (const double x :
       {1e150, -1e151, 1e-151, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_THROW(literal(x, Type::real, duckdb), InvalidValue) << x;
  }
}

TEST(Expression, KnowsTheCalendar) {
  const auto is_date = [](const std::string& text) {
    return refusal("born = DATE '" + text + "'").empty();
  };
  for (const char* good :
       {"0001-01-01", "9999-12-31", "2000-02-29", "2024-02-29", "1900-02-28", "2026-11-30"})
    EXPECT_TRUE(is_date(good)) << good;
  for (const char* bad :
       {"0000-01-01", "1900-02-29", "2023-02-29", "2026-11-31", "2026-00-01", "2026-01-00",
        "2026-13-01", "2026-1-1", " 2026-01-01", "2026-01-01 ", "10000-01-01", "", "2026-01-32"}) {
    EXPECT_FALSE(is_date(bad)) << bad;
  }
  const auto is_timestamp = [](const std::string& text) {
    return refusal("seen = TIMESTAMP '" + text + "'").empty();
  };
  for (const char* good :
       {"2026-01-31", "2026-01-31 23:59", "2026-01-31T23:59:59", "2026-01-31 00:00:00.000001"})
    EXPECT_TRUE(is_timestamp(good)) << good;
  for (const char* bad : {"2026-01-31 24:00", "2026-01-31 23:60", "2026-01-31 23:59:60",
                          "2026-01-31 23:59:59.", "2026-01-31 23:59:59.1234567", "2026-01-31 ",
                          "2026-01-31 1:2", "2026-01-31 10:00:00Z", "2026-01-31 10:00:00+01"}) {
    EXPECT_FALSE(is_timestamp(bad)) << bad;
  }
}

// The arithmetic of real numbers relies on two facts: rounding by the grain results in 0 or at
// least 2^-501, and no operation on two such numbers below 1e150 overflows or underflows.
TEST(Expression, RealArithmeticNeverOverflowsOrUnderflows) {
  constexpr double grain = 0x1p-448;
  double least = 1;
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    for (const double mantissa : {1.0, 1 + 0x1p-52, 1.25, 1.5, 1.75, 2 - 0x1p-52}) {
      for (const double sign : {1.0, -1.0}) {
        const double x = sign * std::ldexp(mantissa, exponent);
        volatile double sum = x + grain;
        const double rounded = sum - grain;
        EXPECT_TRUE(rounded == 0 || std::abs(rounded) >= 0x1p-501) << x;
        if (std::abs(x) >= 1e-118) {
          EXPECT_EQ(rounded, x);
        }
        if (std::abs(x) >= 1e-135) {
          EXPECT_NEAR(rounded / x, 1, 0x1p-51) << x;
        }
        EXPECT_FALSE(std::signbit(rounded) && rounded == 0);
        if (rounded != 0) least = std::min(least, std::abs(rounded));
      }
    }
  }
  EXPECT_GT(least * least, 0x1p-1022);
  EXPECT_GT(least / 1e150, 0x1p-1022);
  EXPECT_LT(1e150 / least, std::numeric_limits<double>::max());
  EXPECT_LT(1e150 * 1e150, std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace sotto
