// Surveys of files: headers, records that cannot be read, and blanks at the ends of texts.
#include "data/api/survey.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../../support/in_duckdb.hpp"
#include "../../support/postgres_server.hpp"
#include "data/api/inspect.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

class Surveyed : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sotto-survey-XXXXXX";
    folder = mkdtemp(name);
    limits.duckdb = libduckdb;
  }
  void TearDown() override { fs::remove_all(folder); }
  FileSource file(const std::string& bytes, const std::string& name = "a.csv") const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return {.path = folder / name};
  }
  // Returns why the names of the first line look like values, in order.
  std::vector<std::string> doubts(const std::string& bytes) const {
    std::vector<std::string> all;
    for (const NameDoubt& doubt : survey(file(bytes)).doubts)
      all.push_back(doubt.name + ": " + doubt.why);
    return all;
  }
  static std::vector<Cell> texts(Engine& engine) {
    return engine
        .query("SELECT t, COUNT(*) FROM " + engine.table() + " GROUP BY t ORDER BY t NULLS FIRST")
        .cells;
  }
  fs::path folder;
  Limits limits;
};

using Words = std::vector<std::string>;

TEST_F(Surveyed, NamesThatLookLikeValuesAreDoubted) {
  EXPECT_EQ(doubts("39,Bachelors\n50,Masters\n"), Words{"39: is a number"});
  for (const char* name : {"1e5",
                           "-3.5",
                           "+7",
                           "2026-01-31",
                           "2026-01-31 12:00",
                           "31.01.2026",
                           "12:30",
                           "5;3",
                           "$5",
                           "\"5,3\"",
                           "",
                           "   ",
                           "?",
                           "-",
                           "NA",
                           "null",
                           "true",
                           "No",
                           "3rd",
                           "12 March",
                           "ada@example.org",
                           "(12)",
                           "inf",
                           "nan"}) {
    EXPECT_EQ(doubts("who,place," + std::string(name) + "\na,b,c\n").size(), 1U) << name;
  }
  EXPECT_EQ(doubts("who,who\na,b\n"), Words{"who: appears twice"});
  EXPECT_EQ(doubts("who,WHO\na,b\n"), Words{"WHO: appears twice"});
  EXPECT_EQ(doubts("Ada,Paris\nBob,London\nEve,Paris\n"),
            Words{"Paris: is also a value in a later line"});
  EXPECT_EQ(doubts("P-0001,Ada\nP-0002,Bob\n"),
            Words{"P-0001: looks like the values in later lines"});
  EXPECT_EQ(doubts("Jan 5 2026,Ada\nFeb 12 2026,Bob\n"),
            Words{"Jan 5 2026: looks like the values in later lines"});
  EXPECT_EQ(doubts("\xEF\xBB\xBF"
                   "39,x\n1,y\n"),
            Words{"39: is a number"});
  EXPECT_EQ(doubts("caf\xE9,x\n1,y\n"), Words{"caf\xE9: is not UTF-8"});
  EXPECT_TRUE(survey(file("a, b\n1,2\n")).doubts.at(0).is_of_blanks);
}

TEST_F(Surveyed, OrdinaryNamesAreNotDoubted) {
  for (const char* header : {"age,sex,income", "x1,x2,x3", "Größe,Straße,名", "q1_a,Q2 (years),%_b",
                             "income 2020,n_1,a.b", "\"a, b\",c,d"}) {
    EXPECT_EQ(doubts(std::string(header) + "\n1,Male,0.5\n2,Female,0.25\n"), Words{}) << header;
  }
}

TEST_F(Surveyed, WithoutAHeaderTheFirstLineIsARecord) {
  FileSource source = file("39,Bachelors\n50,Masters\n");
  source.names = {"age", "degree"};
  const Survey result = survey(source);
  EXPECT_EQ(result.columns, (std::vector<Column>{{"age", Type::integer}, {"degree", Type::text}}));
  EXPECT_EQ(result.records, 2);
  EXPECT_TRUE(result.doubts.empty());
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  const auto engine = open_engine(source, {{"degree", Type::text}, {"age", Type::integer}}, limits);
  EXPECT_EQ(
      engine
          ->query("SELECT CAST(SUM(age) AS BIGINT), COUNT(*), MIN(degree) FROM " + engine->table())
          .cells,
      (std::vector<Cell>{89, 2, "Bachelors"}));
  EXPECT_THROW(open_engine(source, {{"39", Type::integer}}, limits), InvalidValue);
  EXPECT_EQ(inspect(source, {{{"age", Type::integer}}}, "", limits).records, 2);
  FileSource json = file("{\"a\": 1}\n", "a.json");
  json.names = {"a"};
  EXPECT_THROW(survey(json), InvalidValue);
}

TEST_F(Surveyed, RecordsThatCannotBeReadAreCounted) {
  // the first line has four fields, and all records after it have more
  Survey result = survey(file("569,30,malignant,benign\n1,2,3,4,5\n2,3,4,5,6\n3,4,5,6,7\n"));
  EXPECT_EQ(result.records, 0);
  EXPECT_EQ(result.malformed, 3);
  EXPECT_EQ(result.header_fields, 4U);
  EXPECT_EQ(result.usual_fields, 5U);
  result = survey(file("a,b\n1,2\n3\n4,5\n"));
  EXPECT_EQ(result.records, 2);
  EXPECT_EQ(result.malformed, 1);
  result = survey(file("{\"a\": 1}\nnonsense\n[1]\n", "a.json"));
  EXPECT_EQ(result.records, 1);
  EXPECT_EQ(result.malformed, 2);
}

TEST_F(Surveyed, FindsTextsWithBlanksAtTheirEnds) {
  EXPECT_EQ(survey(file("a,b\n1, x\n2, y\n")).with_blanks, Words{"b"});
  EXPECT_EQ(survey(file("a,b\n1,x \n2,y\n")).with_blanks, Words{"b"});
  EXPECT_EQ(survey(file("a,b\n1,\"\tx\"\n2,y\n")).with_blanks, Words{"b"});
  EXPECT_EQ(survey(file("a, b\n1,2\n")).with_blanks, Words{" b"});
  EXPECT_EQ(survey(file("a,b\n 1,2 \n")).with_blanks, Words{}) << "numbers are read without blanks";
  EXPECT_EQ(survey(file("a,b\n1, \nx y,z\n")).with_blanks, Words{})
      << "nothing but blanks, or blanks inside";
  EXPECT_EQ(survey(file("{\"a\": \" x\"}\n", "a.json")).with_blanks, Words{"a"});
  FileSource trimmed = file("a, b\n1, x\n");
  trimmed.trim = true;
  EXPECT_EQ(survey(trimmed).columns.at(1).name, "b");
  EXPECT_TRUE(survey(trimmed).doubts.empty());
}

TEST_F(Surveyed, FormatsAreGuessedFromContents) {
  const auto guess = [&](const std::string& bytes) {
    return format_by_content(file(bytes, "a.data").path);
  };
  EXPECT_EQ(guess("39, x\n"), "csv");
  EXPECT_EQ(guess("a\tb\n"), "tsv");
  EXPECT_EQ(guess(" {\"a\": 1}\n"), "json");
  EXPECT_EQ(guess("[{}]"), "json-array");
  EXPECT_EQ(guess("PAR1..."), "parquet");
  EXPECT_EQ(guess(""), "csv");
}

TEST_F(Surveyed, TrimRemovesBlanksOnEveryEngine) {
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  const std::vector<Column> columns{{"t", Type::text}};
  const std::vector<Cell> plain{{}, 2, "", 1, "a b", 1, "x", 3};
  const auto with = [&](FileSource source) {
    source.trim = true;
    source.null_text = {"?"};
    const auto engine = open_engine(source, columns, limits);
    return texts(*engine);
  };
  // an empty field is NULL, an empty quoted field a text
  EXPECT_EQ(with(file(" t ,n\n x,1\nx ,1\n\"\tx\",1\n a b ,1\n ?,1\n  ,1\n\" \",1\n")), plain);
  EXPECT_EQ(with(file("{\"t\": \" x\"}\n{\"t\": \"x \"}\n{\"t\": \"\\tx\"}\n{\"t\": \" a b "
                      "\"}\n{\"t\": \" ? \"}\n{\"t\": null}\n{\"t\": \" \"}\n",
                      "a.json")),
            plain);
  const std::string rows =
      "(VALUES (' x'), ('x '), (CHR(9) || 'x'), (' a b '), (' ? '), (NULL), (' ')) AS v(t)";
  in_duckdb("COPY (SELECT * FROM " + rows + ") TO '" + (folder / "a.parquet").string() +
            "' (FORMAT parquet)");
  const FileSource parquet{.path = folder / "a.parquet"};
  EXPECT_EQ(with(parquet), plain);
  EXPECT_EQ(survey(parquet, limits).with_blanks, Words{"t"});
  // without trim, texts with blanks are different texts
  const auto as_stored = open_engine(parquet, columns, limits);
  EXPECT_EQ(texts(*as_stored).size(), 14U);
}

TEST(SurveyedPostgresql, TrimRemovesBlanks) {
  if (!PostgresServer::installed())
    GTEST_SKIP() << "no PostgreSQL server is installed (Debian: postgresql)";
  const PostgresServer server;
  server.sql(
      "CREATE TABLE t AS SELECT * FROM (VALUES (' x'), ('x '), (CHR(9) || 'x'), (' a b '), (NULL), "
      "(' ')) AS v(t)");
  const auto engine =
      open_engine(PostgresSource{server.connection(), "t", true}, {{"t", Type::text}});
  EXPECT_EQ(engine
                ->query("SELECT t, COUNT(*) FROM " + engine->table() +
                        " GROUP BY t ORDER BY t NULLS FIRST")
                .cells,
            (std::vector<Cell>{{}, 1, "", 1, "a b", 1, "x", 3}));
  EXPECT_EQ(survey(PostgresSource{server.connection(), "t"}).with_blanks, Words{"t"});
}

TEST_F(Surveyed, EnginesReportTheRecordsTheyRead) {
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  const auto engine = open_engine(file("a,b\n1,x\n2\nz,y\n3,w\n"),
                                  {{"a", Type::integer}, {"b", Type::text}}, limits);
  engine->query("SELECT COUNT(*) FROM " + engine->table());
  // one statement reads the file twice, and counts its records once
  engine->query("SELECT COUNT(*) FROM " + engine->table() +
                " AS one, (SELECT CAST(MAX(a) AS BIGINT) AS m FROM " + engine->table() +
                ") AS two");
  const RowsRead read = engine->rows_read();
  EXPECT_TRUE(read.counted);
  EXPECT_EQ(read.records, 3);
  EXPECT_EQ(read.malformed, 1);
  EXPECT_EQ(read.unreadable, (std::vector<std::int64_t>{1, 0}));
  in_duckdb("COPY (SELECT 1 AS a WHERE false) TO '" + (folder / "e.parquet").string() +
            "' (FORMAT parquet)");
  EXPECT_EQ(open_engine(FileSource{.path = folder / "e.parquet"}, {{"a", Type::integer}}, limits)
                ->rows_read()
                .records,
            0);
}

TEST_F(Surveyed, TheCommonestUnlistedValuesAreShown) {
  if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  const Inspection result = inspect(file("t,i\n x,1\n x,1\ny,2\nz,2\nz,2\nz,2\nw,3\nv,9\nx,9\n"),
                                    {{{"t", Type::text}, {}, {}, {Value("x")}},
                                     {{"i", Type::integer}, {}, {}, {Value(std::int64_t{1})}}},
                                    "", limits);
  const std::vector<std::pair<std::string, std::int64_t>> t{{"z", 3}, {" x", 2}, {"v", 1}};
  const std::vector<std::pair<std::string, std::int64_t>> i{{"2", 4}, {"9", 2}, {"3", 1}};
  EXPECT_EQ(result.columns[0].commonest_unlisted, t);
  EXPECT_EQ(result.columns[1].commonest_unlisted, i);
}

}  // namespace
}  // namespace sotto
