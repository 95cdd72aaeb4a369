// The Spark engine on a real server: stored types, errors, streams and canceled statements.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "../../../../support/in_duckdb.hpp"
#include "../../../../support/spark_server.hpp"
#include "data/api/inspect.hpp"
#include "data/api/unbounded.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class SparkEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (!SparkServer::is_there()) GTEST_SKIP() << SparkServer::missing;
    char name[] = "/tmp/sotto-spark-XXXXXX";
    folder = mkdtemp(name);
    fs::permissions(folder, fs::perms::all);  // executors may run as another user
  }
  void TearDown() override { fs::remove_all(folder); }
  SparkSource of(const std::string& select) const {
    in_duckdb("COPY (" + select + ") TO '" + (folder / "t.parquet").string() +
              "' (FORMAT parquet)");
    return SparkServer::parquet((folder / "t.parquet").string());
  }
  std::string first(const std::string& select, Type type) const {
    const auto engine = open_engine(of(select), {{"v", type}});
    const Rows rows = engine->query("SELECT CAST(`v` AS STRING) FROM " + engine->table());
    const auto* text = std::get_if<std::string>(&rows.at(0, 0));
    return text == nullptr ? "NULL" : *text;
  }
  fs::path folder;
};

TEST_F(SparkEngine, ReadsEveryStoredTypeAsDeclared) {
  EXPECT_EQ(first("SELECT TRUE AS v", Type::boolean), "true");
  EXPECT_EQ(first("SELECT CAST(7 AS TINYINT) AS v", Type::integer), "7");
  EXPECT_EQ(first("SELECT CAST(-7 AS INTEGER) AS v", Type::integer), "-7");
  EXPECT_EQ(first("SELECT CAST(59 AS DOUBLE) AS v", Type::integer), "59");
  EXPECT_EQ(first("SELECT CAST(59.5 AS DOUBLE) AS v", Type::integer), "NULL");
  EXPECT_EQ(first("SELECT CAST(9007199254740994 AS DOUBLE) AS v", Type::integer), "NULL");
  EXPECT_EQ(first("SELECT CAST('nan' AS DOUBLE) AS v", Type::integer), "NULL");
  EXPECT_EQ(first("SELECT CAST('inf' AS FLOAT) AS v", Type::integer), "NULL");
  EXPECT_EQ(first("SELECT CAST(12.00 AS DECIMAL(10,2)) AS v", Type::integer), "12");
  EXPECT_EQ(first("SELECT CAST(12.01 AS DECIMAL(10,2)) AS v", Type::integer), "NULL");
  EXPECT_EQ(first("SELECT CAST(12345678901234567890 AS DECIMAL(38,0)) AS v", Type::integer),
            "NULL");
  EXPECT_EQ(first("SELECT CAST(0.1 AS FLOAT) AS v", Type::real), "0.10000000149011612");
  EXPECT_EQ(first("SELECT CAST(12.25 AS DECIMAL(38,30)) AS v", Type::real), "12.25");
  EXPECT_EQ(first("SELECT CAST('nan' AS DOUBLE) AS v", Type::real), "NULL");
  EXPECT_EQ(first("SELECT 'größe' AS v", Type::text), "größe");
  EXPECT_EQ(first("SELECT 'a' || chr(0) AS v", Type::text), "NULL");
  EXPECT_EQ(first("SELECT '\\x61\\x62'::BLOB AS v", Type::text), "ab");
  EXPECT_EQ(first("SELECT '\\xff'::BLOB AS v", Type::text), "NULL");
  EXPECT_EQ(first("SELECT '\\xED\\xA0\\x80'::BLOB AS v", Type::text), "NULL");
  EXPECT_EQ(first("SELECT DATE '0001-01-01' AS v", Type::date), "0001-01-01");
  EXPECT_EQ(first("SELECT DATE '10000-01-01' AS v", Type::date), "NULL");
  EXPECT_EQ(first("SELECT DATE '1000-01-01' AS v", Type::date), "1000-01-01");
  EXPECT_EQ(first("SELECT TIMESTAMP '1582-10-10 01:02:03.5' AS v", Type::timestamp),
            "1582-10-10 01:02:03.5");
  EXPECT_EQ(first("SELECT TIMESTAMPTZ '2026-01-31 10:20:30+02' AS v", Type::timestamp),
            "2026-01-31 08:20:30");
  EXPECT_EQ(first("SELECT TIMESTAMP '10000-01-01 00:00:00' AS v", Type::timestamp), "NULL");
}

TEST_F(SparkEngine, ErrorsNameTheColumnThatDoesNotFit) {
  const auto source = of("SELECT 1 AS age, 'a' AS name, [1] AS list");
  const auto refusal = [&](const std::vector<Column>& columns) {
    try {
      open_engine(source, columns);
      return std::string();
    } catch (const InvalidValue& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(refusal({{"aeg", Type::integer}}).find("age, name"), std::string::npos)
      << refusal({{"aeg", Type::integer}});
  EXPECT_NE(refusal({{"Age", Type::integer}}), "");
  EXPECT_NE(refusal({{"name", Type::integer}}).find("stored as string"), std::string::npos);
  EXPECT_NE(refusal({{"list", Type::integer}}).find("array<int>"), std::string::npos);
  const auto rows = infer_columns(source);
  EXPECT_EQ(rows, (std::vector<Column>{{"age", Type::integer}, {"name", Type::text}}));
}

TEST_F(SparkEngine, DistinguishesAbsentTablesFromUnreachableServers) {
  const auto why = [](const SparkSource& source) {
    try {
      open_engine(source, {{"a", Type::integer}});
      return std::string();
    } catch (const EngineError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(why(SparkServer::table("no_such_table")), "Spark finds no such table");
  EXPECT_EQ(why(SparkServer::parquet((folder / "no_such_file").string())),
            "Spark finds no such table");
  EXPECT_NE(why({.connection = "sc://127.0.0.1:1", .table = "t", .path = ""})
                .find("Spark cannot be reached"),
            std::string::npos);
  Limits limits;
  limits.spark = folder / "no_such_program";
  EXPECT_THROW(open_engine(SparkServer::table("t"), {{"a", Type::integer}}, limits), EngineError);
}

TEST_F(SparkEngine, RunsSelectStatementsOnly) {
  const auto engine = open_engine(of("SELECT 1 AS a"), {{"a", Type::integer}});
  EXPECT_THROW(engine->query("DROP TABLE a"), std::logic_error);
  EXPECT_THROW(engine->query("SELECT `b` FROM " + engine->table()), EngineError);
  EXPECT_EQ(std::get<std::int64_t>(engine->query("SELECT SUM(a) FROM " + engine->table()).at(0, 0)),
            1);  // the session still works
}

TEST_F(SparkEngine, ReadsTheSameFilesInAllQueries) {
  const fs::path table = folder / "many";
  fs::create_directory(table);
  fs::permissions(table, fs::perms::all);
  const auto add = [&](const char* name) {
    in_duckdb("COPY (SELECT 1 AS a) TO '" + (table / name).string() + "' (FORMAT parquet)");
  };
  add("one.parquet");
  const auto engine = open_engine(SparkServer::parquet(table.string()), {{"a", Type::integer}});
  const auto rows = [&] {
    return std::get<std::int64_t>(
        engine->query("SELECT COUNT(*) FROM " + engine->table()).at(0, 0));
  };
  EXPECT_EQ(rows(), 1);
  add("two.parquet");
  EXPECT_EQ(rows(), 1);
  fs::remove(table / "one.parquet");
  EXPECT_THROW(rows(), EngineError);
}

TEST_F(SparkEngine, StopsAStatementOnRequestOrException) {
  const auto engine =
      open_engine(of("SELECT i AS a FROM range(300000) t(i)"), {{"a", Type::integer}});
  const std::string endless = "SELECT SUM(x.a * y.a % 7) FROM (SELECT a FROM " + engine->table() +
                              ") AS x JOIN (SELECT a FROM " + engine->table() +
                              ") AS y ON x.a % 3 = y.a % 3";
  int reported = 0;
  EXPECT_THROW(engine->query(endless, [&](double) { return ++reported < 20; }), EngineError);
  EXPECT_GE(reported, 20);
  const std::string all = "SELECT a FROM " + engine->table();
  EXPECT_THROW(engine->stream(all, {Batch::Kind::whole},
                              [](const Batch&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  EXPECT_THROW(engine->stream(all, {Batch::Kind::text}, [](const Batch&) {}), std::logic_error);
  std::int64_t sum = 0;
  std::vector<double> shares;
  engine->stream(
      all, {Batch::Kind::whole},
      [&](const Batch& batch) {
        for (std::size_t i = 0; i < batch.rows; ++i) sum += batch.columns[0].int64s[i];
      },
      [&](double share) {
        shares.push_back(share);
        return true;
      });
  EXPECT_EQ(sum, std::int64_t{300'000} * 299'999 / 2);
  EXPECT_EQ(shares.back(), 1);
}

TEST_F(SparkEngine, AddsBeyondTheRangeOfBigint) {
  // a unit's total with 2^40 steps a row, and the sum of squares of codes near 2^20: both exceed
  // 2^63
  const auto source =
      of("SELECT 1 AS u, CASE i % 10 WHEN 0 THEN CAST(i AS DOUBLE) WHEN 1 THEN -12345.678 * i ELSE "
         "1e30 END AS v FROM range(14000000) t(i)");
  const std::vector<Column> columns{{"u", Type::integer}, {"v", Type::real}};
  Limits limits;
  limits.duckdb = libduckdb;
  const auto duckdb = open_engine(FileSource{folder / "t.parquet"}, columns, limits);
  const auto spark = open_engine(source, columns);
  Aggregate aggregate;
  aggregate.of = Field{Expression::parse("v", columns), std::nullopt};
  aggregate.steps = Steps::between(0, 1e12, Type::real);
  const BoundingKey key{{1, 2, 3, 4}};
  for (const Gather gathers : {Gather::totals, Gather::squares}) {
    aggregate.gather = gathers;
    aggregate.unit =
        gathers == Gather::totals ? std::optional(Expression::parse("u", columns)) : std::nullopt;
    const GroupTotals one = gather(*duckdb, columns, aggregate, key);
    const GroupTotals other = gather(*spark, columns, aggregate, key);
    EXPECT_EQ(one.counts, other.counts);
    EXPECT_EQ(one.sums, other.sums);
    EXPECT_EQ(one.squares, other.squares);
    EXPECT_EQ(one.carries, other.carries);
    EXPECT_TRUE(gathers == Gather::totals || other.carries.front() >= 2);
  }
}

TEST_F(SparkEngine, ComputesExactStatistics) {
  const auto source =
      of("SELECT i % 5 AS u, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS k, i * 0.37 - 40 AS r "
         "FROM range(400) t(i)");
  const std::vector<Column> columns{{"u", Type::integer}, {"k", Type::text}, {"r", Type::real}};
  Limits limits;
  limits.duckdb = libduckdb;
  const auto duckdb = open_engine(FileSource{folder / "t.parquet"}, columns, limits);
  const auto spark = open_engine(source, columns);
  for (const Statistic statistic :
       {Statistic::rows, Statistic::units, Statistic::sum, Statistic::mean,
        Statistic::mean_of_units, Statistic::variance, Statistic::bins, Statistic::quantiles}) {
    Aggregate aggregate;
    aggregate.unit = Expression::parse("u", columns);
    if (statistic != Statistic::rows && statistic != Statistic::units)
      aggregate.of = Field{Expression::parse("r", columns), std::nullopt};
    aggregate.keys = {{Expression::parse("k", columns), std::nullopt}};
    aggregate.groups = {{std::string("a")}, {std::string("b")}, {std::string("none")}};
    aggregate.bins = {-30, 10, 9};
    const auto one = unbounded(*duckdb, columns, aggregate, statistic, {0.1, 0.5});
    const auto other = unbounded(*spark, columns, aggregate, statistic, {0.1, 0.5});
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE((std::isnan(one[i]) && std::isnan(other[i])) ||
                  std::abs(one[i] - other[i]) <= 1e-9 * std::abs(one[i]))
          << static_cast<int>(statistic);
    }
  }
  const auto rows =
      inspect(source,
              {{.column = columns[0]},
               {.column = columns[1], .lower = {}, .upper = {}, .values = {std::string("a")}},
               {.column = columns[2], .lower = 0, .upper = 50}},
              "u");
  EXPECT_EQ(rows.records, 400);
  EXPECT_EQ(rows.units, 5);
  EXPECT_EQ(rows.columns[1].unlisted, 266);
  EXPECT_EQ(rows.columns[2].below, 109);
  EXPECT_EQ(rows.rows_a_unit.largest, 80);
}

TEST_F(SparkEngine, PlansNestedExpressionsInLinearTime) {
  const std::vector<Column> columns{{"a", Type::integer}, {"x", Type::real}};
  const auto engine = open_engine(of("SELECT 1 AS a, CAST(2 AS DOUBLE) AS x"), columns);
  const auto value = [&](const std::string& expression) {
    std::string cleaned_columns;
    for (const Column& column : columns)
      cleaned_columns += (cleaned_columns.empty() ? "" : ", ") + cleaned(column, Dialect::spark) +
                         " AS " + quoted(column.name, Dialect::spark);
    const auto sql =
        Expression::parse("TRY_CAST(" + expression + " AS integer)", columns).sql(Dialect::spark);
    return std::get<std::int64_t>(engine
                                      ->query("SELECT " + sql + " FROM (SELECT " + cleaned_columns +
                                              " FROM " + engine->table() + ") AS c")
                                      .at(0, 0));
  };
  std::string sums = "a";
  std::string reals = "x";
  std::string between = "a";
  std::string cases = "a";
  for (int i = 0; i < 95; ++i) sums = "(" + sums + " + a)";
  for (int i = 0; i < 15; ++i) reals = "(" + reals + " + x) / 2";
  for (int i = 0; i < 5; ++i) between = "TRY_CAST((" + between + ") BETWEEN 1 AND 2 AS integer)";
  for (int i = 0; i < 5; ++i) cases = "CASE " + cases + " WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 3 END";
  for (const auto& [expression, expected] :
       {std::pair{sums, 96}, {reals, 2}, {between, 1}, {cases, 2}}) {
    try {
      EXPECT_EQ(value(expression), expected) << expression.substr(0, 60);
    } catch (const EngineError& error) {
      ADD_FAILURE() << expression.substr(0, 60) << ": " << error.detail().substr(0, 500);
    }
  }
  // an expression that is too deep is refused before anything is charged
  Aggregate aggregate;
  aggregate.where = Expression::parse(reals + " > 1", columns);
  EXPECT_NO_THROW(require_plannable(*engine, columns, aggregate, false));
  for (int i = 0; i < 30; ++i) reals = "(" + reals + " + x) / 2";
  aggregate.where = Expression::parse(reals + " > 1", columns);
  EXPECT_THROW(require_plannable(*engine, columns, aggregate, false), InvalidValue);
  EXPECT_THROW(open_engine(of("SELECT 1 AS \"sotto value\""), {{"sotto value", Type::integer}}),
               InvalidValue);
}

}  // namespace
}  // namespace sotto
