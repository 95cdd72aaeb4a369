// A real PostgreSQL and real Parquet files: rows as from text files, one snapshot, nothing is
// written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include "../../../../support/in_duckdb.hpp"
#include "../../../../support/number.hpp"
#include "../../../../support/postgres_server.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/engine.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::vector<Column> all{{"b", Type::boolean}, {"i", Type::integer}, {"r", Type::real},
                              {"t", Type::text},    {"d", Type::date},    {"s", Type::timestamp}};
const std::string values =
    "(true, 1, 0.5, 'one', DATE '2020-01-01', TIMESTAMP '2020-01-01 12:00:00.5'), (false, -5, "
    "-1e100, 'O''Brien', DATE '0001-01-01', TIMESTAMP "
    "'1969-12-31 23:59:59'), (NULL, NULL, NULL, NULL, NULL, NULL), (true, 9223372036854775807, 0, "
    "'', DATE '9999-12-31', TIMESTAMP '2020-02-29')";

Rows everything(Engine& engine) {
  const std::string micros = engine.dialect() == Dialect::duckdb
                                 ? "epoch_us(s)"
                                 : "CAST(extract(epoch FROM s) * 1000000 AS bigint)";
  return engine.query(
      "SELECT CAST(CAST(b AS INTEGER) AS BIGINT), i, CAST(r * 2 AS BIGINT) , t, CAST(d AS TEXT), " +
      micros + " FROM " + engine.table() +
      " WHERE r IS NULL OR abs(r) < 1e10 ORDER BY i NULLS LAST");
}

const std::vector<Cell> expected{1,  1,         1,  "one", "2020-01-01", 1577880000500000,
                                 1,  INT64_MAX, 0,  "",    "9999-12-31", 1582934400000000,
                                 {}, {},        {}, {},    {},           {}};

class Formats : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    char name[] = "/tmp/sotto-formats-XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path parquet(const std::string& select) const {
    in_duckdb("COPY (" + select + ") TO '" + (folder / "a.parquet").string() +
              "' (FORMAT parquet)");
    return folder / "a.parquet";
  }
  fs::path folder;
};

TEST_F(Formats, TextJsonAndParquetHaveEqualRows) {
  std::ofstream(folder / "a.csv")
      << "b,i,r,t,d,s\ntrue,1,0.5,one,2020-01-01,2020-01-01 "
         "12:00:00.5\nfalse,-5,-1e100,O'Brien,0001-01-01,1969-12-31 23:59:59\n"
         ",,,,,\nt,9223372036854775807,0,\"\",9999-12-31,2020-02-29\n";
  std::ofstream(folder / "a.tsv")
      << "b\ti\tr\tt\td\ts\ntrue\t1\t0.5\tone\t2020-01-01\t2020-01-01 12:00:00.5\n\t\t\t\t\t\n"
         "t\t9223372036854775807\t0\t\"\"\t9999-12-31\t2020-02-29\n";
  std::ofstream(folder / "a.json")
      << R"({"b": true, "i": 1, "r": 0.5, "t": "one", "d": "2020-01-01", "s": "2020-01-01T12:00:00.5Z"}
{"b": false, "i": -5, "r": -1e100, "t": "O'Brien", "d": "0001-01-01", "s": "1969-12-31 23:59:59"}
{"b": null}
{"b": true, "i": 9223372036854775807, "r": 0, "t": "", "d": "9999-12-31", "s": "2020-02-29"}
)";
  parquet("SELECT * FROM (VALUES " + values + ") AS v(b, i, r, t, d, s)");
  for (const char* name : {"a.csv", "a.tsv", "a.json", "a.parquet"}) {
    EXPECT_EQ(everything(*open_engine(FileSource{folder / name, ""}, all)).cells, expected) << name;
  }
  fs::rename(folder / "a.parquet", folder / "*?[x'].data");
  EXPECT_EQ(everything(*open_engine(FileSource{folder / "*?[x'].data", "parquet"}, all)).cells,
            expected);
}

TEST_F(Formats, ParquetValuesAreCastOrNull) {
  const auto path = parquet(
      "SELECT * FROM (VALUES (1::UBIGINT, 0.5::FLOAT, '2020-01-01'::TIMESTAMP_NS, '2020-01-01 "
      "00:00:00+00'::TIMESTAMPTZ, DATE '2020-01-01'), "
      "(18446744073709551615, 1, '2020-01-01', '2020-01-01 00:00:00+00', DATE '2020-01-01'), (3, "
      "2, NULL, NULL, DATE '10000-01-01'), "
      "(4, 2, NULL, NULL, 'infinity'), (5, 2, NULL, NULL, DATE '0001-01-01 (BC)'), (NULL, NULL, "
      "NULL, NULL, NULL)) v(i, r, n, z, d)");
  const std::vector<Column> columns{{"i", Type::integer},
                                    {"r", Type::real},
                                    {"n", Type::timestamp},
                                    {"z", Type::timestamp},
                                    {"d", Type::date}};
  const auto engine = open_engine(FileSource{path, ""}, columns);
  EXPECT_EQ(engine
                ->query("SELECT i, CAST(n AS TEXT), CAST(d AS TEXT) FROM " + engine->table() +
                        " ORDER BY i, n")
                .cells,
            (std::vector<Cell>{1,
                               "2020-01-01 00:00:00",
                               "2020-01-01",
                               3,
                               {},
                               {},
                               4,
                               {},
                               {},
                               5,
                               {},
                               {},
                               {},
                               "2020-01-01 00:00:00",
                               "2020-01-01",
                               {},
                               {},
                               {}}));
  const auto whole = open_engine(FileSource{path, ""}, {{"r", Type::integer}});
  EXPECT_EQ(whole->query("SELECT r FROM " + whole->table() + " ORDER BY r").cells,
            (std::vector<Cell>{1, 2, 2, 2, {}, {}}));
  EXPECT_THROW(open_engine(FileSource{path, ""}, {{"d", Type::text}}), InvalidValue);
  EXPECT_THROW(open_engine(FileSource{path, ""}, {{"none", Type::text}}), InvalidValue);
}

/// Replaces some bytes of the file.
void replace_in(const fs::path& path,
                const std::vector<std::pair<std::string, std::string>>& changes) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (const auto& [from, to] : changes) {
    ASSERT_NE(bytes.find(from), std::string::npos);
    for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size()))
      bytes.replace(at, from.size(), to);
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(Formats, ValuesThatDuckDbCannotReadAreNull) {
  const auto path = folder / "a.parquet";
  in_duckdb(
      "COPY (SELECT range AS i, CASE range WHEN 3 THEN 'QQQQ' WHEN 4 THEN 'a' || chr(0) ELSE 'é' "
      "|| range END AS t, 'x' || range AS u, "
      "make_timestamp(CASE range WHEN 5 THEN 72623859790382856 ELSE range END) AS s FROM "
      "range(10)) TO '" +
      path.string() + "' (FORMAT parquet, COMPRESSION uncompressed)");
  // invalid UTF-8, and microseconds declared as milliseconds, which are out of range in one row
  replace_in(path, {{"QQQQ", "\xff\xfe\xed\xa0"},
                    {"\x25\x14", "\x25\x12"},
                    {"\x8c\x12\x1c\x2c", "\x8c\x12\x1c\x1c"},
                    {"\x08\x07\x06\x05\x04\x03\x02\x01", "\xf8\xff\xff\xff\xff\xff\xff\x7f"}});
  const auto engine = open_engine(
      FileSource{path, "", "", {"é7"}},
      {{"i", Type::integer}, {"t", Type::text}, {"u", Type::text}, {"s", Type::timestamp}});
  const std::string table = engine->table();
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(engine->query("SELECT i FROM " + table + " WHERE t IS NULL ORDER BY i").cells,
              (std::vector<Cell>{3, 4, 7}));
    EXPECT_EQ(engine->query("SELECT i FROM " + table + " WHERE s IS NULL ORDER BY i").cells,
              (std::vector<Cell>{5}));
    EXPECT_EQ(
        engine->query("SELECT t || u || CAST(s AS TEXT) FROM " + table + " WHERE i = 2").cells,
        (std::vector<Cell>{"é2x21970-01-01 00:00:00.002"}));
  }
  EXPECT_THROW(engine->query("SELECT content FROM read_blob('" + path.string() + "')"),
               EngineError);
}

// Values of a decimal type at 0, 1, the largest, and 2^53 if the type has it, with each as an
// integer.
std::vector<std::pair<std::string, Cell>> decimals(int precision, int scale) {
  constexpr std::int64_t most_whole = std::int64_t{1} << 53;
  const int before = precision - scale;
  const auto nines = [](int digits) { return std::string(static_cast<std::size_t>(digits), '9'); };
  std::vector<std::pair<std::string, Cell>> rows{{"0", 0}};
  if (before > 0) rows.insert(rows.end(), {{"1", 1}, {"-1", -1}});
  if (before > 0 && before <= 15)
    rows.insert(rows.end(), {{nines(before), std::stoll(nines(before))},
                             {"-" + nines(before), -std::stoll(nines(before))}});
  if (before >= 16) {
    rows.insert(rows.end(), {{"9007199254740992", most_whole}, {"-9007199254740992", -most_whole}});
    rows.insert(
        rows.end(),
        {{"9007199254740993", Cell{}}, {nines(before), Cell{}}, {"-" + nines(before), Cell{}}});
  }
  if (scale > 0) {
    const std::string least = "0." + std::string(static_cast<std::size_t>(scale) - 1, '0') + "1";
    const std::string most = (before > 0 ? nines(before) : "0") + "." + nines(scale);
    for (const auto& broken : {least, "-" + least, most, "-" + most})
      rows.emplace_back(broken, Cell{});
  }
  return rows;
}

TEST_F(Formats, DecimalsOfAnyPrecisionAreIntegersOrReals) {
  for (const int precision : {1, 2, 4, 5, 9, 10, 15, 16, 18, 19, 37,
                              38}) {  // both sides of each of DuckDB's widths, and of 2^53
    std::string selects;
    std::vector<Column> integers{{"k", Type::integer}};
    std::vector<Column> reals = integers;
    constexpr std::size_t most_values = 12;
    for (std::size_t i = 0; i < most_values; ++i) {
      selects += (i == 0 ? "SELECT " : " UNION ALL SELECT ") + std::to_string(i) + " AS k";
      for (int scale = 0; scale <= precision; ++scale) {
        const auto held = decimals(precision, scale);
        ASSERT_LE(held.size(), most_values);
        const std::string name = "x" + std::to_string(scale);
        selects += ", CAST(" + (i < held.size() ? "'" + held[i].first + "'" : std::string("NULL")) +
                   " AS DECIMAL(" + std::to_string(precision) + "," + std::to_string(scale) +
                   ")) AS " + name;
        if (i > 0) continue;
        integers.push_back({name, Type::integer});
        reals.push_back({name, Type::real});
      }
    }
    const auto file = parquet(selects);
    const auto as_integers = open_engine(FileSource{file, ""}, integers);
    const auto as_reals = open_engine(FileSource{file, ""}, reals);
    for (int scale = 0; scale <= precision; ++scale) {
      const std::string type =
          "DECIMAL(" + std::to_string(precision) + "," + std::to_string(scale) + ")";
      const std::string name = "x" + std::to_string(scale);
      const auto held = decimals(precision, scale);
      const std::string rows = " WHERE k < " + std::to_string(held.size()) + " ORDER BY k";
      std::vector<Cell> whole;
      for (const auto& [number, as_whole] : held) whole.push_back(as_whole);
      ASSERT_EQ(as_integers->query("SELECT " + name + " FROM " + as_integers->table() + rows).cells,
                whole)
          << type;
      const auto near =
          as_reals->query("SELECT CAST(" + name + " AS VARCHAR) FROM " + as_reals->table() + rows)
              .cells;
      for (std::size_t i = 0; i < held.size(); ++i) {
        const double number = number_in(held[i].first);
        ASSERT_NEAR(number_in(std::get<std::string>(near[i])), number, 1e-15 * std::abs(number))
            << type << " " << held[i].first;
      }
    }
  }
}

TEST_F(Formats, StatementsReadNoFileButTheParquetFile) {
  const auto path = parquet("SELECT 1::BIGINT AS i");
  fs::copy(path, folder / "other.parquet");
  const auto engine = open_engine(FileSource{path, ""}, {{"i", Type::integer}});
  EXPECT_EQ(engine->query("SELECT i FROM " + engine->table()).cells, std::vector<Cell>{1});
  for (const std::string& file : {std::string("/etc/passwd"), std::string("/proc/self/environ"),
                                  (folder / "other.parquet").string(), path.string()}) {
    EXPECT_THROW(engine->query("SELECT filename FROM read_blob('" + file + "')"), EngineError)
        << file;
  }
  EXPECT_THROW(engine->query("SELECT i FROM read_parquet('" + folder.string() + "/*.parquet')"),
               EngineError);
}

class Postgres : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::installed())
      GTEST_SKIP() << "no PostgreSQL; type: apt-get install postgresql";
    server = std::make_unique<PostgresServer>();
  }
  std::unique_ptr<Engine> open(const std::string& table, const std::vector<Column>& columns,
                               const Limits& limits = {}) const {
    return open_engine(PostgresSource{server->connection(), table}, columns, limits);
  }
  [[nodiscard]] std::string refusal(const std::string& table,
                                    const std::vector<Column>& columns) const {
    try {
      open(table, columns);
    } catch (const InvalidValue& error) {
      return error.what();
    }
    return "no refusal";
  }
  std::unique_ptr<PostgresServer> server;
};

TEST_F(Postgres, HasTheSameRowsAsFilesAndOneSnapshot) {
  server->sql(
      "CREATE SCHEMA survey; CREATE TABLE survey.people(b boolean, i bigint, r double precision, t "
      "text, d date, s timestamp, extra text); "
      "INSERT INTO survey.people(b, i, r, t, d, s) VALUES " +
      values);
  const auto engine = open("survey.people", all, Limits{.threads = 2, .memory = 1 << 20});
  EXPECT_EQ(engine->dialect(), Dialect::postgresql);
  server->sql("INSERT INTO survey.people(i, r) VALUES (77, 1)");
  EXPECT_EQ(everything(*engine).cells, expected);
  server->sql("DELETE FROM survey.people");
  EXPECT_EQ(everything(*engine).cells, expected);

  EXPECT_THROW(engine->query("SELECT extra FROM " + engine->table()), EngineError);
  EXPECT_THROW(engine->query("SELECT 1 / (i - i) FROM " + engine->table()), EngineError);
  EXPECT_EQ(everything(*engine).cells, expected) << "the snapshot outlives an error";

  for (const char* sql :
       {"INSERT INTO survey.people(i) VALUES (1)", "SET row_security = on", "COMMIT"})
    EXPECT_THROW(engine->query(sql), std::logic_error);
  EXPECT_THROW(
      engine->query(
          "WITH x AS (INSERT INTO survey.people(i) VALUES (1) RETURNING i) SELECT i FROM x"),
      EngineError);
  EXPECT_THROW(engine->query("SELECT 1::bigint; SELECT 2::bigint"), EngineError);
  EXPECT_THROW(engine->query("SELECT sum(i) FROM " + engine->table()), std::logic_error);
  EXPECT_THROW(engine->query("SELECT 1"), std::logic_error);
  EXPECT_EQ(everything(*engine).cells, expected);
}

TEST_F(Postgres, StoredTypesFitOrAreRefusedAndCastsNeverFail) {
  server->sql(
      "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t(i2 smallint, i4 integer, n "
      "numeric, f real, c character(5), v varchar(9), e mood, "
      "u uuid, z timestamptz, d date, j json); INSERT INTO t(i2, n, f, c, e, u, z, d) VALUES "
      "(1, 1e400, 'Infinity', 'ab', 'happy', '00000000-0000-0000-0000-000000000001', '2020-01-01 "
      "12:00:00+02', '2020-01-01'), "
      "(2, 1e-400, 'NaN', 'ab', 'sad', NULL, '2020-06-01 12:00:00Z', '2020-01-01'), (3, 'NaN', 1, "
      "'', NULL, NULL, NULL, NULL), "
      "(4, 0.25, 1, '', NULL, NULL, NULL, NULL), (5, NULL, 1, '', NULL, NULL, NULL, NULL), (6, "
      "'-Infinity', 1, '', NULL, NULL, NULL, NULL), "
      "(7, 1, 1, '', NULL, NULL, NULL, 'infinity'), (8, 1, 1, '', NULL, NULL, 'infinity', NULL), "
      "(9, 1, 1, '', NULL, NULL, NULL, '4000-01-01 BC')");
  const auto engine = open("t", {{"i2", Type::integer},
                                 {"n", Type::real},
                                 {"f", Type::real},
                                 {"c", Type::text},
                                 {"e", Type::text},
                                 {"u", Type::text},
                                 {"z", Type::timestamp},
                                 {"d", Type::date}});
  const auto column = [&](const std::string& name) {
    return engine->query("SELECT " + name + "::text FROM " + engine->table() + " ORDER BY i2")
        .cells;
  };
  EXPECT_EQ(column("n"), (std::vector<Cell>{"NaN", "0", "NaN", "0.25", {}, "NaN", "1", "1", "1"}));
  EXPECT_EQ(column("e"), (std::vector<Cell>{"happy", "sad", {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_EQ(column("c"), (std::vector<Cell>{"ab", "ab", "", "", "", "", "", "", ""}));
  EXPECT_EQ(
      column("u"),
      (std::vector<Cell>{"00000000-0000-0000-0000-000000000001", {}, {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_EQ(column("z"),
            (std::vector<Cell>{
                "2020-01-01 10:00:00", "2020-06-01 12:00:00", {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_EQ(column("d"),
            (std::vector<Cell>{"2020-01-01", "2020-01-01", {}, {}, {}, {}, {}, {}, {}}));
  const auto whole = open("t", {{"n", Type::integer}, {"i2", Type::integer}});
  EXPECT_EQ(whole->query("SELECT n FROM " + whole->table() + " ORDER BY i2").cells,
            (std::vector<Cell>{{}, {}, {}, {}, {}, {}, 1, 1, 1}));
  EXPECT_NE(refusal("t", {{"j", Type::text}}), "no refusal");
  EXPECT_EQ(refusal("t", {{"none", Type::text}}),
            "the table has no column \"none\"; there are: i2, i4, n, f, c, v, e, u, z, d, j");
  EXPECT_EQ(refusal("other", {{"i2", Type::integer}}),
            "the database has no table \"other\" in the schema \"public\"");
  EXPECT_EQ(refusal("t; DROP TABLE t", {{"i2", Type::integer}}),
            "the database has no table \"t; DROP TABLE t\" in the schema \"public\"");
}

TEST_F(Postgres, CallsNoFunctionsOfOthersAndRefusesHiddenRows) {
  server->sql(
      "CREATE TABLE t(i bigint); INSERT INTO t VALUES (1), (2); CREATE FUNCTION public.abs(bigint) "
      "RETURNS bigint LANGUAGE sql AS 'SELECT "
      "7::bigint'; "
      "ALTER DATABASE postgres SET search_path = public, pg_catalog; CREATE ROLE analyst LOGIN; "
      "GRANT SELECT ON t TO analyst; "
      "ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY part ON t USING (i = 1)");
  const auto engine = open("t", {{"i", Type::integer}});
  EXPECT_EQ(engine->query("SELECT abs(i) FROM " + engine->table() + " ORDER BY i").cells,
            (std::vector<Cell>{1, 2}));
  EXPECT_THROW(open_engine(PostgresSource{server->connection() + " user=analyst", "t"},
                           {{"i", Type::integer}}),
               EngineError);
}

// The function of a view changes a setting of the session. Later statements do not see the change.
TEST_F(Postgres, AFunctionInAViewDoesNotChangeSettingsOfLaterStatements) {
  server->sql(
      "CREATE SCHEMA evil; CREATE FUNCTION evil.abs(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT "
      "7::bigint'; "
      "CREATE FUNCTION evil.less(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'; "
      "CREATE OPERATOR evil.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.less); "
      "CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT "
      "NULL::text'; "
      "CREATE AGGREGATE evil.sum(bigint) (SFUNC = int8pl, STYPE = bigint, INITCOND = '1000'); "
      "CREATE ROLE nobody; "
      "CREATE TABLE base(i bigint, r double precision, t text, d date, s timestamptz); "
      "INSERT INTO base VALUES (1, 0.1, 'Zoë', '2020-02-01', '2020-02-01 12:00:00Z'), (2, 1e-5, "
      "'b', '2020-02-02', '2020-02-02 00:30:00Z')");
  const std::vector<std::pair<std::string, std::string>> changes{
      {"search_path", "evil, pg_catalog"},
      {"TimeZone", "Asia/Tokyo"},
      {"DateStyle", "German, DMY"},
      {"IntervalStyle", "iso_8601"},
      {"extra_float_digits", "-15"},
      {"statement_timeout", "1"},
      {"lock_timeout", "1"},
      {"role", "nobody"},
      {"row_security", "on"},
      {"bytea_output", "escape"},
      {"standard_conforming_strings", "off"}};
  const std::vector<Column> columns{{"i", Type::integer},
                                    {"r", Type::real},
                                    {"t", Type::text},
                                    {"d", Type::date},
                                    {"s", Type::timestamp}};
  for (const auto& [setting, value] : changes) {
    const std::string view = "v_" + setting;
    server->sql(
        "CREATE FUNCTION turn_" + setting +
        "() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM pg_catalog.set_config('" +
        setting + "', '" + value + "', false); RETURN 0; END $$; CREATE VIEW " + view +
        " AS SELECT i + turn_" + setting + "() AS i, r, t, d, s FROM base");
    // PostgreSQL stores names without quotes in lower case
    std::string stored_name = view;
    std::transform(stored_name.begin(), stored_name.end(), stored_name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const auto engine = open(stored_name, columns);
    const std::string turning =
        "SELECT abs(i), CAST(sum(i) OVER () AS bigint), CAST((2::bigint < i) AS text) FROM " +
        engine->table() + " ORDER BY 1";
    const std::string settled =
        "SELECT abs(-1::bigint), (0.1::float8 + 0.2)::text, date '2020-02-01'::text, timestamptz "
        "'2020-02-01 12:00:00Z'::text, interval '1 "
        "day'::text, "
        "bytea 'a'::text, 'a\\b'::text, current_user::text, current_setting('statement_timeout'), "
        "current_setting('row_security')";
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(engine->query(turning).cells, (std::vector<Cell>{1, 3, "false", 2, 3, "false"}))
          << setting;
      EXPECT_EQ(engine->query(settled).cells,
                (std::vector<Cell>{1, "0.30000000000000004", "2020-02-01", "2020-02-01 12:00:00+00",
                                   "1 day", "\\x61", "a\\b", "postgres", "0", "off"}))
          << setting;
    }
    std::vector<std::int64_t> streamed;
    engine->stream("SELECT abs(i) FROM " + engine->table(), {Batch::Kind::whole},
                   [&](const Batch& batch) {
                     streamed.insert(streamed.end(), batch.columns[0].int64s,
                                     batch.columns[0].int64s + batch.rows);
                   },
                   {});
    std::sort(streamed.begin(), streamed.end());
    EXPECT_EQ(streamed, (std::vector<std::int64_t>{1, 2})) << setting;
  }
}

TEST_F(Postgres, AFunctionThatChangesTheEncodingIsAnError) {
  server->sql(
      "CREATE TABLE base(t text); INSERT INTO base SELECT 'Zoë' FROM generate_series(1, 3); CREATE "
      "FUNCTION turn() RETURNS text LANGUAGE plpgsql "
      "VOLATILE AS $$ BEGIN PERFORM set_config('client_encoding', 'LATIN1', false); RETURN ''; END "
      "$$; CREATE VIEW v AS SELECT t || turn() AS t "
      "FROM base");
  const auto engine = open("v", {{"t", Type::text}});
  EXPECT_THROW((void)engine->query("SELECT t FROM " + engine->table()), EngineError);
  EXPECT_EQ(engine->query("SELECT 'Zoë'::text").cells, std::vector<Cell>{"Zoë"});
}

TEST_F(Postgres, IgnoresTheSearchPathOfTheDatabase) {
  server->sql(
      "CREATE TABLE t(i bigint); INSERT INTO t VALUES (1); CREATE FUNCTION public.set_config(text, "
      "text, boolean) RETURNS text LANGUAGE sql AS "
      "'SELECT NULL::text'; CREATE FUNCTION public.abs(bigint) RETURNS bigint LANGUAGE sql AS "
      "'SELECT 7::bigint'; "
      "ALTER DATABASE postgres SET search_path = public, pg_catalog");
  const auto engine = open("t", {{"i", Type::integer}});
  EXPECT_EQ(engine->query("SELECT abs(i) FROM " + engine->table()).cells, std::vector<Cell>{1});
}

TEST_F(Postgres, KeepsTheRoleOfTheConnection) {
  server->sql(
      "CREATE TABLE t(i bigint); INSERT INTO t VALUES (1); CREATE ROLE reader; GRANT SELECT ON t "
      "TO reader");
  const auto engine =
      open_engine(PostgresSource{server->connection() + " options='-c role=reader'", "t"},
                  {{"i", Type::integer}});
  EXPECT_EQ(engine->query("SELECT current_user::text FROM " + engine->table()).cells,
            std::vector<Cell>{"reader"});
  EXPECT_EQ(engine->query("SELECT current_user::text FROM " + engine->table()).cells,
            std::vector<Cell>{"reader"});
}

TEST_F(Postgres, StopsOnRequest) {
  server->sql("CREATE TABLE t(i bigint); INSERT INTO t VALUES (1)");
  const auto engine = open("t", {{"i", Type::integer}});
  int calls = 0;
  EXPECT_THROW(engine->query("SELECT count(pg_sleep(60)) FROM " + engine->table(),
                             [&](double) { return ++calls < 3; }),
               EngineError);
  EXPECT_EQ(calls, 3);
  EXPECT_THROW(engine->query("SELECT count(pg_sleep(60)) FROM " + engine->table(),
                             [&](double) -> bool {
                               if (++calls > 5) throw std::runtime_error("enough");
                               return true;
                             }),
               std::runtime_error);
  std::vector<double> reported;
  const auto rows = engine->query("SELECT i FROM " + engine->table(), [&](double share) {
    reported.push_back(share);
    return true;
  });
  EXPECT_EQ(rows.cells, std::vector<Cell>{1});
  EXPECT_EQ(reported.front(), 0);
  EXPECT_EQ(reported.back(), 1);
}

TEST(PostgresConnection, AnotherMachineNeedsVerifiedTls) {
  for (const char* connection :
       {"host=db.invalid", "host=db.invalid sslmode=require", "host=localhost,db.invalid",
        "hostaddr=255.255.255.255 host=localhost", "postgresql://db.invalid/x?sslmode=verify-ca"}) {
    try {
      open_engine(PostgresSource{connection, "t"}, {{"i", Type::integer}});
      ADD_FAILURE() << connection;
    } catch (const InvalidValue& error) {
      EXPECT_NE(std::string(error.what()).find("sslmode=verify-full"), std::string::npos);
    }
  }
  EXPECT_THROW(open_engine(PostgresSource{"host=127.0.0.1 port=1", "t"}, {{"i", Type::integer}}),
               EngineError);
  EXPECT_THROW(open_engine(PostgresSource{"no such option", "t"}, {{"i", Type::integer}}),
               EngineError);
}

}  // namespace
}  // namespace sotto
