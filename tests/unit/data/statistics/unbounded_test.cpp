// Exact statistics are equal on both engines.
#include "data/api/unbounded.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "../../../support/postgres_server.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

TEST(Unbounded, IsEqualInDuckDbAndPostgresql) {
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  if (!PostgresServer::installed())
    GTEST_SKIP() << "no PostgreSQL; type: apt-get install postgresql";
  char name[] = "/tmp/sotto-unbounded-XXXXXX";
  const fs::path folder = mkdtemp(name);
  std::ofstream file(folder / "d.csv");
  file << "u,k,i,r\n";
  std::string values;
  for (int row = 0; row < 400; ++row) {
    const std::string u = std::to_string(row * row % 23);
    const std::string k = row % 5 == 0 ? "b" : "a";
    const std::string i =
        row % 11 == 0 ? "" : std::to_string(row % 2 == 0 ? 9'007'199'254'740'993 + row : -row);
    const std::string r = with_decimals(row * 0.37 - 40, 6);
    file << u << "," << k << "," << i << "," << r << "\n";
    values += (row == 0 ? "(" : ", (") + u + ", '" + k + "', " + (i.empty() ? "NULL" : i) + ", " +
              r + ")";
  }
  file.close();
  const PostgresServer server;
  server.sql(
      "CREATE TABLE d(u bigint, k text, i bigint, r double precision); INSERT INTO d VALUES " +
      values);
  const std::vector<Column> columns{
      {"u", Type::integer}, {"k", Type::text}, {"i", Type::integer}, {"r", Type::real}};
  Limits limits;
  limits.duckdb = libduckdb;
  const auto duckdb =
      open_engine(FileSource{.path = folder / "d.csv", .format = ""}, columns, limits);
  const auto postgresql = open_engine(PostgresSource{server.connection(), "d"}, columns, limits);
  for (const char* of : {"i", "r"}) {
    for (const bool grouped : {false, true}) {
      for (const Statistic statistic :
           {Statistic::rows, Statistic::units, Statistic::sum, Statistic::mean,
            Statistic::mean_of_units, Statistic::variance, Statistic::bins, Statistic::quantiles}) {
        Aggregate aggregate;
        aggregate.unit = Expression::parse("u", columns);
        aggregate.where = Expression::parse("r > -39", columns);
        if (statistic != Statistic::rows && statistic != Statistic::units)
          aggregate.of = Field{Expression::parse(of, columns), std::nullopt};
        if (grouped) aggregate.keys = {{Expression::parse("k", columns), std::nullopt}};
        if (grouped)
          aggregate.groups = {{std::string("a")}, {std::string("b")}, {std::string("none")}};
        aggregate.bins = {-30, 10, 9};
        const std::vector<double> quantiles{0.1, 0.5};
        const auto one = unbounded(*duckdb, columns, aggregate, statistic, quantiles);
        const auto other = unbounded(*postgresql, columns, aggregate, statistic, quantiles);
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t at = 0; at < one.size(); ++at) {
          EXPECT_TRUE((std::isnan(one[at]) && std::isnan(other[at])) ||
                      std::abs(one[at] - other[at]) <= 1e-9 * std::abs(one[at]))
              << of << grouped << static_cast<int>(statistic) << ": " << one[at] << " "
              << other[at];
        }
      }
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sotto
