// What a curator is told on stderr of the data behind an answer, and what no answer and no report
// ever holds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

struct Said {
  int status = 0;
  std::string out, error;
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CuratorNotes : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-secret-place-XXXXXX").string();
    folder = mkdtemp(name.data());
    write(folder / "s.toml",
          "title = \"T\"\ndata = \"p\"\n[budget]\nepsilon = 1\n[[query]]\nname = \"n\"\nask = "
          "\"count\"\nby = [\"sex\"]\n");
  }
  void TearDown() override { fs::remove_all(folder); }

  Said command(const std::string& words) const {
    const std::string line = "HOME=" + folder.string() + " " + SOTTO_COMMAND_PATH + " " + words +
                             " >" + (folder / "out").string() + " 2>" + (folder / "error").string();
    const int status = std::system(line.c_str());
    return {WEXITSTATUS(status), text_of(folder / "out"), text_of(folder / "error")};
  }
  [[nodiscard]] std::string catalogue() const {
    return " --catalogue " + (folder / "catalogue").string();
  }
  Said init(const std::string& more) const {
    return command("data init " + (folder / "p.csv").string() +
                   " --unit row --epsilon 100 --quiet --data-version 1 " + more + catalogue());
  }
  Said run(const std::string& more = "") const {
    return command("run " + (folder / "s.toml").string() + " --duckdb " + libduckdb + " " + more +
                   catalogue());
  }
  // The data file with the line after a column's name changed.
  void edit(const std::string& from, const std::string& to) const {
    const fs::path place = folder / "catalogue" / "p.data.toml";
    std::string text = text_of(place);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write(place, text.replace(at, from.size(), to));
  }
  void make(const std::string& rows, const std::string& more = "") const {
    write(folder / "p.csv", "age,sex\n" + rows);
    const Said said = init(more);
    ASSERT_EQ(said.status, 0) << said.error;
    edit("# values = [\"one\", \"two\"]", "values = [\"Male\", \"Female\"] # ");
  }

  fs::path folder;
};

TEST_F(CuratorNotes, AnUnreadableFileMakesNoDataFile) {
  const auto is_refused = [&](const std::string& csv, const std::string& options,
                              const std::string& advice) {
    write(folder / "p.csv", csv);
    const Said said = init(options);
    EXPECT_EQ(said.status, 2) << csv;
    EXPECT_TRUE(holds(said.error, advice)) << said.error;
    EXPECT_FALSE(fs::exists(folder / "catalogue")) << csv;
  };
  const std::string headerless = "39,State-gov\n50,Private\n38,Private\n";
  is_refused(headerless, "", "type --names c1,c2");
  is_refused(headerless, "", "type --header");
  is_refused("age,age\n1,2\n", "", "appears twice");
  is_refused(",age\n1,2\n", "", "a name is empty");
  is_refused("Private,Kiel\nState,Bonn\nPrivate,Ulm\n", "",
             "\"Private\" is also a value in a later line");
  is_refused("age,sex\n1, Male\n", "", "type --trim");
  is_refused("age,sex\n1, Male\n", "", "type --no-trim");
  is_refused("4,2\n1,2,3\n4,5,6\n", "--header",
             "2 of 2 records cannot be read: most have 3 fields, and the first line names 2");
  is_refused(headerless, "--names a,b,c",
             "3 of 3 records cannot be read: most have 2 fields, and --names has 3");
  is_refused(headerless, "--names a,", "--names has an empty name");
  is_refused(headerless, "--names a,a", "--names has \"a\" twice");
  is_refused(headerless, "--names a,b --header", "exclude each other");
  is_refused("age,sex\n1, Male\n", "--trim --no-trim", "exclude each other");
  // the words of a person's record are shown as far as they help, and no further
  write(folder / "p.csv", "39,A very long story of one person,50\n1,x,2\n");
  EXPECT_FALSE(holds(init("").error, "story of one person"));
}

TEST_F(CuratorNotes, TypedOptionsDecide) {
  write(folder / "p.csv", "39, Male\n50, Female\n");
  ASSERT_EQ(init("--names age,sex --trim --publisher Office").status, 0);
  const std::string data = text_of(folder / "catalogue" / "p.data.toml");
  for (const char* line : {"names = [\"age\", \"sex\"]", "trim = true", "publisher = \"Office\"",
                           "[columns.age]\ntype = \"integer\""}) {
    EXPECT_TRUE(holds(data, line)) << line;
  }
  fs::remove_all(folder / "catalogue");
  ASSERT_EQ(init("--header --no-trim").status, 0);
  EXPECT_TRUE(holds(text_of(folder / "catalogue" / "p.data.toml"), "[columns.39]"));
}

TEST_F(CuratorNotes, ANameWithoutAFormatNeedsTheOption) {
  write(folder / "p x.data", "a;b\n1;2\n");
  const Said said = command("data init '" + (folder / "p x.data").string() +
                            "' --unit row --epsilon 1" + catalogue());
  EXPECT_EQ(said.status, 2);
  EXPECT_TRUE(
      holds(said.error, "sotto data init '" + (folder / "p x.data").string() + "' --format csv"))
      << said.error;
}

TEST_F(CuratorNotes, UnreadableRecordsAreReportedToTheCuratorOnly) {
  make("1,Male\n3,Female\n");
  write(folder / "p.csv", "age,sex\n1,Male\n2\n3,Female\nx,Female\n");
  edit("type = \"text\"", "type = \"integer\"");
  edit("values = [\"Male\", \"Female\"]", "values = [1, 2]");
  const Said said = run("--format json --report " + (folder / "r.html").string());
  ASSERT_EQ(said.status, 0) << said.error;
  EXPECT_TRUE(holds(said.error, "1 of 4 records cannot be read")) << said.error;
  EXPECT_TRUE(holds(said.error, "3 of 3 values of \"sex\" are not of type integer")) << said.error;
  EXPECT_FALSE(holds(said.error, "\"age\"")) << "the study does not read it";
  for (const std::string& shown : {said.out, text_of(folder / "r.html")}) {
    EXPECT_FALSE(holds(shown, "cannot be read: "));
    EXPECT_FALSE(holds(shown, "1 of 4"));
    EXPECT_FALSE(holds(shown, "not of type"));
  }
  // the kept answer touches no data
  EXPECT_FALSE(holds(run().error, "cannot be read"));
}

TEST_F(CuratorNotes, AFileWithoutRecordsIsReported) {
  make("1,Male\n2,Female\n");
  write(folder / "p.csv", "age,sex\n");
  const Said said = run();
  ASSERT_EQ(said.status, 0) << said.error;
  EXPECT_TRUE(holds(said.error, "no record was read")) << said.error;
}

TEST_F(CuratorNotes, AStoredAnswerOfAChangedFileIsReported) {
  make("1,Male\n2,Female\n");
  const Said first = run("--format json");
  ASSERT_EQ(first.status, 0) << first.error;
  EXPECT_FALSE(holds(first.error, "changed")) << first.error;
  Said again = run("--format json");
  EXPECT_EQ(again.out, first.out);
  EXPECT_FALSE(holds(again.error, "changed")) << again.error;

  write(folder / "p.csv", "age,sex\n1,Male\n2,Female\n3,Female\n");
  again = run("--format json --report " + (folder / "r.html").string());
  EXPECT_EQ(again.out, first.out) << "an answer says nothing of the data's changes";
  EXPECT_TRUE(holds(again.error, "the file of data has changed since this answer")) << again.error;
  EXPECT_TRUE(holds(again.error, "update `version` in p.data.toml"));
  EXPECT_FALSE(holds(text_of(folder / "r.html"), "has changed since"));

  edit("version = \"1\"", "version = \"2\"");
  ASSERT_EQ(run().status, 0);
  EXPECT_FALSE(holds(run().error, "changed"));
}

TEST_F(CuratorNotes, AFileOfTheSameSizeAndTimeIsNoOtherWay) {
  make("1,Male\n2,Female\n");
  ASSERT_EQ(run().status, 0);
  struct stat before {};
  ASSERT_EQ(stat((folder / "p.csv").c_str(), &before), 0);
  write(folder / "p.csv", "age,sex\n9,Male\n2,Female\n");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, (folder / "p.csv").c_str(), times, 0), 0);
  EXPECT_TRUE(holds(run().error, "may have changed"));
}

TEST_F(CuratorNotes, AChangedReadingOfTheFileIsReported) {
  make("1,Male\n2,Female\n");
  ASSERT_EQ(run().status, 0);
  edit("version = \"1\"", "null_text = [\"Male\"]\nversion = \"1\"");
  EXPECT_TRUE(holds(run().error, "says to read the data differently"));
}

TEST_F(CuratorNotes, WithoutAMemoryAFileNewerThanTheAnswerIsReported) {
  make("1,Male\n2,Female\n");
  ASSERT_EQ(run().status, 0);
  for (const auto& entry : fs::directory_iterator(folder / "catalogue")) {
    if (entry.path().extension() == ".sources") fs::remove(entry.path());
  }
  EXPECT_FALSE(holds(run().error, "changed"));
  fs::last_write_time(folder / "p.csv", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_TRUE(holds(run().error, "has changed since"));
}

TEST_F(CuratorNotes, NoAnswerAndNoReportHoldsAPlace) {
  make("1,Male\n2,Female\n", "--publisher Office");
  for (const char* format : {"table", "json", "csv"}) {
    const Said said =
        run(std::string("--format ") + format + " --report " + (folder / "r.html").string());
    ASSERT_EQ(said.status, 0) << said.error;
    EXPECT_FALSE(holds(said.out, "secret-place")) << format;
    const std::string page = text_of(folder / "r.html");
    EXPECT_FALSE(holds(page, "secret-place"));
    EXPECT_FALSE(holds(page, ".sotto")) << "the ledger's place";
    EXPECT_FALSE(holds(page, "p.csv"));
    EXPECT_FALSE(holds(page, "<td>age</td>")) << "the study does not read it";
    EXPECT_TRUE(holds(page, "Published by Office."));
    EXPECT_TRUE(holds(page, "sotto ledger verify p --head"));
  }
  // the line in the report is one that works
  const std::string page = text_of(folder / "r.html");
  const std::size_t at = page.find("sotto ledger verify p --head");
  const std::string line = page.substr(at + 6, page.find('<', at) - at - 6);
  EXPECT_EQ(command(line + catalogue()).status, 0) << line;
  // made again, to the byte
  ASSERT_EQ(run("--report " + (folder / "again.html").string()).status, 0);
  EXPECT_EQ(text_of(folder / "again.html"), page);
}

TEST_F(CuratorNotes, AConstantThatIsNoDeclaredValueIsRefusedBeforeTheCharge) {
  make("1,Male\n2,Female\n");
  write(folder / "s.toml",
        "data = \"p\"\n[budget]\nepsilon = 1\n[[query]]\nname = \"n\"\nask = \"count\"\nwhere = "
        "\"sex = 'male'\"\n");
  const Said said = run();
  EXPECT_EQ(said.status, 2);
  EXPECT_TRUE(holds(said.error, "did you mean \"Male\"?")) << said.error;
  EXPECT_FALSE(holds(
      command("ledger show " + (folder / "catalogue" / "p.sotto").string() + " --format csv").out,
      "laplace"));
}

TEST_F(CuratorNotes, CheckShowsUnlistedValues) {
  make("1, Male\n2, Female\n3, Female\n", "--no-trim");
  const Said said = command("data check p --duckdb " + libduckdb + catalogue());
  EXPECT_TRUE(
      holds(said.out, "the commonest values that are not listed: \" Female\" (2), \" Male\" (1)"))
      << said.out;
  EXPECT_TRUE(holds(said.out, "write trim = true")) << said.out;
}

}  // namespace
}  // namespace sotto
