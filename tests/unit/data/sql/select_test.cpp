// SQL as a tree: quoting, parentheses and the one function that prints a statement.
#include "data/sql/select.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "data/sql/clamp.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

const SqlDialect& duckdb = duckdb_dialect();
const SqlExpression a = identifier("a");
const SqlExpression b = identifier("b");
const SqlExpression c = identifier("c");

TEST(SqlExpressionTest, OperatorsAddTheParenthesesThatPrecedenceRequires) {
  EXPECT_EQ((a + b * c).text(), "a + b * c");
  EXPECT_EQ(((a + b) * c).text(), "(a + b) * c");
  EXPECT_EQ((a - b - c).text(), "a - b - c");
  EXPECT_EQ((a - (b - c)).text(), "a - (b - c)");
  EXPECT_EQ((a * b % c).text(), "a * b % c");
  EXPECT_EQ((a * (b % c)).text(), "a * (b % c)");
  EXPECT_EQ((a - integer(-2)).text(), "a - (-2)");
  EXPECT_EQ((-(a + b)).text(), "-(a + b)");
  EXPECT_EQ(((a < b || b < c) && a <= c).text(), "(a < b OR b < c) AND a <= c");
  EXPECT_EQ((a < b || (b < c && a <= c)).text(), "a < b OR b < c AND a <= c");
  EXPECT_EQ(between(a, integer(-1), b + c).text(), "a BETWEEN -1 AND b + c");
  EXPECT_EQ(is_null(concatenation({a, b})).text(), "(a || b) IS NULL");
}

TEST(SqlExpressionTest, BitsAreInParenthesesInEveryOperation) {
  EXPECT_EQ((a & -b).text(), "a & (-b)");
  EXPECT_EQ(((a << b) <= c).text(), "(a << b) <= c");
  EXPECT_EQ(((a & b) + c).text(), "(a & b) + c");
  EXPECT_EQ(call("bit_or", {a << b}).text(), "bit_or(a << b)");
}

TEST(SqlExpressionTest, IdentifiersOfSottoNeedNoQuotes) {
  EXPECT_EQ(identifier("k12").text(), "k12");
  EXPECT_EQ(identifier("base", "k0").text(), "base.k0");
  for (const char* name : {"", "0k", "a b", "A", "a\"", "a;", "é"}) {
    EXPECT_THROW((void)identifier(name), std::logic_error) << name;
    EXPECT_THROW((void)alias(a, name), std::logic_error) << name;
    EXPECT_THROW((void)identifier("base", name), std::logic_error) << name;
  }
}

TEST(SqlExpressionTest, OtherNamesAreQuotedByTheDialect) {
  const std::string name = "a\"b`c";
  EXPECT_EQ(quoted_identifier(duckdb, name).text(), "\"a\"\"b`c\"");
  EXPECT_EQ(quoted_identifier(spark_dialect(), name).text(), "`a\"b``c`");
  EXPECT_EQ(quoted_identifier(duckdb, "n", name).text(), "n.\"a\"\"b`c\"");
  EXPECT_EQ(alias(integer(1), duckdb, name).text(), "1 AS \"a\"\"b`c\"");
}

TEST(SqlExpressionTest, TextConstantsAreQuotedAscii) {
  EXPECT_EQ(text_constant("it's").text(), "'it''s'");
  EXPECT_THROW((void)text_constant("a\\b"), std::logic_error);
  EXPECT_THROW((void)text_constant("é"), std::logic_error);
}

TEST(SqlExpressionTest, CasesAndWindows) {
  EXPECT_EQ(case_when({{a < b, integer(1)}, {a > b, integer(-1)}}, integer(0)).text(),
            "CASE WHEN a < b THEN 1 WHEN a > b THEN -1 ELSE 0 END");
  EXPECT_EQ(case_of(a, {{integer(1), b}}).text(), "CASE a WHEN 1 THEN b END");
  EXPECT_EQ(over(call("row_number", {}), {a, b}, {c}).text(),
            "row_number() OVER (PARTITION BY a, b ORDER BY c)");
}

TEST(SelectTest, PrintsEveryClauseInOrder) {
  const Select inner{.columns = {all_columns()}, .from = EngineTable{"(SELECT 1 AS a) AS t"}};
  const Select select{
      .distinct = true,
      .columns = {a, alias(call("SUM", {b}), "s")},
      .from = subquery(inner, "i"),
      .joins = {{NamedRelation{"other"},
                 {equal(identifier("i", "a"), identifier("other", "a")), b > c || a > c}}},
      .where = {is_not_null(a), a < b || a < c},
      .group_by = {a},
      .order_by = {b, a},
      .limit = 3};
  EXPECT_EQ(print(select, duckdb),
            "SELECT DISTINCT a, SUM(b) AS s FROM (SELECT * FROM (SELECT 1 AS a) AS t) AS i JOIN "
            "other ON i.a = other.a AND (b > c OR a > c) WHERE a IS NOT NULL AND (a < b OR a < c) "
            "GROUP BY a ORDER BY b, a LIMIT 3");
}

TEST(SelectTest, OneConditionNeedsNoParentheses) {
  const Select select{.columns = {a}, .from = NamedRelation{"t"}, .where = {a < b || a < c}};
  EXPECT_EQ(print(select, duckdb), "SELECT a FROM t WHERE a < b OR a < c");
}

TEST(SelectTest, PrintsValuesAndUnions) {
  const ValuesList list{
      .rows = {{integer(1), integer(-2)}, {a, b}}, .name = "pick", .columns = {"k0", "g"}};
  const Select first{.columns = {identifier("g")}, .from = list};
  const Select second{.columns = {integer(0)}, .from = NamedRelation{"t"}};
  EXPECT_EQ(print({.columns = {all_columns("u")}, .from = union_all(first, second, "u")}, duckdb),
            "SELECT u.* FROM (SELECT g FROM (VALUES (1, -2), (a, b)) AS pick(k0, g) UNION ALL "
            "SELECT 0 FROM t) AS u");
}

TEST(SelectTest, DialectsSayWhetherANamedQueryIsStored) {
  const Select one{.columns = {a}, .from = NamedRelation{"t"}};
  const Select select{.with = {named_query("x", one), named_query("y", one, Reuse::store),
                               named_query("z", one, Reuse::compute_again)},
                      .columns = {a},
                      .from = NamedRelation{"x"}};
  EXPECT_EQ(print(select, duckdb),
            "WITH x AS (SELECT a FROM t), y AS MATERIALIZED (SELECT a FROM t), z AS NOT "
            "MATERIALIZED (SELECT a FROM t) SELECT a FROM x");
  EXPECT_EQ(print(select, spark_dialect()),
            "WITH x AS (SELECT a FROM t), y AS (SELECT a FROM t), z AS (SELECT a FROM t) SELECT a "
            "FROM x");
}

Aggregate sum_of(const std::string& field, Type type, Steps steps) {
  Aggregate sum;
  sum.gather = Gather::values;
  sum.of = Field{Expression::parse(field, {{field, type}}), std::nullopt};
  sum.steps = steps;
  return sum;
}

TEST(ClampTest, IntegersBecomeTheirDistanceFromTheLowerBound) {
  const Aggregate sum = sum_of("v", Type::integer, {.exponent = 0, .low = -5, .high = 10});
  EXPECT_EQ(clamped_code(sum, duckdb, identifier("v"), CodeForm::bigint).text(),
            "CAST(CASE WHEN v BETWEEN -5 AND 10 THEN v - (-5) WHEN v < -5 THEN CAST(0 AS BIGINT) "
            "WHEN v > 10 THEN CAST(15 AS BIGINT) END AS BIGINT)");
  EXPECT_EQ(last_code(sum), 15);
}

TEST(ClampTest, TheConstantForNullIsClampedToo) {
  Aggregate sum = sum_of("v", Type::integer, {.exponent = 0, .low = 0, .high = 10});
  sum.of->if_null = std::int64_t{99};
  EXPECT_EQ(clamped_code(sum, duckdb, identifier("v"), CodeForm::bigint).text(),
            "CAST(CASE WHEN v BETWEEN 0 AND 10 THEN v WHEN v < 0 THEN CAST(0 AS BIGINT) WHEN v > "
            "10 THEN CAST(10 AS BIGINT) ELSE CAST(10 AS BIGINT) END AS BIGINT)");
  sum.of->if_null = std::string("many");
  EXPECT_THROW((void)clamped_code(sum, duckdb, identifier("v"), CodeForm::bigint), InvalidValue);
}

TEST(ClampTest, RefusesWhatIsNoNumber) {
  const Aggregate sum = sum_of("town", Type::text, {.exponent = 0, .low = 0, .high = 10});
  try {
    (void)clamped_code(sum, duckdb, identifier("town"), CodeForm::bigint);
    FAIL();
  } catch (const InvalidValue& error) {
    EXPECT_STREQ(error.what(), "town is of type text: only an integer or real column can be added");
  }
}

}  // namespace
}  // namespace sotto::data_detail
