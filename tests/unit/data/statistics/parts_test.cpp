// Units that exceed the memory: the totals of all parts are those of the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "../../../support/in_duckdb.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::vector<Column> columns{{"unit", Type::integer}, {"town", Type::text}, {"v", Type::real}};
const BoundingKey key{{11, 12, 13, 14}};
constexpr std::int64_t megabyte = 1'000'000;

class Parts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(libduckdb)) return;
    char name[] = "/tmp/sotto-parts-XXXXXX";
    folder = mkdtemp(name);
    in_duckdb(
        "COPY (SELECT (hash(range) % 100000)::BIGINT AS unit, 'town ' || hash(range, 1) % 20 AS "
        "town, ((hash(range, 2) % 1000) / 10)::DOUBLE AS v "
        "FROM "
        "range(500000)) TO '" +
        (folder / "t.parquet").string() + "' (FORMAT parquet)");
  }
  static void TearDownTestSuite() { fs::remove_all(folder); }
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  }
  static std::unique_ptr<Engine> open(std::int64_t memory) {
    Limits limits;
    limits.duckdb = libduckdb;
    limits.memory = memory;
    limits.threads = 2;
    return open_engine(FileSource{folder / "t.parquet"}, columns, limits);
  }
  static Aggregate aggregate(Gather gather, std::int64_t rows) {
    Aggregate a;
    a.keys = {{Expression::parse("town", columns), std::nullopt}};
    a.groups.clear();
    for (int i = 0; i < 20; ++i) a.groups.push_back({"town " + std::to_string(i)});
    a.unit = Expression::parse("unit", columns);
    a.groups_a_unit = 2;
    a.rows_a_group = rows;
    a.gather = gather;
    if (gather != Gather::rows && gather != Gather::units)
      a.of = Field{Expression::parse("v", columns), std::nullopt};
    a.steps = Steps::between(0, 100, Type::real, 1 << 15);
    a.bins = {0, 10, 10};
    return a;
  }
  inline static fs::path folder;
};

/// An engine that throws OutOfMemory for its first statements.
class Poor final : public Engine {
 public:
  Poor(std::unique_ptr<Engine> engine, int refusals)
      : engine_(std::move(engine)), refusals_(refusals) {}
  [[nodiscard]] Dialect dialect() const override { return engine_->dialect(); }
  [[nodiscard]] std::string table() const override { return engine_->table(); }
  [[nodiscard]] bool scan_is_expensive() const override { return true; }
  Rows query(const std::string& sql, const Progress& progress) override {
    ++queries;
    if (refusals_-- > 0) throw OutOfMemory("too little", "");
    return engine_->query(sql, progress);
  }
  int queries = 0;

 private:
  std::unique_ptr<Engine> engine_;
  int refusals_;
};

TEST_F(Parts, AddUpToTheTotalsOfTheWhole) {
  for (const auto& [what, rows] : std::vector<std::pair<Gather, std::int64_t>>{{Gather::rows, 2},
                                                                               {Gather::units, 1},
                                                                               {Gather::values, 2},
                                                                               {Gather::values, 20},
                                                                               {Gather::squares, 2},
                                                                               {Gather::totals, 3},
                                                                               {Gather::bins, 2}}) {
    const Aggregate a = aggregate(what, rows);
    const auto whole = gather(*open(2000 * megabyte), columns, a, key);
    for (const int refusals : {1, 2}) {
      Poor poor(open(2000 * megabyte), refusals);
      const auto parts = gather(poor, columns, a, key);
      EXPECT_EQ(poor.queries, refusals + (refusals == 1 ? 4 : 16));
      EXPECT_EQ(parts.counts, whole.counts);
      EXPECT_EQ(parts.sums, whole.sums);
      EXPECT_EQ(parts.squares, whole.squares);
      EXPECT_EQ(parts.carries, whole.carries);
    }
    EXPECT_GT(whole.counts.front(), 1000);
  }
}

TEST_F(Parts, OfRowsAndOfPrivateKeysAddUp) {
  Aggregate a = aggregate(Gather::values, 1);
  const auto as_map = [](const PresentGroups& groups) {
    std::map<std::string, std::int64_t> all;
    for (std::size_t i = 0; i < groups.groups.size(); ++i)
      EXPECT_TRUE(all.emplace(std::get<std::string>(groups.groups[i][0]), groups.units[i]).second);
    return all;
  };
  a.gather = Gather::units;
  a.of.reset();
  const auto whole = as_map(present_groups(*open(0), columns, a, key));
  Poor poor(open(0), 2);
  EXPECT_EQ(as_map(present_groups(poor, columns, a, key)), whole);
  EXPECT_EQ(whole.size(), 20U);
  a.unit.reset();
  a.gather = Gather::rows;
  Poor rows(open(0), 1);
  EXPECT_EQ(gather(rows, columns, a, key).counts, gather(*open(0), columns, a, key).counts);
  EXPECT_EQ(rows.queries, 5);
}

TEST_F(Parts, SmallMemoryIsEnough) {
  const Aggregate a = aggregate(Gather::values, 5);
  const auto whole = gather(*open(4000 * megabyte), columns, a, key);
  const auto small = gather(*open(60 * megabyte), columns, a, key);
  EXPECT_EQ(small.counts, whole.counts);
  EXPECT_EQ(small.sums, whole.sums);
}

TEST_F(Parts, ProgressIncreasesAndMayStop) {
  Poor poor(open(0), 1);
  std::vector<double> reported;
  gather(poor, columns, aggregate(Gather::values, 2), key, [&](double share) {
    reported.push_back(share);
    return true;
  });
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_DOUBLE_EQ(reported.back(), 1);
}

TEST(Memory, TooManyGroupsAreRefusedByPublicNumbersOnly) {
  Aggregate a;
  a.gather = Gather::bins;
  a.of = Field{Expression::parse("v", columns), std::nullopt};
  a.bins = {0, 1, 65'536};
  a.groups.assign(1'000, {});
  EXPECT_THROW(require_memory(a, 1'000 * megabyte), InvalidValue);
  a.groups.assign(1, {});
  require_memory(a, 1'000 * megabyte);
  require_memory(a, 0);
}

}  // namespace
}  // namespace sotto
