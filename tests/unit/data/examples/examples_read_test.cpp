// Reading examples: refused queries, parts of units, the temporary file, canceled and restarted
// streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "../../../support/in_duckdb.hpp"
#include "../../../support/postgres_server.hpp"
#include "data/examples/unit_rows.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/examples.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::vector<Column> columns{{"unit", Type::integer},
                                  {"name", Type::text},
                                  {"v", Type::real},
                                  {"w", Type::integer},
                                  {"k", Type::text}};
constexpr BoundingKey key{{31, 32, 33, 34}};
constexpr std::int64_t megabyte = 1'000'000;

Expression e(const char* text) { return Expression::parse(text, columns); }

ExampleQuery query(const char* unit, std::int64_t rows_a_unit) {
  ExampleQuery q;
  q.features = {{"v", {e("v"), std::nullopt}, Scaled{0, 100}},
                {"w", {e("w"), std::nullopt}, Scaled{0, 1000, true}}};
  q.target = Feature{
      "k", {e("k"), std::nullopt}, OneOf{{std::string("a"), std::string("b"), std::string("c")}}};
  if (unit != nullptr) q.unit = e(unit);
  q.rows_a_unit = rows_a_unit;
  return q;
}

class Reading : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(libduckdb)) return;
    char name[] = "/tmp/sotto-reading-XXXXXX";
    folder = mkdtemp(name);
    in_duckdb(
        "COPY (SELECT (hash(range) % 20000)::BIGINT AS unit, 'person ' || hash(range) % 20000 AS "
        "name, ((hash(range, 2) % 1000) / 10)::DOUBLE AS v, "
        "(range % 1000)::BIGINT AS w, ['a', 'b', 'c', 'd'][1 + range % 4] AS k FROM range(100000)) "
        "TO '" +
        (folder / "t.parquet").string() + "' (FORMAT parquet)");
  }
  static void TearDownTestSuite() { fs::remove_all(folder); }
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  }
  static Limits limits(std::int64_t memory) {
    Limits some;
    some.duckdb = libduckdb;
    some.memory = memory;
    some.threads = 2;
    return some;
  }
  static std::unique_ptr<Engine> open(const char* name = "t.parquet") {
    return open_engine(FileSource{folder / name}, columns, limits(0));
  }
  static std::unique_ptr<Engine> open_text(const std::string& text) {
    std::ofstream(folder / "t.csv") << text;
    return open("t.csv");
  }
  inline static fs::path folder;
};

/// Counts its streams.
class Counting final : public Engine {
 public:
  explicit Counting(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  [[nodiscard]] Dialect dialect() const override { return engine_->dialect(); }
  [[nodiscard]] std::string table() const override { return engine_->table(); }
  Rows query(const std::string& sql, const Progress& progress) override {
    return engine_->query(sql, progress);
  }
  void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
              const BatchCallback& take, const Progress& progress) override {
    ++streams;
    engine_->stream(sql, kinds, take, progress);
  }
  int streams = 0;

 private:
  std::unique_ptr<Engine> engine_;
};

void expect_same(const Examples& a, const Examples& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.units(), b.units());
  for (std::size_t u = 0; u <= a.units(); ++u) ASSERT_EQ(a.first(u), b.first(u));
  for (std::size_t i = 0; i < a.rows(); ++i) {
    ASSERT_EQ(a.target(i), b.target(i));
    ASSERT_EQ(std::memcmp(a.row(i), b.row(i), 2 * a.stride()), 0) << i;
  }
}

TEST_F(Reading, DoesNotDependOnTheNumberOfThreads) {
  for (const char* unit : {static_cast<const char*>(nullptr), "unit", "name"}) {
    const auto first = read_examples(*open(), columns, query(unit, 2), key);
    EXPECT_GT(first.rows(), 30'000U);
    expect_same(first, read_examples(*open(), columns, query(unit, 2), key));
  }
}

TEST_F(Reading, UnitsBeyondTheMemoryAreReadInParts) {
  for (const auto& [unit, rows] : std::vector<std::pair<const char*, std::int64_t>>{
           {"unit", 1}, {"unit", 1000}, {"name", 3}}) {
    const auto whole = read_examples(*open(), columns, query(unit, rows), key);
    EXPECT_EQ(whole.one_row_a_unit(), rows == 1);
    for (const std::int64_t memory : {megabyte, 10 * megabyte}) {
      Counting engine(open());
      const auto parts = read_examples(engine, columns, query(unit, rows), key, limits(memory));
      EXPECT_GT(engine.streams, memory == megabyte ? 3 : 0);
      expect_same(whole, parts);
    }
  }
}

TEST_F(Reading, RowsBeyondTheBoundNeedNoParts) {
  ExampleQuery q = query("unit", 3);
  q.unit = e("unit - unit");  // one unit with all rows
  Counting engine(open());
  const auto examples = read_examples(engine, columns, q, key, limits(megabyte));
  EXPECT_EQ(engine.streams, 1);
  EXPECT_EQ(examples.rows(), 3U);
  EXPECT_EQ(examples.units(), 1U);
  q.rows_a_unit = 1'000'000;
  EXPECT_THROW(read_examples(engine, columns, q, key, limits(megabyte)), OutOfMemory);
}

TEST_F(Reading, RowsBeyondTheMemoryKeepTheirOrder) {
  Counting engine(open());
  const auto parts = read_examples(engine, columns, query(nullptr, 1), key, limits(megabyte));
  EXPECT_GT(engine.streams, 3);
  EXPECT_EQ(parts.rows(), 75'000U);
  expect_same(parts, read_examples(*open(), columns, query(nullptr, 1), key));
}

TEST_F(Reading, EqualRowsNeedNoParts) {
  ExampleQuery q = query(nullptr, 1);
  q.features = {{"v",
                 {e("CASE WHEN w < 500 THEN 1.0 ELSE 3.0 END"), std::nullopt},
                 Scaled{0, 4, true}}};  // six different rows
  Counting engine(open());
  const auto few = read_examples(engine, columns, q, key, limits(megabyte));
  EXPECT_EQ(engine.streams, 1);
  expect_same(few, read_examples(*open(), columns, q, key));
}

TEST_F(Reading, EncodesMissingAndUnlistedValues) {
  const auto engine = open_text(
      "unit,name,v,w,k\n1,x,50,1,a\n2,y,50,2,d\n3,z,,3,b\n,q,50,4,c\n5,,50,,c\n6,o,1e999,6,a\n7,p,"
      "50,7,\n");
  ExampleQuery q = query("unit", 1);
  q.features = {{"v", {e("v"), 100.0}, Scaled{0, 100}},
                {"name", {e("name"), std::nullopt}, OneOf{{std::string("x"), std::string("o")}}}};
  std::map<int, std::vector<int>> taken_rows;
  const auto examples = read_examples(*engine, columns, q, key);
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    taken_rows[examples.target(i)].insert(
        taken_rows[examples.target(i)].end(),
        {examples.row(i)[0], examples.row(i)[1], examples.row(i)[2]});
  }
  // 1 and 6 have the target a, 3 has b; 2 and 7 have no target, one row has no unit, 5 no name
  EXPECT_EQ(examples.units(), 3U);
  EXPECT_EQ(taken_rows.size(), 2U);
  EXPECT_EQ(taken_rows[1], (std::vector<int>{feature_one, 0, 0}));
  auto& a = taken_rows[0];
  ASSERT_EQ(a.size(), 6U);
  if (a[0] != 0) std::rotate(a.begin(), a.begin() + 3, a.end());
  EXPECT_EQ(a, (std::vector<int>{0, feature_one, 0, feature_one, 0, feature_one}));
}

TEST_F(Reading, WithoutTargetOrUnitKeepsEveryRowThatHasTheFeatures) {
  const auto engine = open_text("unit,name,v,w,k\n1,x,50,1,a\n2,y,50,2,d\n3,z,,3,b\n,q,50,4,c\n");
  ExampleQuery q = query(nullptr, 1);
  q.target.reset();
  q.where = e("w < 4");
  EXPECT_EQ(read_examples(*engine, columns, q, key).rows(), 2U);
}

TEST_F(Reading, QueriesThatDoNotFitTheColumnsAreRefused) {
  const auto engine = open();
  const auto refused = [&](const ExampleQuery& q) {
    EXPECT_THROW(read_examples(*engine, columns, q, key), InvalidValue);
  };
  const auto with = [](Feature feature) {
    ExampleQuery q = query(nullptr, 1);
    q.features = {std::move(feature)};
    return q;
  };
  refused(query("unit", 0));
  refused(with({"k", {e("k"), std::nullopt}, Scaled{0, 1}}));
  refused(with({"v", {e("v"), std::nullopt}, Scaled{1, 1}}));
  refused(with({"v", {e("v"), std::nullopt}, OneOf{{1.0}}}));
  refused(with({"v", {e("v"), std::string("0")}, Scaled{0, 1}}));
  refused(with({"k", {e("k"), std::nullopt}, OneOf{{}}}));
  refused(with({"k", {e("k"), std::nullopt}, OneOf{{std::int64_t{1}}}}));
  refused(with({"k", {e("k"), std::nullopt}, OneOf{{std::string("a"), std::string("a")}}}));
  refused(with({"k", {e("k"), std::int64_t{1}}, OneOf{{std::string("a")}}}));
  ExampleQuery none = query(nullptr, 1);
  none.features.clear();
  refused(none);
}

TEST_F(Reading, AnInvalidTextAmongManyRowsChangesNothing) {
  // near the end, so that rows have been streamed before it is reached
  const auto path = (folder / "odd.parquet").string();
  in_duckdb(
      "COPY (SELECT range AS unit, CASE WHEN range = 290000 THEN 'QQQQ' ELSE 'p' || range END AS "
      "name, 1.0::DOUBLE AS v, range % 1000 AS w, 'a' AS k "
      "FROM range(300000)) TO '" +
      path + "' (FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 20000)");
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_NE(bytes.find("QQQQ"), std::string::npos);
  for (auto at = bytes.find("QQQQ"); at != std::string::npos; at = bytes.find("QQQQ", at + 1))
    bytes.replace(at, 4, "\xff\xfe\xed\xa0");
  std::ofstream(path, std::ios::binary) << bytes;
  for (const char* unit : {static_cast<const char*>(nullptr), "name"}) {
    for (const std::int64_t memory : {0 * megabyte, (unit == nullptr ? 2 : 40) * megabyte}) {
      Counting engine(open("odd.parquet"));
      ExampleQuery q = query(unit, 1);
      if (unit == nullptr) q.where = e("name <> 'p1'");
      const auto examples = read_examples(engine, columns, q, key, limits(memory));
      EXPECT_EQ(examples.rows(), unit == nullptr ? 299'998U : 299'999U);
      EXPECT_GT(engine.streams, 1);
    }
  }
}

TEST_F(Reading, ProgressIncreasesAndMayStop) {
  std::vector<double> reported;
  read_examples(*open(), columns, query("unit", 1), key, limits(megabyte), [&](double share) {
    reported.push_back(share);
    return true;
  });
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_DOUBLE_EQ(reported.back(), 1);
  const auto engine = open();
  EXPECT_THROW(
      read_examples(*engine, columns, query("unit", 1), key, {}, [](double) { return false; }),
      EngineError);
  EXPECT_GT(read_examples(*engine, columns, query("unit", 1), key).rows(), 0U);  // and goes on
}

TEST_F(Reading, AnExceptionOfTheCallbackEndsTheStreamOnly) {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(open());
  std::unique_ptr<PostgresServer> server;
  if (PostgresServer::installed()) {
    server = std::make_unique<PostgresServer>();
    server->sql(
        "CREATE TABLE t AS SELECT i::bigint AS unit, 'p' || i AS name, i::double precision AS v, "
        "i::bigint AS w, 'a'::text AS k FROM "
        "generate_series(1, 200000) AS i");
    engines.push_back(open_engine(PostgresSource{server->connection(), "t"}, columns));
  }
  for (const auto& engine : engines) {
    const std::string all = "SELECT unit FROM " + engine->table();
    int batches = 0;
    EXPECT_THROW(engine->stream(all, {Batch::Kind::whole},
                                [&](const Batch&) {
                                  if (++batches == 3) throw std::runtime_error("enough");
                                }),
                 std::runtime_error);
    EXPECT_EQ(batches, 3);
    EXPECT_THROW(engine->stream("SELECT nothing FROM " + engine->table(), {Batch::Kind::whole},
                                [](const Batch&) {}),
                 EngineError);
    EXPECT_THROW(engine->stream(all, {Batch::Kind::whole, Batch::Kind::whole}, [](const Batch&) {}),
                 std::logic_error);
    EXPECT_THROW(
        engine->stream("CREATE TABLE other(i INTEGER)", {Batch::Kind::whole}, [](const Batch&) {}),
        std::logic_error);
    std::size_t rows = 0;
    std::int64_t sum = 0;
    engine->stream(all, {Batch::Kind::whole}, [&](const Batch& batch) {
      rows += batch.rows;
      for (std::size_t i = 0; i < batch.rows; ++i) sum += batch.columns[0].int64s[i];
    });
    EXPECT_EQ(rows, engine->dialect() == Dialect::duckdb ? 100'000U : 200'000U);
    EXPECT_GT(sum, 0);
    engine->stream("SELECT unit FROM " + engine->table() + " WHERE 1 = 0", {Batch::Kind::whole},
                   [](const Batch&) { FAIL(); });
  }
}

TEST_F(Reading, AnotherKeySelectsOtherRows) {
  const auto one = read_examples(*open(), columns, query("unit", 1), key);
  const auto other = read_examples(*open(), columns, query("unit", 1), {{31, 32, 33, 35}});
  ASSERT_EQ(one.rows(), other.rows());
  const auto rows = [](const Examples& examples) {
    std::vector<std::pair<std::int16_t, std::int16_t>> all;
    for (std::size_t i = 0; i < examples.rows(); ++i)
      all.emplace_back(examples.row(i)[0], examples.row(i)[1]);
    std::sort(all.begin(), all.end());
    return all;
  };
  const auto a = rows(one);
  const auto b = rows(other);
  std::vector<std::pair<std::int16_t, std::int16_t>> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  EXPECT_LT(both.size(),
            one.rows() / 2);  // one in four rows is selected, and some rows are equal by chance
  EXPECT_GT(both.size(), one.rows() / 10);
}

// Units with equal hashes and different names are two units.
TEST(UnitRows, UnitsWithEqualHashesAreDistinguished) {
  using data_detail::UnitRows;
  UnitRows numbered(1, UnitRows::Unit::whole, 2, key);
  for (const std::int64_t name : {5, -6, 5, 5}) {
    const auto code = static_cast<std::int16_t>(name);
    numbered.add({&code, 1}, 7, name);
  }
  std::vector<int> taken_rows;
  numbered.take_rows([&](bool is_first, std::span<const std::int16_t> row) {
    taken_rows.push_back(is_first ? 100 + row[0] : row[0]);
  });
  EXPECT_EQ(taken_rows, (std::vector<int>{94, 105, 5}));

  UnitRows rows(1, UnitRows::Unit::text, 2, key);
  for (const std::string_view name : {"a", "b", "a", "b", "a", "c"}) {
    const std::int16_t code = static_cast<std::int16_t>(name[0]);
    rows.add({&code, 1}, 7, name);
  }
  std::vector<int> firsts;
  std::vector<int> codes;
  rows.take_rows([&](bool is_first, std::span<const std::int16_t> row) {
    firsts.push_back(is_first ? 1 : 0);
    codes.push_back(row[0]);
  });
  EXPECT_EQ(firsts, (std::vector<int>{1, 0, 1, 0, 1}));
  EXPECT_EQ(codes, (std::vector<int>{'a', 'a', 'b', 'b', 'c'}));
}

}  // namespace
}  // namespace sotto
