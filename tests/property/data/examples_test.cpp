// Examples are equal on every engine, and equal to those that plain C++ computes.
#include "sotto/data/examples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "../../support/in_duckdb.hpp"
#include "../../support/postgres_server.hpp"
#include "../../support/spark_server.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Dice = std::mt19937_64;
using Codes = std::vector<std::int16_t>;

const std::vector<Column> columns{{"unit", Type::integer}, {"name", Type::text},
                                  {"x", Type::real},       {"n", Type::integer},
                                  {"k", Type::text},       {"b", Type::boolean}};

struct Person {
  std::optional<std::int64_t> unit;
  std::optional<std::string> name;
  std::optional<double> x;
  std::optional<std::int64_t> n;
  std::optional<std::string> k;
  std::optional<bool> b;
};

std::vector<Person> people(std::uint64_t seed, int rows) {
  Dice dice(seed);
  const auto below = [&](std::uint64_t n) { return dice() % n; };
  const auto awkward = [&]() -> double {
    switch (below(13)) {
      case 0: return -3;
      case 1: return 7;
      case 2: return std::nextafter(7.0, 8.0);
      case 3:
        return -3 + (static_cast<double>(below(32768)) + 0.5) *
                        (10.0 / 32768);  // a tie of rounding, or close to one
      case 4: return -1e149;
      case 5: return 9.9e149;
      case 6: return 1e-160;
      case 7: return -0.0;
      case 12: return std::uniform_real_distribution<double>(-1e-149, 1e-149)(dice);
      case 8: return std::ldexp(1.0, static_cast<int>(below(900)) - 450);
      default: return std::uniform_real_distribution<double>(-4, 8)(dice);
    }
  };
  std::vector<Person> all;
  for (int i = 0; i < rows; ++i) {
    Person one;
    if (below(20) != 0) one.unit = static_cast<std::int64_t>(below(40)) - 20;
    if (below(20) != 0)
      one.name = std::vector<std::string>{"", "a", "é", "O'Brien", "a\\b", "x,y"}[below(6)] +
                 std::to_string(below(8));
    if (below(15) != 0) one.x = below(30) == 0 ? 1e151 : awkward();
    if (below(15) != 0)
      one.n = below(10) == 0 ? std::int64_t{9'007'199'254'740'993} * (below(2) == 0 ? 1 : -1)
                             : static_cast<std::int64_t>(below(30)) - 10;
    if (below(15) != 0)
      one.k = std::vector<std::string>{"north", "south", "öst", "", "nor"}[below(5)];
    if (below(15) != 0) one.b = below(2) == 0;
    all.push_back(one);
  }
  return all;
}

std::string digits(double x) { return x == 0 ? "0" : shortest(x); }
std::string text_of(bool b) { return b ? "true" : "false"; }
std::string quoted_text(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char c : text) out += c == quote ? std::string(2, c) : std::string(1, c);
  return out + quote;
}
template <class T, class Print>
std::string or_null(const std::optional<T>& value, const std::string& null, const Print& print) {
  return value ? print(*value) : null;
}
std::string whole(std::int64_t n) { return std::to_string(n); }

std::string csv(const std::vector<Person>& all) {
  const auto text = [](const std::string& t) { return quoted_text(t, '"'); };
  std::string out = "unit,name,x,n,k,b\n";
  for (const Person& one : all) {
    out += or_null(one.unit, "", whole) + "," + or_null(one.name, "", text) + "," +
           or_null(one.x, "", digits) + "," + or_null(one.n, "", whole) + "," +
           or_null(one.k, "", text) + "," + or_null(one.b, "", text_of) + "\n";
  }
  return out;
}

std::string json(const std::vector<Person>& all) {
  const auto text = [](const std::string& t) {
    std::string escaped = "\"";
    for (const char c : t) escaped += c == '\\' ? "\\\\" : std::string(1, c);
    return escaped + "\"";
  };
  std::string out;
  for (const Person& one : all) {
    out += "{\"unit\": " + or_null(one.unit, "null", whole) +
           ", \"name\": " + or_null(one.name, "null", text) +
           ", \"x\": " + or_null(one.x, "null", digits) +
           ", \"n\": " + or_null(one.n, "null", whole) +
           ", \"k\": " + or_null(one.k, "null", text) +
           ", \"b\": " + or_null(one.b, "null", text_of) + "}\n";
  }
  return out;
}

std::string sql_values(const std::vector<Person>& all) {
  const auto text = [](const std::string& t) { return quoted_text(t, '\''); };
  const auto real = [](double x) { return "'" + digits(x) + "'"; };
  std::string out;
  for (const Person& one : all) {
    out += (out.empty() ? "(CAST(" : ", (CAST(") + or_null(one.unit, "NULL", whole) +
           " AS BIGINT), CAST(" + or_null(one.name, "NULL", text) + " AS TEXT), CAST(" +
           or_null(one.x, "NULL", real) + " AS DOUBLE PRECISION), CAST(" +
           or_null(one.n, "NULL", whole) + " AS BIGINT), CAST(" + or_null(one.k, "NULL", text) +
           " AS TEXT), CAST(" + or_null(one.b, "NULL", text_of) + " AS BOOLEAN))";
  }
  return out;
}

/// Features x, n (3 replaces NULL), k with three values, x + n, and 1 if b; the target is k.
ExampleQuery query(const char* unit, std::int64_t rows_a_unit) {
  const auto e = [](const char* text) { return Expression::parse(text, columns); };
  ExampleQuery q;
  q.features = {{"x", {e("x"), std::nullopt}, Scaled{-3, 7}},
                {"n", {e("n"), std::int64_t{3}}, Scaled{0, 10, true}},
                {"k",
                 {e("k"), std::string("elsewhere")},
                 OneOf{{std::string("north"), std::string("öst"), std::string("")}}},
                {"more", {e("x + n"), -2.0}, Scaled{-10, 10}},
                {"b", {e("b"), std::nullopt}, OneOf{{true}}},
                {"small", {e("x"), std::nullopt}, Scaled{-1e-149, 1e-149}},
                {"as small", {e("x + 0"), std::nullopt}, Scaled{-1e-149, 1e-149}}};
  q.target = Feature{
      "k",
      {e("k"), std::string("nor")},
      OneOf{{std::string("south"), std::string("north"), std::string("öst"), std::string("nor")}}};
  if (unit != nullptr) q.unit = e(unit);
  q.rows_a_unit = rows_a_unit;
  return q;
}

/// Returns the codes and the target of a row; nullopt if it is dropped.
std::optional<Codes> plain(const Person& one) {
  const bool is_number = one.x && std::abs(*one.x) < 1e150;
  if (!is_number || !one.b) return std::nullopt;
  const std::string k = one.k.value_or("elsewhere");
  const std::vector<std::string> classes{"south", "north", "öst", "nor"};
  const auto target = std::find(classes.begin(), classes.end(), one.k.value_or("nor"));
  if (target == classes.end()) return std::nullopt;
  const auto hot = [](bool yes) { return yes ? feature_one : std::int16_t{0}; };
  Codes codes{code_of(*one.x, {-3, 7}),
              code_of(one.n ? static_cast<double>(*one.n) : 3, {0, 10, true}),
              hot(k == "north"),
              hot(k == "öst"),
              hot(k.empty()),
              code_of(one.n ? *one.x + static_cast<double>(*one.n) : -2, {-10, 10}),
              hot(*one.b)};
  const double cleaned = (*one.x + 0x1p-448) - 0x1p-448;  // as expressions see it
  codes.insert(codes.end(), 2, code_of(cleaned, {-1e-149, 1e-149}));
  codes.push_back(static_cast<std::int16_t>(target - classes.begin()));
  return codes;
}

Codes row_of(const Examples& examples, std::size_t i) {
  Codes codes(examples.row(i), examples.row(i) + examples.width());
  codes.push_back(examples.target(i));
  return codes;
}

std::vector<std::vector<Codes>> units_of(const Examples& examples) {
  std::vector<std::vector<Codes>> units;
  for (std::size_t u = 0; u < examples.units(); ++u) {
    units.emplace_back();
    for (std::size_t i = examples.first(u); i < examples.first(u + 1); ++i)
      units.back().push_back(row_of(examples, i));
  }
  return units;
}

class EveryEngine : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(libduckdb)) return;
    char name[] = "/tmp/sotto-rows-XXXXXX";
    folder = mkdtemp(name);
    if (PostgresServer::installed()) server = std::make_unique<PostgresServer>();
  }
  static void TearDownTestSuite() {
    server.reset();
    fs::remove_all(folder);
  }
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  }
  static std::vector<std::unique_ptr<Engine>> engines(const std::vector<Person>& all) {
    Limits limits;
    limits.duckdb = libduckdb;
    limits.threads = 2;
    std::ofstream(folder / "t.csv") << csv(all);
    std::ofstream(folder / "t.json") << json(all);
    in_duckdb("COPY (SELECT * FROM (VALUES " + sql_values(all) +
              ") AS v(unit, name, x, n, k, b)) TO '" + (folder / "t.parquet").string() +
              "' (FORMAT parquet)");
    std::vector<std::unique_ptr<Engine>> opened;
    for (const char* name : {"t.csv", "t.json", "t.parquet"})
      opened.push_back(open_engine(FileSource{folder / name}, columns, limits));
    if (server) {
      server->sql(
          "DROP TABLE IF EXISTS t; CREATE TABLE t(unit bigint, name text, x double precision, n "
          "bigint, k text, b boolean); INSERT INTO t VALUES " +
          sql_values(all));
      opened.push_back(open_engine(PostgresSource{server->connection(), "t"}, columns));
    }
    if (SparkServer::is_there())
      opened.push_back(open_engine(SparkServer::parquet((folder / "t.parquet").string()), columns));
    return opened;
  }
  inline static fs::path folder;
  inline static std::unique_ptr<PostgresServer> server;
};

constexpr BoundingKey key{{21, 22, 23, 24}};

TEST_F(EveryEngine, ComputesTheCodesOfPlainArithmetic) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto all = people(seed, 400);
    std::vector<Codes> expected;
    for (const Person& one : all) {
      if (const auto codes = plain(one)) expected.push_back(*codes);
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_GT(expected.size(), 200U);
    for (const auto& engine : engines(all)) {
      const Examples examples = read_examples(*engine, columns, query(nullptr, 1), key);
      EXPECT_TRUE(examples.one_row_a_unit());
      std::vector<Codes> actual;
      for (std::size_t i = 0; i < examples.rows(); ++i) actual.push_back(row_of(examples, i));
      std::sort(actual.begin(), actual.end());
      ASSERT_EQ(actual, expected);
    }
  }
}

TEST_F(EveryEngine, SelectsEqualRowsOfEachUnitInEqualOrder) {
  for (const char* unit : {"unit", "name"}) {
    for (const std::int64_t rows : {1, 3, 1000}) {
      const auto all = people(static_cast<std::uint64_t>(rows), 400);
      std::map<std::string, std::vector<Codes>> whose;
      for (const Person& one : all) {
        const auto codes = plain(one);
        const auto name = std::string(unit) == "name" ? one.name
                          : one.unit                  ? std::optional(std::to_string(*one.unit))
                                                      : std::nullopt;
        if (codes && name) whose[*name].push_back(*codes);
      }
      std::vector<std::vector<Codes>> first;
      for (const auto& engine : engines(all)) {
        auto units = units_of(read_examples(*engine, columns, query(unit, rows), key));
        if (first.empty()) first = units;
        EXPECT_EQ(units, first);
        ASSERT_EQ(units.size(), whose.size());
        for (auto& one : units) std::sort(one.begin(), one.end());
        for (auto& [name, own] : whose) {
          std::sort(own.begin(), own.end());
          const bool is_there = std::any_of(units.begin(), units.end(), [&](const auto& one) {
            return one.size() == std::min(own.size(), static_cast<std::size_t>(rows)) &&
                   std::includes(own.begin(), own.end(), one.begin(), one.end());
          });
          EXPECT_TRUE(is_there) << name;
        }
      }
    }
  }
}

TEST_F(EveryEngine, AddingAUnitDoesNotChangeTheRowsOfOthers) {
  auto all = people(9, 300);
  std::vector<std::vector<std::vector<Codes>>> before;
  for (const auto& engine : engines(all))
    before.push_back(units_of(read_examples(*engine, columns, query("unit", 2), key)));
  for (int i = 0; i < 5; ++i)
    all.insert(all.begin() + 40 * i, Person{99, "a", 1e3 * i, i, "north", true});
  std::size_t at = 0;
  for (const auto& engine : engines(all)) {
    auto after = units_of(read_examples(*engine, columns, query("unit", 2), key));
    std::sort(after.begin(), after.end());
    auto& base = before[at++];
    std::sort(base.begin(), base.end());
    EXPECT_EQ(after.size(), base.size() + 1);
    EXPECT_TRUE(std::includes(after.begin(), after.end(), base.begin(), base.end()));
  }
}

}  // namespace
}  // namespace sotto
