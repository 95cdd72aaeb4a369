// A record never changes how other records are read, whatever its contents: neighbouring tables
// through every reader.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "../../support/in_duckdb.hpp"
#include "../../support/postgres_server.hpp"
#include "../../support/spark_server.hpp"
#include "sotto/data/bounded.hpp"
#include "sotto/data/examples.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Dice = std::mt19937_64;

const std::vector<Column> columns{
    {"unit", Type::integer}, {"k", Type::text},      {"n", Type::integer}, {"x", Type::real},
    {"d", Type::date},       {"s", Type::timestamp}, {"b", Type::boolean}};
constexpr int people = 40;

std::size_t below(Dice& dice, std::size_t n) { return static_cast<std::size_t>(dice() % n); }
template <class T>
const T& any(Dice& dice, const std::vector<T>& of) {
  return of[below(dice, of.size())];
}

/// Returns a field that a hostile person may write: close to a value of some type, long, or not
/// UTF-8.
std::string hostile_field(Dice& dice) {
  static const std::vector<std::string> known{"",
                                              "1",
                                              "59.0",
                                              "NA",
                                              "-",
                                              "1e999",
                                              "-1e308",
                                              "5e-324",
                                              "1e-320",
                                              "nan",
                                              "inf",
                                              "-Infinity",
                                              "9223372036854775807",
                                              "9223372036854775808",
                                              "1e18",
                                              "a",
                                              "b",
                                              "'",
                                              "\"",
                                              "\"\"",
                                              "\\",
                                              "\\\"",
                                              "a\"b",
                                              "2020-02-30",
                                              "9999-12-31",
                                              "10000-01-01",
                                              "0000-01-01",
                                              "2020-01-01 24:00:00",
                                              "9999-12-31 23:59:59.999999",
                                              "true",
                                              "1\r",
                                              "\xff\xfe",
                                              "\xed\xa0\x80",
                                              "\xc3",
                                              std::string("a\0b", 3),
                                              "{",
                                              "}]",
                                              "null",
                                              "é",
                                              "\xEF\xBB\xBF"};
  if (below(dice, 4) != 0) return any(dice, known);
  static const std::string alphabet("\",;\r\t\0\xff'\\a1.e-+{}[]:\xc3\xa9 \n", 25);
  std::string text(below(dice, 40), ' ');
  for (char& c : text) c = alphabet[below(dice, alphabet.size())];
  return text;
}

std::string good_value(std::size_t column, int i) {
  switch (column) {
    case 0: return std::to_string(i);
    case 1: return i % 3 == 0 ? "a" : "b";
    case 2: return std::to_string(i % 7);
    case 3: return std::to_string(i % 11) + ".5";
    case 4: return "2020-01-0" + std::to_string(1 + i % 9);
    case 5: return "2020-01-01 00:00:0" + std::to_string(i % 10);
    default: return i % 2 == 0 ? "true" : "false";
  }
}

/// Returns the fields of the hostile person's record. Its unit is no other person's.
std::vector<std::string> hostile_fields(Dice& dice) {
  std::vector<std::string> fields{below(dice, 3) == 0 ? "nobody" : "999"};
  for (std::size_t i = 1; i < columns.size(); ++i)
    fields.push_back(below(dice, 2) == 0 ? good_value(i, 5) : hostile_field(dice));
  return fields;
}

std::string without(std::string text, const std::string& marks) {
  std::erase_if(text, [&](char c) { return marks.find(c) != std::string::npos; });
  return text;
}

std::string doubled(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

/// Returns a JSON text. Invalid UTF-8 is copied.
std::string json_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += "\\u00" + std::string(c < 16 ? "0" : "1") + "0123456789abcdef"[c % 16];
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string json_record(const std::vector<std::string>& values) {
  std::string text = "{";
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += (i == 0 ? "\"" : ", \"") + columns[i].name + "\": " + values[i];
  return text + "}";
}

std::string good_json(int i) {
  std::vector<std::string> values;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool is_text = c == 1 || c == 4 || c == 5;
    values.push_back(is_text ? json_text(good_value(c, i)) : good_value(c, i));
  }
  return json_record(values);
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string all;
  for (std::size_t i = 0; i < parts.size(); ++i) all += (i == 0 ? "" : between) + parts[i];
  return all;
}

std::vector<std::string> good_fields(int i) {
  std::vector<std::string> fields;
  for (std::size_t c = 0; c < columns.size(); ++c) fields.push_back(good_value(c, i));
  return fields;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Column& column : columns) all.push_back(column.name);
  return all;
}

/// The statistics that are computed on every table.
std::vector<Aggregate> questions() {
  const auto e = [](const char* text) { return Expression::parse(text, columns); };
  std::vector<Aggregate> all;
  const auto add = [&](Gather gather, const char* of, bool by_key, bool by_unit,
                       const char* where = nullptr) {
    Aggregate a;
    a.gather = gather;
    if (of != nullptr) a.of = Field{e(of), std::nullopt};
    if (by_key) {
      a.keys = {{e("k"), std::nullopt}};
      a.groups = {{std::string("a")}, {std::string("b")}, {std::string("\"")}};
    }
    if (by_unit) a.unit = e("unit");
    if (where != nullptr) a.where = e(where);
    a.steps = Steps::between(
        0, 8, of != nullptr && std::string(of) == "n" ? Type::integer : Type::real, 1 << 10);
    a.bins = {0, 0.5, 20};
    all.push_back(a);
  };
  add(Gather::rows, nullptr, false, false);
  add(Gather::rows, nullptr, true, false);
  add(Gather::units, nullptr, true, true);
  add(Gather::values, "x", true, false);
  add(Gather::values, "n", true, true);
  add(Gather::squares, "x", true, true);
  add(Gather::totals, "x", false, true);
  add(Gather::bins, "x", false, false);
  add(Gather::bins, "x", true, true);
  add(Gather::bins, "n", false, false);
  add(Gather::rows, nullptr, true, false,
      "x * x > 1 AND x / n < 1e10 AND d > DATE '2019-01-01' AND s < TIMESTAMP '2021-01-01 "
      "00:00:00' AND NOT b");
  all.back().groups.pop_back();
  add(Gather::values, "x", false, false, "k = 'a' OR n + 1 > 2 OR k > 'b'");
  return all;
}

/// Reads training examples, with each row as a unit, and with each person as a unit.
std::vector<ExampleQuery> readings() {
  const auto e = [](const char* text) { return Expression::parse(text, columns); };
  ExampleQuery all;
  all.features = {{"x", {e("x"), std::nullopt}, Scaled{0, 8}},
                  {"n", {e("n"), std::int64_t{2}}, Scaled{-5, 5, true}},
                  {"k",
                   {e("k"), std::string("b")},
                   OneOf{{std::string("a"), std::string("b"), std::string("\"")}}}};
  all.target = Feature{"b", {e("b"), false}, OneOf{{false, true}}};
  ExampleQuery of_people = all;
  of_people.unit = e("unit");
  of_people.where = e("x * x > 1 OR d > DATE '2019-01-01' OR s < TIMESTAMP '2021-01-01 00:00:00'");
  of_people.features.push_back({"day", {e("EXTRACT(day FROM d)"), std::int64_t{0}}, Scaled{0, 31}});
  return {all, of_people};
}

/// Returns the rows, sorted.
using Learnt = std::vector<std::vector<std::int16_t>>;
Learnt learnt(Engine& engine, const ExampleQuery& query, const BoundingKey& key) {
  const Examples examples = read_examples(engine, columns, query, key);
  Learnt rows;
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    rows.emplace_back(examples.row(i), examples.row(i) + examples.stride());
    rows.back().push_back(examples.target(i));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

struct Answers {
  std::vector<GroupTotals> gathered;
  std::vector<Learnt> examples = {};
  std::map<std::string, std::int64_t> present;
};

Answers ask(Engine& engine) {
  const BoundingKey key{{5, 6, 7, 8}};
  Answers answers;
  for (const Aggregate& a : questions())
    answers.gathered.push_back(gather(engine, columns, a, key));
  for (const ExampleQuery& query : readings())
    answers.examples.push_back(learnt(engine, query, key));
  Aggregate a = questions()[2];
  const PresentGroups groups = present_groups(engine, columns, a, key);
  for (std::size_t i = 0; i < groups.groups.size(); ++i)
    answers.present[std::get<std::string>(groups.groups[i][0])] = groups.units[i];
  // the groups that exist are listed by name
  a.groups = groups.groups;
  answers.gathered.push_back(gather(engine, columns, a, key));
  answers.gathered.back().counts.clear();
  return answers;
}

std::int64_t moved(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::int64_t all = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    all += std::abs((i < a.size() ? a[i] : 0) - (i < b.size() ? b[i] : 0));
  return all;
}

void expect_near(const Answers& base, const Answers& other, const std::string& what) {
  const auto all = questions();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t range = all[i].steps.range();
    EXPECT_LE(moved(base.gathered[i].counts, other.gathered[i].counts), 1)
        << what << ", question " << i;
    EXPECT_LE(moved(base.gathered[i].sums, other.gathered[i].sums), range)
        << what << ", question " << i;
    EXPECT_LE(moved(base.gathered[i].squares, other.gathered[i].squares), range * range)
        << what << ", question " << i;
  }
  for (std::size_t i = 0; i < base.examples.size(); ++i) {
    const auto& before = base.examples[i];
    const auto& after = other.examples[i];
    EXPECT_EQ(before.size(), people);
    EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()))
        << what << ", examples " << i;
    EXPECT_LE(after.size(), before.size() + 1) << what << ", examples " << i;
  }
  std::int64_t units = 0;
  auto seen = base.present;
  for (const auto& [name, count] : other.present) {
    units += std::abs(count - seen[name]);
    seen.erase(name);
  }
  for (const auto& [name, count] : seen) units += count;
  EXPECT_LE(units, 1) << what << ", private keys";
}

class HostileRows : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    char name[] = "/tmp/sotto-hostile-XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder); }
  Answers answers_of(FileSource source, const std::string& bytes) const {
    source.path = folder / "table";
    std::ofstream(source.path, std::ios::binary) << bytes;
    Limits limits;
    limits.duckdb = libduckdb;
    limits.threads = 2;
    return ask(*open_engine(source, columns, limits));
  }
  /// Returns the records with one more record at some place, in all ways of separating it.
  void expect_alone(const FileSource& source, const std::string& start,
                    const std::vector<std::string>& records, const std::string& between,
                    const std::string& end, const std::vector<std::string>& hostile,
                    Dice& dice) const {
    const Answers base = answers_of(source, start + joined(records, between) + end);
    EXPECT_EQ(base.gathered[0].counts[0], people);
    for (const std::string& record : hostile) {
      auto more = records;
      const std::size_t place = below(dice, records.size() + 1);
      more.insert(more.begin() + static_cast<std::ptrdiff_t>(place), record);
      const std::string what = "record " + std::to_string(place) + ": " + record.substr(0, 200);
      expect_near(base, answers_of(source, start + joined(more, between) + end), what);
      if (testing::Test::HasFailure()) return;
    }
  }
  fs::path folder;
};

void separated(Dice& dice, int cases, char separator, bool by_lines,
               std::vector<std::string>& records, std::vector<std::string>& hostile) {
  const std::string between(1, separator);
  for (int i = 0; i < people; ++i) records.push_back(joined(good_fields(i), between));
  for (int i = 0; i < cases; ++i) {
    auto fields = hostile_fields(dice);
    if (i % 10 == 0) fields[1] = std::string((1 << 20) + below(dice, 100), 'x');
    if (i % 10 == 1) {  // a field that looks like records of other people
      fields[1].clear();
      while (fields[1].size() < (1U << 20U) + 50'000)
        fields[1] += records.front() + (by_lines ? "" : "\n");
    }
    for (auto& field : fields)
      field = by_lines && below(dice, 3) != 0 ? without(field, "\n")
                                              : without(doubled(field), by_lines ? "\n" : "");
    hostile.push_back(joined(fields, between));
    if (by_lines && i % 5 == 2)
      hostile.back() = without(hostile_field(dice) + between + hostile_field(dice) + "\"", "\n");
  }
}

std::string header(char separator) { return joined(names(), std::string(1, separator)) + "\n"; }

void try_separated(Dice& dice, int cases,
                   const std::function<void(FileSource, std::string, std::vector<std::string>,
                                            std::vector<std::string>)>& expect) {
  for (const auto& [format, separator, ending] :
       std::vector<std::tuple<std::string, char, std::string>>{{"csv", ',', "lines"},
                                                               {"csv", ',', "quoted"},
                                                               {"tsv", '\t', "lines"},
                                                               {"csv", ';', "lines"}}) {
    std::vector<std::string> records;
    std::vector<std::string> hostile;
    separated(dice, cases, separator, ending == "lines", records, hostile);
    expect({"", format, ending, {"NA"}, std::string(1, separator)}, header(separator), records,
           hostile);
  }
}

void try_json(Dice& dice, int cases, std::vector<std::string>& records,
              std::vector<std::string>& hostile, bool lines) {
  for (int i = 0; i < people; ++i) records.push_back(good_json(i));
  for (int i = 0; i < cases; ++i) {
    auto fields = hostile_fields(dice);
    static const std::vector<std::string> values{
        "null",    "true",       "59.0",        "1e400",       "1e308", "5e-324",
        "[[[1]]]", "{\"k\": 1}", "\"\\ud800\"", "\"\\u0000\"", "-0.0"};
    for (auto& field : fields) field = below(dice, 3) == 0 ? any(dice, values) : json_text(field);
    fields[0] = "999";
    if (i % 10 == 0) fields[1] = "\"" + std::string((1 << 20) + below(dice, 100), ']') + "\"";
    if (i % 10 == 1) fields[1] = std::string(3000, '[') + std::string(3000, ']');
    hostile.push_back(json_record(fields));
    if (lines && i % 4 == 2)
      hostile.back() =
          without(hostile_field(dice) + "{\"unit\": 999, \"k\": \"" + hostile_field(dice), "\n");
  }
}

void every_text_format(
    std::uint64_t seed, int cases,
    const std::function<void(const FileSource&, const std::string&, const std::vector<std::string>&,
                             const std::string&, const std::string&,
                             const std::vector<std::string>&, Dice&)>& expect_alone) {
  Dice dice(seed);
  try_separated(
      dice, cases,
      [&](const FileSource& source, const std::string& start,
          const std::vector<std::string>& records, const std::vector<std::string>& hostile) {
        expect_alone(source, start, records, "\n", "\n", hostile, dice);
      });
  std::vector<std::string> records;
  std::vector<std::string> hostile;
  try_json(dice, cases, records, hostile, true);
  expect_alone({"", "json", "", {"NA"}}, "", records, "\n", "\n", hostile, dice);
  hostile.clear();
  records.clear();
  try_json(dice, cases, records, hostile, false);
  expect_alone({"", "json-array", "", {"NA"}}, "[", records, ",\n", "]", hostile, dice);
}

TEST_F(HostileRows, InTextFilesDoNotChangeOtherRows) {
  every_text_format(15, 10, [this](auto&&... all) { expect_alone(all...); });
}

class SlowHostileRows : public HostileRows {};
TEST_F(SlowHostileRows, InTextFilesDoNotChangeOtherRowsInHundredsOfCases) {
  for (std::uint64_t seed = 100; seed < 105; ++seed)
    every_text_format(seed, 30, [this](auto&&... all) { expect_alone(all...); });
}

// ---- Parquet and PostgreSQL: values, not texts ----

std::string good_sql(int i) {
  std::string sql = "(";
  for (std::size_t c = 0; c < columns.size(); ++c) {
    static const std::vector<std::string> types{"BIGINT", "TEXT",      "BIGINT", "DOUBLE PRECISION",
                                                "DATE",   "TIMESTAMP", "BOOLEAN"};
    sql += (c == 0 ? "CAST('" : ", CAST('") + good_value(c, i) + "' AS " + types[c] + ")";
  }
  return sql + ")";
}

/// Returns SQL for both engines. Texts that only Parquet can store are inserted later.
std::vector<std::string> hostile_sql(bool postgresql) {
  std::vector<std::string> all;
  for (const char* x : {"5e-324", "-5e-324", "1e-320", "2.2250738585072014e-308", "1e-200", "NaN",
                        "Infinity", "-Infinity", "1.7976931348623157e308", "-1e150", "-0"}) {
    all.push_back("(999, 'a', 1, CAST('" + std::string(x) +
                  "' AS DOUBLE PRECISION), NULL, NULL, NULL)");
  }
  for (const char* n : {"9223372036854775807", "-9223372036854775808"})
    all.push_back("(999, 'b', CAST('" + std::string(n) + "' AS BIGINT), 1, NULL, NULL, true)");
  for (const char* d : {"infinity", "-infinity", "10000-01-01"}) {
    all.push_back("(999, 'a', 1, 1, CAST('" + std::string(d) + "' AS DATE), CAST('" +
                  std::string(d) + "' AS TIMESTAMP), NULL)");
  }
  all.emplace_back("(NULL, NULL, NULL, NULL, NULL, NULL, NULL)");
  if (postgresql) {
    all.emplace_back("(999, 'é\"''', 1, 1, DATE '4713-01-01 BC', TIMESTAMP '4713-01-01 BC', NULL)");
  } else {
    all.emplace_back(
        "(999, 'a' || chr(0) || 'b', 1, 1, DATE '4713-01-01 (BC)', "
        "make_timestamp(-210863520000000000), NULL)");
    all.emplace_back("(999, 'QQQQ', 1, 1, NULL, NULL, NULL)");
    all.emplace_back("(999, 'QQQQ' || repeat('x', 2000000), 1, 1, NULL, NULL, NULL)");
  }
  return all;
}

std::string values_of(const std::vector<std::string>& more) {
  std::vector<std::string> rows;
  for (int i = 0; i < people; ++i) rows.push_back(good_sql(i));
  rows.insert(rows.begin() + 7, more.begin(), more.end());
  return joined(rows, ", ");
}

/// Writes a Parquet file with these records among the good ones, and invalid UTF-8 in them.
std::string parquet_of(const fs::path& folder, const std::vector<std::string>& more) {
  const std::string path = (folder / "t.parquet").string();
  in_duckdb(
      "COPY (SELECT CAST(unit AS BIGINT) AS unit, k, CAST(n AS BIGINT) AS n, x, d, s, b FROM "
      "(VALUES " +
      values_of(more) + ") AS v(unit, k, n, x, d, s, b)) TO '" + path +
      "' (FORMAT parquet, COMPRESSION uncompressed)");
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (auto at = bytes.find("QQQQ"); at != std::string::npos; at = bytes.find("QQQQ", at + 1))
    bytes.replace(at, 4, "\xff\xfe\xed\xa0");
  return bytes;
}

TEST_F(HostileRows, InParquetDoNotChangeOtherRows) {
  const auto answers = [&](const std::vector<std::string>& more) {
    return answers_of({"", "parquet"}, parquet_of(folder, more));
  };
  const Answers base = answers({});
  EXPECT_EQ(base.gathered[0].counts[0], people);
  for (const std::string& record : hostile_sql(false)) {
    const Answers other = answers({record});
    expect_near(base, other, record);
    EXPECT_EQ(other.gathered[0].counts[0], people + 1) << record;
  }
}

TEST_F(HostileRows, HaveEqualTotalsInSparkAndDuckDb) {
  if (!SparkServer::is_there()) GTEST_SKIP() << SparkServer::missing;
  const auto all = hostile_sql(false);
  for (const auto& more : {std::vector<std::string>{}, all, {all[0], all[5]}, {all.back()}}) {
    const Answers in_duckdb = answers_of({"", "parquet"}, parquet_of(folder, more));
    fs::permissions(folder, fs::perms::all);  // executors may run as another user
    const Answers in_spark =
        ask(*open_engine(SparkServer::parquet((folder / "table").string()), columns));
    EXPECT_EQ(in_spark.gathered[0].counts[0], people + static_cast<std::int64_t>(more.size()));
    ASSERT_EQ(in_spark.gathered.size(), in_duckdb.gathered.size());
    for (std::size_t i = 0; i < in_duckdb.gathered.size(); ++i) {
      EXPECT_EQ(in_spark.gathered[i].counts, in_duckdb.gathered[i].counts) << "question " << i;
      EXPECT_EQ(in_spark.gathered[i].sums, in_duckdb.gathered[i].sums) << "question " << i;
      EXPECT_EQ(in_spark.gathered[i].squares, in_duckdb.gathered[i].squares) << "question " << i;
    }
    EXPECT_EQ(in_spark.examples, in_duckdb.examples);
    EXPECT_EQ(in_spark.present, in_duckdb.present);
  }
}

TEST_F(HostileRows, InPostgresqlDoNotChangeOtherRows) {
  if (!PostgresServer::installed())
    GTEST_SKIP() << "no PostgreSQL; type: apt-get install postgresql";
  const PostgresServer server;
  server.sql(
      "CREATE TABLE t(unit bigint, k text, n bigint, x double precision, d date, s timestamp, b "
      "boolean)");
  const auto answers = [&](const std::vector<std::string>& more) {
    server.sql("DELETE FROM t; INSERT INTO t VALUES " + values_of(more));
    return ask(*open_engine(PostgresSource{server.connection(), "t"}, columns));
  };
  const Answers base = answers({});
  EXPECT_EQ(base.gathered[0].counts[0], people);
  for (const std::string& record : hostile_sql(true)) {
    const Answers other = answers({record});
    expect_near(base, other, record);
    EXPECT_EQ(other.gathered[0].counts[0], people + 1) << record;
  }
}

}  // namespace
}  // namespace sotto
