// Inspections of sources for their curator.
#include "data/api/inspect.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../../support/in_duckdb.hpp"
#include "../../support/postgres_server.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class Inspect : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    char name[] = "/tmp/sotto-inspect-XXXXXX";
    folder = mkdtemp(name);
    limits.duckdb = libduckdb;
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }
  fs::path folder;
  Limits limits;
};

using Columns = std::vector<Column>;

TEST_F(Inspect, InfersTheNarrowestTypes) {
  const Columns expected{{"id", Type::integer}, {"age", Type::integer},  {"pay", Type::real},
                         {"day", Type::date},   {"at", Type::timestamp}, {"ok", Type::boolean},
                         {"word", Type::text},  {"none", Type::text}};
  FileSource csv{write("a.csv",
                       "id,age,pay,day,at,ok,word,none\n1,59.0,1,2020-01-01,2020-01-01,true,1,\n2,"
                       "NA,1.5,2020-01-02,2020-01-02 12:00,F,x,\n"
                       "short\n3,,,,,,,\n"),
                 "",
                 "",
                 {"NA"}};
  EXPECT_EQ(infer_columns(csv), expected);
  const FileSource json{write("a.json",
                              "{\"id\": 1, \"age\": 59.0, \"pay\": 1, \"day\": \"2020-01-01\", "
                              "\"at\": \"2020-01-01\", \"ok\": true, \"word\": \"1\", "
                              "\"none\": null, \"list\": [1]}\nnot json\n{\"id\": 2, \"pay\": 1.5, "
                              "\"at\": \"2020-01-02 12:00\"}\n")};
  EXPECT_EQ(infer_columns(json), expected);
  in_duckdb(
      "COPY (SELECT 1::INTEGER AS id, 2::UBIGINT AS age, 0.5::DOUBLE AS pay, DATE '2020-01-01' AS "
      "day, TIMESTAMP '2020-01-01' AS at, true AS ok, 'x' "
      "AS word, ['a'] AS list) TO '" +
      (folder / "a.parquet").string() + "' (FORMAT parquet)");
  EXPECT_EQ(infer_columns(FileSource{folder / "a.parquet"}, limits),
            Columns(expected.begin(), expected.end() - 1));
}

TEST_F(Inspect, SaysHowRecordsEnd) {
  EXPECT_EQ(infer_records({write("a.csv", "a,b\n1,\"x\"\n2,y\"z\n")}), "");
  EXPECT_EQ(infer_records({write("a.csv", "a,b\n1,\"x\ny\"\n")}), "quoted");
  EXPECT_EQ(infer_records({write("a.csv", "a,b\n1,\"x\n2,3\"4\n")}), "lines");
  EXPECT_EQ(infer_records({write("a.json", "{}\n")}), "");
}

const std::vector<ExpectedColumn> expected_columns{
    {{"who", Type::integer}, {}, {}, {}},
    {{"age", Type::integer}, 0.0, 100.0, {}},
    {{"town", Type::text}, {}, {}, {std::string("Rome"), std::string("Oslo")}}};

TEST_F(Inspect, CountsValuesThatDoNotFit) {
  const FileSource csv{write("a.csv",
                             "who,age,town\n1,59.0,Rome\n1,-1,Oslo\n1,101,Rome\n2,old,Bern\n2,,"
                             "\nnobody,5,Rome\n,6,NA\nshort\n3,1,\"a\"b\n3,7,\xff\n"),
                       "",
                       "",
                       {"NA"}};
  const auto check = [&](const Inspection& inspection, std::int64_t malformed) {
    EXPECT_EQ(inspection.records, 8);
    EXPECT_EQ(inspection.malformed, malformed);
    ASSERT_EQ(inspection.columns.size(), 3U);
    const auto numbers = [&](std::size_t i) {
      const auto& c = inspection.columns[i];
      return std::vector<std::int64_t>{c.unreadable, c.null, c.below, c.above, c.unlisted};
    };
    EXPECT_EQ(numbers(0), (std::vector<std::int64_t>{1, 1, 0, 0, 0}));
    EXPECT_EQ(numbers(1), (std::vector<std::int64_t>{1, 1, 1, 1, 0}));
    EXPECT_EQ(numbers(2), (std::vector<std::int64_t>{1, 2, 0, 0, 1}));
    EXPECT_EQ(inspection.units, 3);
    EXPECT_EQ(inspection.without_unit, 2);
    EXPECT_EQ(inspection.rows_a_unit.median, 2);
    EXPECT_EQ(inspection.rows_a_unit.largest, 3);
    ASSERT_TRUE(inspection.values_a_unit[2].has_value());
    EXPECT_EQ(inspection.values_a_unit[2]->largest, 2);
    EXPECT_EQ(inspection.values_a_unit[2]->median, 0);
    EXPECT_FALSE(inspection.values_a_unit[1].has_value());
  };
  check(inspect(csv, expected_columns, "who", limits), 2);
  const auto rows = inspect(csv, expected_columns, "", limits);
  EXPECT_EQ(rows.units, 8);
  EXPECT_EQ(rows.rows_a_unit.largest, 1);
  EXPECT_THROW(inspect(csv, expected_columns, "whom", limits), InvalidValue);
}

TEST_F(Inspect, InspectsATable) {
  if (!PostgresServer::installed())
    GTEST_SKIP() << "no PostgreSQL; type: apt-get install postgresql";
  const PostgresServer server;
  server.sql(
      "CREATE TABLE visits(who bigint, age numeric, town text, extra json); INSERT INTO visits "
      "VALUES (1, 59.0, 'Rome'), (1, -1, 'Oslo'), (1, 101, "
      "'Rome'), "
      "(2, 0.5, 'Bern'), (2, NULL, NULL), (NULL, 5, 'Rome')");
  const PostgresSource table{server.connection(), "visits"};
  EXPECT_EQ(infer_columns(table),
            (Columns{{"who", Type::integer}, {"age", Type::real}, {"town", Type::text}}));
  const auto inspection = inspect(table, expected_columns, "who");
  EXPECT_EQ(inspection.records, 6);
  EXPECT_EQ(inspection.columns[1].unreadable, 1);
  EXPECT_EQ(inspection.columns[1].below, 1);
  EXPECT_EQ(inspection.columns[1].above, 1);
  EXPECT_EQ(inspection.columns[2].unlisted, 1);
  EXPECT_EQ(inspection.units, 2);
  EXPECT_EQ(inspection.without_unit, 1);
  EXPECT_EQ(inspection.values_a_unit[2]->largest, 2);
}

}  // namespace
}  // namespace sotto
