// Engines on real files: values that are read, records that are skipped, files that are refused.
#include "sotto/data/engine.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::vector<Column> three{{"id", Type::integer}, {"day", Type::date}, {"word", Type::text}};

class DuckDb : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sotto-engine-XXXXXX";
    folder = mkdtemp(name);
    std::ofstream(folder / "any.csv") << "a\n1\n";
    try {
      open_engine(FileSource{folder / "any.csv", ""}, {{"a", Type::integer}});
    } catch (const EngineError& error) {
      if (std::string(error.what()).find("not installed") == std::string::npos) throw;
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }
  static std::unique_ptr<Engine> open(const fs::path& path,
                                      const std::vector<Column>& columns = three,
                                      const Limits& limits = {}) {
    return open_engine(FileSource{path, ""}, columns, limits);
  }
  /// Returns the rows of the file as texts, sorted by id.
  static std::vector<std::string> lines(Engine& engine) {
    const auto rows = engine.query(
        "SELECT concat_ws('|', coalesce(CAST(id AS VARCHAR), '-'), coalesce(CAST(day AS VARCHAR), "
        "'-'), coalesce(word, '-')) FROM " +
        engine.table() + " ORDER BY id, day, word");
    std::vector<std::string> result;
    for (const auto& cell : rows.cells) result.push_back(std::get<std::string>(cell));
    return result;
  }
  std::vector<std::string> read(const std::string& bytes) const {
    return lines(*open(write("people.csv", bytes)));
  }
  static std::int64_t number(Engine& engine, const std::string& sql) {
    return std::get<std::int64_t>(engine.query(sql).at(0, 0));
  }
  static std::int64_t count(Engine& engine) {
    return number(engine, "SELECT count(*) FROM " + engine.table());
  }
  static std::string detail(Engine& engine, const std::string& sql) {
    try {
      engine.query(sql);
    } catch (const EngineError& error) {
      EXPECT_STREQ(error.what(), "DuckDB failed on a statement that sotto wrote");
      return error.detail();
    }
    return "no error";
  }

  fs::path folder;
};

using Lines = std::vector<std::string>;
const std::string header = "id,day,word\n";
const std::string one = "1,2020-01-01,one\n";
const std::string three_line = "3,2020-01-03,three\n";
const Lines first_and_third{"1|2020-01-01|one", "3|2020-01-03|three"};

TEST_F(DuckDb, ReadsOnlyDeclaredColumnsInAnyOrder) {
  const auto engine = open(write("a.csv", "extra,word,id,day\nx,w,1,2020-01-01\n"));
  EXPECT_EQ(lines(*engine), Lines{"1|2020-01-01|w"});
  EXPECT_EQ(engine->dialect(), Dialect::duckdb);
  EXPECT_NE(detail(*engine, "SELECT extra FROM " + engine->table()), "no error");
}

TEST_F(DuckDb, ReadsEveryType) {
  const auto engine = open(
      write(
          "a.csv",
          "b,i,r,t,d,s\ntrue,-9223372036854775808,0.1,\"a\"\"b\",2024-02-29,2020-01-01 12:00:00.5\n"
          "F, 9223372036854775807 ,-1e300,x,0001-01-01,2020-01-01T00:00Z\n"),
      {{"b", Type::boolean},
       {"i", Type::integer},
       {"r", Type::real},
       {"t", Type::text},
       {"d", Type::date},
       {"s", Type::timestamp}});
  const auto rows = engine->query(
      "SELECT CAST(b AS BIGINT), i, CAST(r = 0.1::DOUBLE OR r = -1e300 AS BIGINT), t, CAST(d AS "
      "VARCHAR), CAST(s AS VARCHAR) FROM " +
      engine->table() + " ORDER BY i");
  const std::vector<Cell> expected{1, INT64_MIN, 1, "a\"b", "2024-02-29", "2020-01-01 12:00:00.5",
                                   0, INT64_MAX, 1, "x",    "0001-01-01", "2020-01-01 00:00:00"};
  EXPECT_EQ(rows.width, 6U);
  EXPECT_EQ(rows.cells, expected);
}

TEST_F(DuckDb, AnEmptyFieldIsNullAndAnEmptyQuotedTextIsEmpty) {
  EXPECT_EQ(read(header + ",,\n1,,\"\"\n2,\"\",x\n"), (Lines{"1|-|", "2|-|x", "-|-|-"}));
}

TEST_F(DuckDb, UnreadableValuesAreNullInTheirOwnColumn) {
  for (const auto& [bad, read_as] : std::vector<std::pair<std::string, std::string>>{
           {"x,2020-01-02,a", "-|2020-01-02|a"},
           {"2.5,2020-01-02,a", "-|2020-01-02|a"},
           {"9223372036854775808,2020-01-02,a", "-|2020-01-02|a"},
           {"2,2020-13-01,a", "2|-|a"},
           {"2,2023-02-29,a", "2|-|a"},
           {"2,20200101,a", "2|-|a"},
           {"2,NA,a", "2|-|a"},
           {"2,2020-01-02,a\xff", "2|2020-01-02|-"},
           {"2,2020-01-02,\xed\xa0\x80", "2|2020-01-02|-"},
           {std::string("2,2020-01-02,a\0b", 16), "2|2020-01-02|-"}}) {
    auto expected = first_and_third;
    expected.insert(read_as.starts_with("-") ? expected.end() : expected.begin() + 1, read_as);
    EXPECT_EQ(read(header + one + bad + "\n" + three_line), expected) << bad;
    EXPECT_EQ(read(header + one + three_line + bad), expected) << bad;
  }
}

TEST_F(DuckDb, ReadsIntegersWrittenAsDecimals) {
  EXPECT_EQ(
      read(header +
           "59.0,,a\n60.,,a\n-61.000,,a\n6.2e1,,a\n9223372036854775807.0,,a\n1e300,,a\n.0,,a\n"),
      (Lines{"-61|-|a", "0|-|a", "59|-|a", "60|-|a", "62|-|a", "9223372036854775807|-|a",
             "-|-|a"}));
  const auto json = open(write("a.json", "{\"id\": 59.0}\n{\"id\": 59.5}\n"));
  EXPECT_EQ(lines(*json), (Lines{"59|-|-", "-|-|-"}));
}

TEST_F(DuckDb, ReadsNullTextsAsNull) {
  FileSource source{
      write("a.csv", header + "NA,NA,NA\n1, ? ,\"?\"\n2,2020-01-01,NAN\n"), "", "", {"NA", "?"}};
  EXPECT_EQ(lines(*open_engine(source, three)), (Lines{"1|-|-", "2|2020-01-01|NAN", "-|-|-"}));
  source.path =
      write("a.json", "{\"id\": \"NA\", \"word\": \"?\"}\n{\"id\": 1, \"word\": \"x\"}\n");
  EXPECT_EQ(lines(*open_engine(source, three)), (Lines{"1|-|x", "-|-|-"}));
}

TEST_F(DuckDb, SkipsMalformedRecordsOnly) {
  for (const std::string bad : {"2,2020-01-01", "2,2020-01-01,a,b", "2,2020-01-01,a,",
                                "2,2020-01-01,\"a\"b", "2,2020-01-01,a\"b", "", "\r"}) {
    EXPECT_EQ(read(header + one + bad + "\n" + three_line), first_and_third) << bad;
    EXPECT_EQ(read(header + one + three_line + bad), first_and_third) << bad;
  }
}

std::string refusal(const FileSource& source) {
  try {
    open_engine(source, three);
  } catch (const EngineError& error) {
    return error.detail();
  }
  return "not refused";
}

TEST_F(DuckDb, RefusesUndeclaredLineEndsInQuotes) {
  for (const std::string bad :
       {"2,2020-01-01,\"a\nb\"", "2,2020-01-01,\"open", "\"2,2020-01-01,a", "2,\"\n\",a"}) {
    EXPECT_EQ(refusal({write("a.csv", header + one + bad + "\n" + three_line)}),
              "line 3: a line ends inside quotes")
        << bad;
    EXPECT_NE(refusal({write("a.csv", header + one + three_line + bad)}), "not refused") << bad;
  }
  EXPECT_EQ(refusal({write("a.csv", header + "2,2020-01-01,\"a, \"\"b\"\"\"\r\n")}), "not refused");
  EXPECT_THROW(open_engine(FileSource{write("a.csv", header), "", "words"}, three), InvalidValue);
}

TEST_F(DuckDb, ByLinesEachLineIsARecordWhateverItsQuotes) {
  const auto by_lines = [&](const std::string& bytes) {
    return lines(*open_engine(FileSource{write("a.csv", bytes), "", "lines"}, three));
  };
  for (const std::string bad : {"2,2020-01-01,\"open", "\"2,2020-01-01,a", "2,2020-01-01,\"", "\"",
                                "2,2020-01-01,\"a\"b\""}) {
    EXPECT_EQ(by_lines(header + one + bad + "\n" + three_line), first_and_third) << bad;
    EXPECT_EQ(by_lines(header + one + bad + "\n3,2020-01-03,\"three\"\n" + bad), first_and_third)
        << bad;
  }
  EXPECT_EQ(by_lines(header + one + "2,2020-01-01,\"a\n3,2020-01-03,three\n\",\"\"\n"),
            first_and_third);
  std::string many = header;
  for (int i = 0; i < 1'000; ++i) many += "4,2020-01-01,again\n";
  // a person's two lines, with the lines of all others between them
  const auto engine = open_engine(
      FileSource{write("a.csv", many + "0,5,\"\n" + many.substr(header.size()) + "0,5,\"\n"), "",
                 "lines"},
      three);
  EXPECT_EQ(count(*engine), 2'000);
}

TEST_F(DuckDb, QuotedRecordsMayContainLineEnds) {
  const auto quoted = [&](const std::string& bytes) {
    return lines(*open_engine(FileSource{write("a.csv", bytes), "", "quoted"}, three));
  };
  EXPECT_EQ(quoted(header + "1,2020-01-01,\"a\r\nb,\"\n" + three_line),
            (Lines{"1|2020-01-01|a\r\nb,", "3|2020-01-03|three"}));
  // the lines inside a quoted field look like records of other people
  for (const std::size_t size : {std::size_t{1} << 20U, std::size_t{5} << 20U}) {
    std::string field;
    while (field.size() < size) field += "4,2020-01-01,again\n";
    EXPECT_EQ(quoted(header + one + "2,2020-01-01,\"" + field + "\"\n" + three_line),
              first_and_third);
    EXPECT_EQ(quoted(header + one + "2,2020-01-01,\"" + field + "\"\"\n\"\r\n" + three_line),
              first_and_third);
    EXPECT_EQ(quoted(header + one + three_line + "2,2020-01-01,\"" + field + "\""),
              first_and_third);
  }
  for (const std::string bad :
       {"2,2020-01-01,a\"b", "2,2020-01-01,\"a\"b", "2,2020-01-01,\"open"}) {
    EXPECT_NE(refusal({write("a.csv", header + one + bad + "\n" + three_line), "", "quoted"}),
              "not refused")
        << bad;
  }
}

TEST_F(DuckDb, SkipsOnlyTheRecordThatExceedsAMebibyte) {
  for (const std::size_t size :
       {std::size_t{1} << 20U, std::size_t{5} << 20U, std::size_t{33} << 20U}) {
    EXPECT_EQ(read(header + one + "2,2020-01-01," + std::string(size, 'x') + "\n" + three_line),
              first_and_third);
    EXPECT_EQ(read(header + one + "2,2020-01-01,\"" + std::string(size, 'x') + "\"\n" + three_line),
              first_and_third);
  }
  const auto engine =
      open_engine(FileSource{write("a.csv", header + one + "2,2020-01-01,\"" +
                                                std::string(900'000, '\n') + "\"\n" + three_line),
                             "", "quoted"},
                  three);
  EXPECT_EQ(number(*engine, "SELECT length(word) FROM " + engine->table() + " WHERE id = 2"),
            900'000);
}

TEST_F(DuckDb, AnotherDelimiterMayBeDeclared) {
  EXPECT_EQ(lines(*open_engine(
                FileSource{write("a.csv", "id;day;word\n1;2020-01-01;\"a;b\"\n"), "", "", {}, ";"},
                three)),
            Lines{"1|2020-01-01|a;b"});
  for (const char* bad : {"ab", "\"", "\n", "\xc3"}) {
    EXPECT_THROW(open_engine(FileSource{folder / "a.csv", "", "", {}, bad}, three), InvalidValue)
        << bad;
  }
}

TEST_F(DuckDb, ReadsAllLineEnds) {
  EXPECT_EQ(read("\xEF\xBB\xBF" + header + one + three_line), first_and_third);
  EXPECT_EQ(read("id,day,word\r\n1,2020-01-01,one\r\n3,2020-01-03,\"three\"\r\n"), first_and_third);
  EXPECT_EQ(read("id,day,word\n1,2020-01-01,one\r\n3,2020-01-03,three"), first_and_third);
  EXPECT_EQ(read("id,day,word\n1,2020-01-01,one\r\n3,2020-01-03,\"three\"\r"), first_and_third);
  EXPECT_EQ(read(header), Lines{});
  EXPECT_EQ(read("id,day,word"), Lines{});
  EXPECT_EQ(read("\"id\",\"day\",\"word\"\n" + one), Lines{"1|2020-01-01|one"});
}

// Moves the records over all positions relative to the boundaries of the read buffers.
TEST_F(DuckDb, RowsDoNotDependOnBufferBoundaries) {
  std::string bytes = header;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 300'000; ++i) {
    sum += i;
    bytes += std::to_string(i) + (i % 3 == 0 ? ",2020-01-01,\"a\r\n\"\"b\"\r\n" : ",,c\n");
  }
  for (const int shift : {0, 1, 2, 3, 7}) {
    const auto path = write("a.csv", bytes + std::string(static_cast<std::size_t>(shift), '\n'));
    const auto engine = open_engine(FileSource{path, "", "quoted"}, three, Limits{.threads = 2});
    EXPECT_EQ(number(*engine, "SELECT CAST(sum(id) AS BIGINT) FROM " + engine->table()), sum);
    EXPECT_EQ(count(*engine), 300'000);
    bytes.insert(header.size(), "bad line\n");
  }
}

TEST_F(DuckDb, ErrorsNameTheMissingColumn) {
  const auto fails = [&](const std::string& bytes) {
    try {
      open(write("secret.csv", bytes));
    } catch (const InvalidValue& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(fails("id,day,hidden\n1,2020-01-01,value\n"),
            "the file's header has no column \"word\"; there are: id, day, hidden");
  EXPECT_EQ(
      fails("id,day,Word\n"),
      "the file's header has no column \"word\"; did you mean \"Word\"? There are: id, day, Word");
  EXPECT_EQ(fails("id,day,word,id\n"), "the file's header names the column \"id\" twice");
  EXPECT_EQ(fails(""), "the file of data has no header: its first line must name the columns");
  EXPECT_EQ(fails("id,\"day\"x,word\n"),
            "the file of data has no header: its first line must name the columns");
  EXPECT_EQ(fails("\x1f\x8b\x08 packed"),
            "the file of data is compressed: unpack it first, such as by gunzip");
}

TEST_F(DuckDb, RefusesPathsThatAreNoFiles) {
  EXPECT_THROW(open(folder / "none.csv"), EngineError);
  fs::create_directory(folder / "folder.csv");
  EXPECT_THROW(open(folder / "folder.csv"), EngineError);
  ASSERT_EQ(mkfifo((folder / "pipe.csv").c_str(), 0600), 0);
  EXPECT_THROW(open(folder / "pipe.csv"), EngineError);
  EXPECT_THROW(open(write("a.xlsx", header)), InvalidValue);
  EXPECT_THROW(open(write("a", header)), InvalidValue);
  EXPECT_THROW(open(write("b.parquet", header)), EngineError);
  EXPECT_THROW(open(write("a.csv", header), {{"id", Type::integer}, {"ID", Type::integer}}),
               InvalidValue);
  EXPECT_THROW(open(write("a.csv", header), {}), InvalidValue);
  EXPECT_THROW(open(write("a.csv", header), three, Limits{.threads = -1}), InvalidValue);
}

TEST_F(DuckDb, RefusesUnreadableFiles) {
  fs::permissions(write("a.csv", header), fs::perms::none);
  const uid_t self = geteuid();
  constexpr uid_t nobody = 65534;
  if (self == 0) {  // root can read every file, so another user tries
    fs::permissions(folder, fs::perms::all);
    ASSERT_EQ(seteuid(nobody), 0);
  }
  EXPECT_THROW(open(folder / "a.csv"), EngineError);
  ASSERT_EQ(seteuid(self), 0);
}

TEST_F(DuckDb, ReachesNoOtherFile) {
  const auto csv = open(write("a.csv", header + one));
  const auto other = write("other.csv", header + one);
  std::ofstream(folder / "parquet.csv") << header << one;
  for (const std::string sql :
       {"SELECT content FROM read_text('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT content FROM read_blob('/proc/self/environ')", "SELECT file FROM glob('/etc/*')"}) {
    EXPECT_NE(detail(*csv, sql), "no error") << sql;
  }
  EXPECT_NE(detail(*csv, "SELECT * FROM read_csv('" + other.string() + "')"), "no error");
  for (const std::string sql :
       {"SET threads = 1", "RESET threads", "SET enable_external_access = true",
        "SET lock_configuration = false", "ATTACH ':memory:' AS m", "INSTALL httpfs", "LOAD httpfs",
        "CREATE TABLE t AS SELECT 1", "COPY (SELECT 1) TO '/tmp/sotto-out.csv'",
        "PRAGMA threads = 1", "EXPORT DATABASE '/tmp/sotto-out'"}) {
    EXPECT_ANY_THROW(csv->query(sql)) << sql;
  }
  EXPECT_ANY_THROW(csv->query("SELECT 1::BIGINT; SELECT 2::BIGINT"));
  EXPECT_EQ(std::get<std::string>(
                csv->query("SELECT current_setting('enable_external_access')::VARCHAR").at(0, 0)),
            "false");
  EXPECT_EQ(std::get<std::string>(
                csv->query("SELECT current_setting('lock_configuration')::VARCHAR").at(0, 0)),
            "true");
  EXPECT_EQ(
      std::get<std::string>(
          csv->query("SELECT current_setting('autoload_known_extensions')::VARCHAR").at(0, 0)),
      "false");
  EXPECT_EQ(
      std::get<std::string>(
          csv->query("SELECT current_setting('autoinstall_known_extensions')::VARCHAR").at(0, 0)),
      "false");
}

TEST_F(DuckDb, AnswersAreIntegersTextsAndNull) {
  const auto engine = open(write("a.csv", header + one));
  EXPECT_EQ(engine->query("SELECT NULL::BIGINT, 'a text that is long', NULL::VARCHAR").cells,
            (std::vector<Cell>{{}, "a text that is long", {}}));
  EXPECT_THROW(engine->query("SELECT sum(id) FROM " + engine->table()), std::logic_error);
  EXPECT_THROW(engine->query("SELECT 0.5"), std::logic_error);
  EXPECT_EQ(engine->query("SELECT id FROM " + engine->table() + " WHERE id > 5").size(), 0U);
  EXPECT_EQ(engine->query("SELECT range, 'x' FROM range(10000)").size(), 10'000U);
}

TEST_F(DuckDb, ErrorsContainNoData) {
  const auto engine = open(write("a.csv", header + "1,2020-01-01,secret\n"));
  EXPECT_NE(detail(*engine, "SELECT CAST(word AS BIGINT) FROM " + engine->table()).find("secret"),
            std::string::npos);
}

TEST_F(DuckDb, SeesTheSameRowsAfterTheFileIsReplaced) {
  const auto engine = open(write("a.csv", header + one));
  fs::rename(write("b.csv", header + one + three_line), folder / "a.csv");
  EXPECT_EQ(count(*engine), 1);
}

TEST_F(DuckDb, NoticesChangedFiles) {
  const auto path = write("a.csv", header + one);
  const auto engine = open(path);
  std::ofstream(path, std::ios::app) << three_line;
  EXPECT_THROW(count(*engine), EngineError);
}

TEST_F(DuckDb, NoticesChangedFilesWithRestoredTimes) {
  for (const char* name : {"a.csv", "a.json"}) {
    const bool is_json = std::string(name) == "a.json";
    const std::string record = is_json ? R"({"id":1,"day":"2020-01-01","word":"x"})"
                                         "\n"
                                       : header + "1,2020-01-01,x\n";
    const auto path = write(name, record);
    struct stat before {};
    ASSERT_EQ(stat(path.c_str(), &before), 0);
    const auto engine = open(path);
    EXPECT_EQ(count(*engine), 1) << name;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(30));  // the kernel's clock for files ticks every 4 to 10 ms
    std::fstream(path, std::ios::in | std::ios::out).seekp(-4, std::ios::end) << "2";
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    struct stat after {};
    ASSERT_EQ(stat(path.c_str(), &after), 0);
    ASSERT_TRUE(after.st_size == before.st_size &&
                after.st_mtim.tv_nsec == before.st_mtim.tv_nsec &&
                after.st_mtim.tv_sec == before.st_mtim.tv_sec);
    EXPECT_THROW(count(*engine), EngineError) << name;
  }
}

TEST_F(DuckDb, ThrowsOutOfMemoryAndWritesNothingToTheDisk) {
  const auto scratch = folder / "scratch";
  fs::create_directory(scratch);
  const std::int64_t mebibyte = 1 << 20;
  const std::string sql =
      "SELECT count(*), max(n) FROM (SELECT range % 6000000 AS g, count(*) AS n FROM "
      "range(12000000) GROUP BY g)";
  const auto engine = open(write("a.csv", header + one), three,
                           Limits{.threads = 1, .memory = 100 * mebibyte, .scratch = scratch});
  EXPECT_THROW(engine->query(sql), OutOfMemory);
  EXPECT_EQ(count(*engine), 1) << "it goes on";
  EXPECT_TRUE(fs::is_empty(scratch));
}

TEST_F(DuckDb, ReportsProgressAndStops) {
  std::string bytes = header;
  for (int i = 0; i < 2'000'000; ++i) bytes += std::to_string(i) + ",2020-01-01,abc\n";
  const auto engine = open(write("a.csv", bytes), three, Limits{.threads = 1});
  std::vector<double> reported;
  const auto caller = std::this_thread::get_id();
  const auto sql = "SELECT count(DISTINCT word || id) FROM " + engine->table();
  engine->query(sql, [&](double share) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    reported.push_back(share);
    return true;
  });
  EXPECT_GT(reported.size(), 3U);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.front(), 0);
  EXPECT_EQ(reported.back(), 1);
  EXPECT_GT(reported[reported.size() / 2], 0);
  int calls = 0;
  EXPECT_THROW(engine->query(sql, [&](double) { return ++calls < 2; }), EngineError);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(count(*engine), 2'000'000);
}

TEST_F(DuckDb, ReadsJsonLines) {
  const auto engine =
      open(write("a.json",
                 "{\"id\": 1, \"day\": \"2020-01-01\", \"word\": \"one\", \"extra\": [1]}\r\n"
                 "{\"id\": 2, \"day\": 5, \"word\": \"two\"}\n{\"id\": 2.5, \"word\": "
                 "\"two\"}\n{\"id\": 9223372036854775808}\n[1]\nnot json\n\n"
                 "{\"id\": 2, \"word\": \"\\u0000\"}\n{\"id\": 2, \"word\": \"\xff\"}\n{\"id\": 2, "
                 "\"day\": \"2020-02-30\"}\n"
                 "{\"id\": 4, \"day\": null, \"word\": \"\"}\n{}\n{\"id\": 3, \"day\": "
                 "\"2020-01-03\", \"word\": \"thr\\u0065e\"}"));
  EXPECT_EQ(lines(*engine), (Lines{"1|2020-01-01|one", "2|-|two", "2|-|-", "2|-|-",
                                   "3|2020-01-03|three", "4|-|", "-|-|two", "-|-|-", "-|-|-"}));
}

TEST_F(DuckDb, ReadsJsonArrays) {
  const auto read = [&](const std::string& text) {
    return lines(*open_engine(FileSource{write("array.json", text), "json-array"}, three));
  };
  EXPECT_EQ(read(" \r\n[{\"id\": 1, \"day\": \"2020-01-01\", \"word\": \"o, ]}ne\", \"extra\": "
                 "[{}, [1]]},\n"
                 "{\"id\": 2, \"day\": 5}, 7, \"text\", null, [1, 2], {\"id\": \"x\"} , {\"id\": "
                 "4, \"word\": \"q\\\"\\\\\"}\n, {}\n]\n"),
            (Lines{"1|2020-01-01|o, ]}ne", "2|-|-", "4|-|q\"\\", "-|-|-", "-|-|-"}));
  EXPECT_EQ(read("[]"), Lines{});
  EXPECT_EQ(read("[ ]  "), Lines{});
  // an element of more than a mebibyte is skipped, alone
  for (const std::string& text : {std::string(1 << 20, 'x'), std::string(5 << 20, ']')}) {
    EXPECT_EQ(read("[{\"id\": 1}, {\"id\": 2, \"word\": \"" + text + "\"}, [[\"" + text +
                   "\"]], {\"id\": 3}]"),
              (Lines{"1|-|-", "3|-|-"}));
  }
  EXPECT_EQ(read("[{\"id\": 1}," + std::string(3 << 20, ' ') + "{\"id\": 3}" +
                 std::string(3 << 20, '\n') + "]"),
            (Lines{"1|-|-", "3|-|-"}));
  std::string deep = "[{\"id\": 1}, ";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_EQ(read(deep + std::string(100'000, ']') + ", {\"id\": 3}]"), (Lines{"1|-|-", "3|-|-"}));
  // other JSON files are refused
  for (const std::string bad :
       {"[{\"id\": 1}, {\"id\": 2, \"word\": \"open}, {\"id\": 3}]", "[{\"id\": 1}, {\"id\": 2}",
        "[{\"id\": 1}] {\"id\": 2}, {\"id\": 3}]", "[{\"id\": 1}, {\"id\": [2}, {\"id\": 3]}]",
        "[{\"id\": 1}}, {\"id\": 2}]", "["}) {
    EXPECT_THROW(read(bad), EngineError) << bad;
  }
  std::string many = "[";
  for (int i = 0; i < 300'000; ++i)
    many += (i == 0 ? "" : ",") + ("{\"id\": " + std::to_string(i)) + ", \"word\": \"abcdefgh\"}";
  EXPECT_EQ(count(*open_engine(FileSource{write("many.json", many + "]"), "json-array"}, three)),
            300'000);
  EXPECT_THROW(read("{\"id\": 1}"), InvalidValue);
  EXPECT_THROW(open(write("a.json", "[{\"id\": 1}]")), InvalidValue);
}

}  // namespace
}  // namespace sotto
