// Grids, keys and statements of bounded statistics.
#include "sotto/data/bounded.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

TEST(Steps, CoverTheBoundsAsFinelyAsAllowed) {
  for (const auto& [lower, upper] : {std::pair{0.0, 10.0},
                                     {-5.0, 5.0},
                                     {1000.0, 1001.0},
                                     {0.1, 0.30001},
                                     {-1e149, 1e149},
                                     {1e15, 1e15 + 0.25},
                                     {0.0, 1e-150},
                                     {-3.5, 1e9}}) {
    for (const std::int64_t most : {std::int64_t{1} << 15U, std::int64_t{1} << 20U}) {
      const Steps steps = Steps::between(lower, upper, Type::real, most);
      EXPECT_LE(steps.lower(), lower);
      EXPECT_GE(steps.upper(), upper);
      EXPECT_GT(steps.lower() + steps.unit(), lower);
      EXPECT_LT(steps.upper() - steps.unit(), upper);
      EXPECT_LE(steps.range(), most);
      EXPECT_TRUE(steps.range() > most / 2 - 2 ||
                  std::max(std::abs(steps.low), std::abs(steps.high)) > std::int64_t{1} << 50U)
          << lower << " " << upper;
    }
  }
}

TEST(Steps, OfIntegersAreIntegers) {
  const Steps steps = Steps::between(0, 7, Type::integer);
  EXPECT_EQ(steps.exponent, 0);
  EXPECT_EQ(steps.low, 0);
  EXPECT_EQ(steps.high, 7);
  EXPECT_EQ(Steps::between(0, 0x1p30, Type::integer).exponent, 10);
}

TEST(Steps, InvalidBoundsAreRefusedAtOnce) {
  for (const auto& [lower, upper] : {std::pair{1.0, 1.0},
                                     {2.0, 1.0},
                                     {0.0, 5e-324},
                                     {0.0, 1e-310},
                                     {0.0, 1e150},
                                     {-INFINITY, 1.0},
                                     {0.0, NAN}}) {
    EXPECT_THROW((void)Steps::between(lower, upper, Type::real), InvalidValue)
        << lower << " " << upper;
  }
}

TEST(GroupTotals, AGroupNeedsOneValueForEachKey) {
  const std::vector<Column> columns{{"k", Type::integer}};
  Aggregate aggregate;
  aggregate.keys = {{Expression::parse("k", columns), std::nullopt}};
  EXPECT_THROW((void)statement(Dialect::duckdb, "t", columns, aggregate, {{1, 2, 3, 4}}),
               InvalidValue);
  aggregate.groups = {{std::int64_t{1}}};
  EXPECT_FALSE(statement(Dialect::duckdb, "t", columns, aggregate, {{1, 2, 3, 4}}).empty());
}

// Spark reads the table again for each use of a named query, and may then see other rows.
TEST(GroupTotals, SparkBoundsAUnitInOneScan) {
  const std::vector<Column> columns{{"u", Type::text}, {"k", Type::integer}, {"x", Type::real}};
  const auto count = [](const std::string& text, const std::string& what) {
    std::size_t totals = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++totals;
    return totals;
  };
  for (const Gather gather : {Gather::rows, Gather::units, Gather::values, Gather::squares,
                              Gather::totals, Gather::bins}) {
    for (const int groups : {1, 3, 200}) {
      Aggregate aggregate;
      aggregate.unit = Expression::parse("u", columns);
      aggregate.gather = gather;
      if (gather != Gather::rows && gather != Gather::units)
        aggregate.of = Field{Expression::parse("x", columns), std::nullopt};
      aggregate.keys = {{Expression::parse("k", columns), std::nullopt}};
      aggregate.groups.clear();
      for (int g = 0; g < groups; ++g) aggregate.groups.push_back({std::int64_t{g}});
      aggregate.rows_a_group = 2;
      aggregate.steps = Steps::between(0, 8, Type::real);
      aggregate.bins = {0, 0.5, 20};
      const auto sql = statement(Dialect::spark, "the_table", columns, aggregate, {{1, 2, 3, 4}});
      EXPECT_EQ(count(sql, "the_table"), 1U);
      // both bounds hold: rows in a group, and groups of a unit
      const bool ranks = aggregate.of && gather != Gather::totals;
      EXPECT_EQ(count(sql, "WHERE place <= 2)") + count(sql, "WHERE place <= 2 "), ranks ? 1U : 0U)
          << sql;
      EXPECT_EQ(count(sql, ranks ? "WHERE reached <= 1)" : "WHERE place <= 1)"),
                groups > 1 ? 1U : 0U)
          << sql;
      for (const std::string name : {"numbered", "pairs", "kept"}) {
        if (count(sql, name + " AS (") == 0) continue;
        EXPECT_EQ(count(sql, "FROM " + name + " ") + count(sql, "FROM " + name + ")") +
                      count(sql, "JOIN " + name + " "),
                  1U)
            << sql;
      }
    }
  }
}

TEST(GroupTotals, SpellingsOfATimestampAreOneKey) {
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  std::string name = (fs::temp_directory_path() / "sotto-bounded-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  std::ofstream(folder / "t.csv") << "p,s\n1,2026-01-31 00:00:00\n2,2026-01-31 "
                                     "12:30:00\n3,2026-01-31 12:30:00\n4,2026-01-31 12:30:00.25\n";
  const std::vector<Column> columns{{"p", Type::integer}, {"s", Type::timestamp}};
  Limits limits;
  limits.duckdb = libduckdb;
  const auto engine = open_engine(FileSource{folder / "t.csv", ""}, columns, limits);
  Aggregate aggregate;
  aggregate.keys = {{Expression::parse("s", columns), std::nullopt}};
  aggregate.groups = {{std::string("2026-01-31")},
                      {std::string("2026-01-31T12:30")},
                      {std::string("2026-01-31 12:30:00.250")}};
  EXPECT_EQ(gather(*engine, columns, aggregate, {{1, 2, 3, 4}}).counts,
            (std::vector<std::int64_t>{1, 2, 1}));
  aggregate.unit = Expression::parse("p", columns);
  EXPECT_EQ(gather(*engine, columns, aggregate, {{1, 2, 3, 4}}).counts,
            (std::vector<std::int64_t>{1, 2, 1}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sotto
