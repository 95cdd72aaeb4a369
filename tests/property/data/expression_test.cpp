// Random row expressions over awkward rows: their text parses to the same expression, and DuckDB,
// PostgreSQL and Spark compute the results of the reference without errors.
#include "sotto/data/expression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../support/in_duckdb.hpp"
#include "../../support/postgres_server.hpp"
#include "../../support/spark_server.hpp"
#include "random_expression.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/engine.hpp"

namespace sotto {
namespace {

using testing::Datum;
using testing::RandomExpression;
using testing::Row;

RC_GTEST_PROP(Expression, ReadsItsOwnText, ()) {
  testing::Random random(*rc::gen::arbitrary<std::uint32_t>());
  const RandomExpression generated = testing::Generator(random).any(6);
  const Expression expression = Expression::parse(generated.text, testing::row_columns());
  const Expression again = Expression::parse(expression.text(), testing::row_columns());
  RC_ASSERT(expression.type() == generated.type);
  RC_ASSERT(again.text() == expression.text());
  RC_ASSERT(again.type() == expression.type());
  RC_ASSERT(again.columns() == expression.columns());
  for (const Dialect dialect : {Dialect::duckdb, Dialect::postgresql, Dialect::spark})
    RC_ASSERT(again.sql(dialect) == expression.sql(dialect));
}

// Returns the value as a constant of its type.
std::string sql_of(const Datum& x, Type type, Dialect dialect) {
  const std::string name = testing::type_sql(type, dialect);
  const auto typed = [&](const std::string& text) {
    return "CAST('" + text + "' AS " + name + ")";
  };
  if (testing::is_null(x)) return "CAST(NULL AS " + name + ")";
  if (const auto* b = std::get_if<bool>(&x)) return typed(*b ? "true" : "false");
  if (const auto* i = std::get_if<std::int64_t>(&x)) return typed(std::to_string(*i));
  if (const auto* d = std::get_if<testing::Day>(&x)) return typed(testing::date_text(d->days));
  if (const auto* m = std::get_if<testing::Moment>(&x))
    return typed(testing::moment_text(m->microseconds));
  if (const auto* t = std::get_if<std::string>(&x)) return testing::text_sql(*t, dialect);
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", std::get<double>(x));
  return typed(text);
}

std::string cleaned_columns(const std::vector<Column>& columns, Dialect dialect) {
  std::string all;
  for (const Column& column : columns)
    all += ", " + cleaned(column, dialect) + " AS " + quoted(column.name, dialect);
  return all;
}

// Evaluates expressions over rows in one statement that compares each value with the expected one.
// The expected values are part of the statement, since DuckDB prints 2^91 as 2^92.
void expect_reference(Engine& engine, std::uint32_t seed, std::size_t count, std::size_t rows,
                      int depth) {
  const Dialect dialect = engine.dialect();
  testing::Random random(seed);
  testing::Generator generator(random);
  std::vector<RandomExpression> expressions;
  for (std::size_t i = 0; i < count; ++i) expressions.push_back(generator.any(depth));

  std::string values;
  for (std::size_t r = 0; r < rows; ++r) {
    values += (r == 0 ? "(" : ", (") + std::to_string(r);
    Row row;
    for (const Column& column : testing::row_columns()) {
      const testing::Stored stored = random.stored(column.type);
      values += ", " + stored.in(dialect);
      row.push_back(stored.seen);
    }
    for (const RandomExpression& e : expressions)
      values += ", " + sql_of(e.value(row), e.type, dialect);
    values += ")";
  }
  std::string names = "id";
  for (const Column& column : testing::row_columns()) names += ", " + quoted(column.name, dialect);
  std::string expected;
  std::string selected;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "expected" + std::to_string(i);
    expected += ", " + name;
    const std::string sql =
        Expression::parse(expressions[i].text, testing::row_columns()).sql(engine.dialect());
    selected += ", CAST(CASE WHEN " + sql + " IS NOT DISTINCT FROM " + name +
                " THEN 1 ELSE 0 END AS BIGINT)";
  }
  Rows answer;
  try {
    answer =
        engine.query("SELECT CAST(id AS BIGINT)" + selected + " FROM (SELECT id" +
                     cleaned_columns(testing::row_columns(), engine.dialect()) + expected +
                     " FROM (VALUES " + values + ") v(" + names + expected + ")) q ORDER BY id");
  } catch (const EngineError& error) {
    FAIL() << "seed " << seed << ": " << error.what() << ": " << error.detail().substr(0, 2000);
  }
  ASSERT_EQ(answer.size(), rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::get<std::int64_t>(answer.at(r, i + 1)), 1)
          << "seed " << seed << ", row " << r << ": " << expressions[i].text;
    }
  }
}

// Attacks that were not refused do not fail, whatever the rows.
void expect_harmless(Engine& engine) {
  const std::vector<Column> people{{"age", Type::integer},    {"income", Type::real},
                                   {"name", Type::text},      {"born", Type::date},
                                   {"seen", Type::timestamp}, {"member", Type::boolean},
                                   {"values", Type::integer}, {"End", Type::real}};
  std::string names;
  for (const Column& column : people)
    names += (names.empty() ? "" : ", ") + quoted(column.name, engine.dialect());
  testing::Random random(1);
  std::string rows;
  for (int r = 0; r < 200; ++r) {
    rows += r == 0 ? "(" : ", (";
    for (std::size_t i = 0; i < people.size(); ++i) {
      const testing::Stored stored = random.stored(people[i].type);
      rows += (i == 0 ? "" : ", ") + stored.in(engine.dialect());
    }
    rows += ")";
  }
  std::ifstream file(SOTTO_SOURCE_DIR "/tests/unit/data/expressions/hostile_expressions.txt");
  int harmless = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string mark = "  harmless ";
    if (!line.starts_with(mark)) continue;
    ++harmless;
    const std::string sql =
        Expression::parse(line.substr(mark.size()), people).sql(engine.dialect());
    const std::string from = " FROM (SELECT " +
                             cleaned_columns(people, engine.dialect()).substr(2) +
                             " FROM (VALUES " + rows + ") v(" + names + ")) q";
    EXPECT_NO_THROW(engine.query("SELECT CAST(count(" + sql + ") AS BIGINT)" + from)) << line;
  }
  EXPECT_GT(harmless, 20);
}

const std::vector<Column> documented{{"age", Type::integer},    {"income", Type::real},
                                     {"name", Type::text},      {"born", Type::date},
                                     {"seen", Type::timestamp}, {"member", Type::boolean},
                                     {"weight", Type::real},    {"end", Type::integer}};

// Expects that an expression equals another one, or NULL, for the row of the reference page.
void expect_value(Engine& engine, const std::string& text, const std::string& value) {
  const auto of = [&](Type type, const std::string& x) {
    return "CAST(" + x + " AS " + testing::type_sql(type, engine.dialect()) + ")";
  };
  const std::string row = "(" + of(Type::integer, "42") + ", " + of(Type::real, "'1234.5'") + ", " +
                          of(Type::text, "'Ada'") + ", " + of(Type::date, "'1984-02-29'") + ", " +
                          of(Type::timestamp, "'2026-01-31 23:59:59.5'") + ", TRUE, " +
                          of(Type::real, "NULL") + ", " + of(Type::integer, "7") + ")";
  std::string names;
  for (const Column& column : documented)
    names += (names.empty() ? "" : ", ") + quoted(column.name, engine.dialect());
  const Expression left = Expression::parse(text, documented);
  std::string holds = "IS NULL";
  if (value != "NULL") {
    const Expression right = Expression::parse(value, documented);
    EXPECT_EQ(right.type(), left.type()) << text;
    holds = "IS NOT DISTINCT FROM " + right.sql(engine.dialect());
  }
  const Rows answer = engine.query("SELECT CAST(CASE WHEN " + left.sql(engine.dialect()) + " " +
                                   holds + " THEN 1 ELSE 0 END AS BIGINT) FROM (SELECT " +
                                   cleaned_columns(documented, engine.dialect()).substr(2) +
                                   " FROM (VALUES " + row + ") v(" + names + ")) q");
  EXPECT_EQ(std::get<std::int64_t>(answer.at(0, 0)), 1) << text << " is not " << value;
}

// Reads the tables of the reference page: | `expression` | `result` |.
void expect_documented(Engine& engine) {
  std::ifstream page(SOTTO_SOURCE_DIR "/docs/reference/expressions.md");
  int lines = 0;
  for (std::string line; std::getline(page, line);) {
    const std::size_t middle = line.find("` | `");
    if (!line.starts_with("| `") || middle == std::string::npos) continue;
    expect_value(engine, line.substr(3, middle - 3),
                 line.substr(middle + 5, line.find('`', middle + 5) - middle - 5));
    ++lines;
  }
  EXPECT_GT(lines, 50);
}

// Expressions that show errors of optimisers, collations and bounds.
void expect_edges(Engine& engine) {
  const std::vector<std::pair<std::string, std::string>> edges{
      {"age + 9223372036854775807 > 0", "NULL"},
      {"age + 9223372036854775807 <> 3", "NULL"},
      {"age + 9223372036854775807 IN (3, 4)", "NULL"},
      {"age + 9223372036854775807 BETWEEN 3 AND 4", "NULL"},
      {"-9223372036854775808 - age < 0", "NULL"},
      {"-9223372036854775766 - age", "-9223372036854775808"},
      {"9223372036854775765 + age", "9223372036854775807"},
      {"9223372036854775766 + age", "NULL"},
      {"TRY_CAST(TRY_CAST(age AS text) AS integer) = 42", "TRUE"},
      {"TRY_CAST(age AS text) < '5'", "TRUE"},
      {"TRY_CAST(born AS text) < '1984-2-1'", "TRUE"},
      {"TRY_CAST(born AS timestamp) < TIMESTAMP '1984-02-29 12:00:00'", "TRUE"},
      {"TRY_CAST(seen AS date) = DATE '2026-01-31'", "TRUE"},
      {"TRY_CAST('+42' AS integer) = age", "TRUE"},
      {"1.5e149 * 10 > 0", "NULL"},
      {"-1.5e149 * 10 < 0", "NULL"},
      {"income * 1e148 > 0", "NULL"},
      {"9e148 * 10", "9e148 / 0.1"},
      {"1e-75 * 1e-80", "0.0"},
      {"income * 1e-149 * 1e-149", "0.0"},
      {"'Z' < 'a'", "TRUE"},
      {"'a' > name", "TRUE"},
      {"LEAST('a', 'B')", "'B'"},
      {"'ä' > 'z'", "TRUE"},
      {"TRY_CAST(TRUE AS text) < 'U'", "FALSE"},
      {"TRY_CAST(9223372036854775807.0 AS integer)", "NULL"},
      {"TRY_CAST(9223372036854774784.0 AS integer)", "9223372036854774784"},
      {"TRY_CAST(-9223372036854775808.0 AS integer)", "-9223372036854775808"}};
  for (const auto& [text, value] : edges) expect_value(engine, text, value);
}

class Engines : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (std::filesystem::temp_directory_path() / "sotto-expressions-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ / "any.csv") << "a\n1\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // nullptr: it is not installed
  std::unique_ptr<Engine> duckdb() {
    try {
      return open_engine(FileSource{folder_ / "any.csv", ""}, {{"a", Type::integer}});
    } catch (const EngineError& error) {
      if (std::string(error.what()).find("not installed") == std::string::npos) throw;
      return nullptr;
    }
  }
  // with a collation that does not compare bytes
  std::unique_ptr<Engine> postgresql() {
    if (!PostgresServer::installed()) return nullptr;
    server_ = std::make_unique<PostgresServer>();
    server_->sql("CREATE DATABASE english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'");
    const std::string connection = server_->connection() + " dbname=english";
    return open_engine(PostgresSource{connection, "pg_catalog.pg_class"},
                       {{"relname", Type::text}});
  }
  std::unique_ptr<Engine> spark() {
    if (!SparkServer::is_there()) return nullptr;
    in_duckdb("COPY (SELECT CAST(1 AS BIGINT) AS a) TO '" + (folder_ / "any.parquet").string() +
              "' (FORMAT parquet)");
    return open_engine(SparkServer::parquet((folder_ / "any.parquet").string()),
                       {{"a", Type::integer}});
  }
  static void expect_all(Engine& engine, std::uint32_t first, std::uint32_t batches,
                         std::size_t expressions = 20) {
    for (std::uint32_t seed = first; seed < first + batches && !HasFailure(); ++seed)
      expect_reference(engine, seed, expressions, 20, 2 + static_cast<int>(seed % 4));
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<PostgresServer> server_;
};

TEST_F(Engines, DuckDbMatchesTheReference) {
  const auto engine = duckdb();
  if (engine == nullptr) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  expect_all(*engine, 0, 50);
  expect_harmless(*engine);
  expect_documented(*engine);
  expect_edges(*engine);
}

TEST_F(Engines, PostgreSqlMatchesTheReference) {
  const auto engine = postgresql();
  if (engine == nullptr) GTEST_SKIP() << "no PostgreSQL server is installed";
  expect_all(*engine, 0, 50);
  expect_harmless(*engine);
  expect_documented(*engine);
  expect_edges(*engine);
}

TEST_F(Engines, SparkMatchesTheReference) {
  const auto engine = spark();
  if (engine == nullptr) GTEST_SKIP() << SparkServer::missing;
  expect_documented(*engine);
  expect_edges(*engine);
  expect_harmless(*engine);
  expect_all(*engine, 0, 50, 6);  // Spark takes seconds to plan more
}

class SlowEngines : public Engines {};

TEST_F(SlowEngines, DuckDbMatchesTheReference) {
  const auto engine = duckdb();
  if (engine == nullptr) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  expect_all(*engine, 1000, 2000);
}

TEST_F(SlowEngines, PostgreSqlMatchesTheReference) {
  const auto engine = postgresql();
  if (engine == nullptr) GTEST_SKIP() << "no PostgreSQL server is installed";
  expect_all(*engine, 1000, 2000);
}

}  // namespace
}  // namespace sotto
