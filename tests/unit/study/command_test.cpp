// `sotto run` as a process: killed at any moment, asked again and again, and with its output read
// as it comes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "sotto/ledger/ledger.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

struct Said {
  int status = 0;  // the exit status, or 1000 + signal
  std::string out;
};

class Command : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-command-XXXXXX").string();
    folder = mkdtemp(name.data());
    std::ofstream data(folder / "p.csv");
    data << "v\n";
    for (int i = 0; i < 200; ++i) data << i % 10 << "\n";
    write_data("p.csv", "[columns.v]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n");
    write_study("s.toml", "1");
    (void)Ledger::create(place(), {"people", "row", Relation::add_remove, ZcdpBudget{1, 0}, "row",
                                   (folder / "p.csv").string()});
  }
  void TearDown() override { fs::remove_all(folder); }

  [[nodiscard]] std::string place() const { return (folder / "l.sotto").string(); }
  void write_data(const std::string& source, const std::string& columns) const {
    std::ofstream(folder / "people.data.toml")
        << "name = \"people\"\nversion = \"1\"\nsource = \"" << source
        << "\"\nunit = \"row\"\nledger = \"l.sotto\"\n"
        << columns;
  }
  void write_study(const std::string& name, const std::string& title) const {
    std::ofstream(folder / name) << "title = \"" << title
                                 << "\"\ndata = \"people\"\n[budget]\nrho = 0.004\n[[query]]\nname "
                                    "= \"n\"\nask = \"count\"\n[[query]]\nname = \"m\"\nask = "
                                    "\"mean\"\nof = \"v\"\n";
  }

  struct Started {
    pid_t child;
    int out;
  };
  Started start(const std::string& study, const std::vector<std::string>& more = {}) const {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::vector<std::string> words{SOTTO_COMMAND_PATH,
                                   "run",
                                   (folder / study).string(),
                                   "--catalogue",
                                   folder.string(),
                                   "--quiet",
                                   "--duckdb",
                                   libduckdb,
                                   "--threads",
                                   "1",
                                   "--format",
                                   "json"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    return {child, ends[0]};
  }
  static int finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  Said say(const std::string& study, const std::vector<std::string>& more = {}) const {
    const Started started = start(study, more);
    Said said;
    char bytes[4096];
    for (ssize_t n = 0; (n = read(started.out, bytes, sizeof bytes)) > 0;)
      said.out.append(bytes, static_cast<std::size_t>(n));
    close(started.out);
    said.status = finish(started.child);
    return said;
  }

  void kill_rounds(int rounds) const {
    // how long a whole run takes here and now
    write_study("first.toml", "first");
    const auto start_time = std::chrono::steady_clock::now();
    ASSERT_EQ(say("first.toml").status, 0);
    const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
                           std::chrono::steady_clock::now() - start_time)
                           .count();
    int killed = 0;
    for (int round = 0; round < rounds; ++round) {
      const std::string study = std::to_string(round) + ".toml";
      write_study(study, std::to_string(round));
      const std::size_t before = Ledger::open(place()).entries().size();
      const Started started = start(study);
      std::string shown;
      if (round % 3 == 0) {
        // killed when the first byte of the answer is seen: the answer must be kept by then
        char byte = 0;
        if (read(started.out, &byte, 1) == 1) shown += byte;
      } else {
        std::this_thread::sleep_for(
            std::chrono::microseconds(uniform_below(static_cast<std::uint64_t>(whole))));
      }
      kill(started.child, SIGKILL);
      char bytes[4096];
      for (ssize_t n = 0; (n = read(started.out, bytes, sizeof bytes)) > 0;)
        shown.append(bytes, static_cast<std::size_t>(n));
      close(started.out);
      killed += finish(started.child) == 1000 + SIGKILL ? 1 : 0;

      const Ledger ledger = Ledger::open(place());
      ASSERT_TRUE(ledger.verify().sound);
      const auto entries = ledger.entries();
      ASSERT_LE(entries.size(), before + 1);
      std::set<std::string> requests;
      for (const Entry& entry : entries) ASSERT_TRUE(requests.insert(entry.request).second);
      if (!shown.empty()) {
        ASSERT_EQ(entries.size(), before + 1);
        ASSERT_TRUE(ledger.answer(entries.back().request)
                        .has_value());  // nothing is shown that is not kept
      }
      // what was cut off before its first noise is run again under its one charge, and then for
      // ever the same; what drew noise and has no answer is closed
      const bool is_closed =
          entries.size() > before && ledger.state(entries.back().request) == RequestState::begun;
      const Said again = say(study);
      ASSERT_EQ(again.status, is_closed ? 5 : 0);
      ASSERT_EQ(Ledger::open(place()).entries().size(), before + 1);
      if (is_closed) {
        ASSERT_EQ(again.out, "");
        ASSERT_EQ(say(study, {"--new"}).status, 0);
        continue;
      }
      ASSERT_EQ(again.out.substr(0, shown.size()), shown);
      ASSERT_EQ(say(study).out, again.out);
    }
    EXPECT_GE(killed, rounds / 3);
  }

  fs::path folder;
};
class SlowCommand : public Command {};

TEST_F(Command, FiftyRunsGiveOneAnswerUnderOneCharge) {
  const Said first = say("s.toml");
  ASSERT_EQ(first.status, 0);
  ASSERT_FALSE(first.out.empty());
  // not even the data are needed any more
  fs::remove(folder / "p.csv");
  for (int i = 1; i < 50; ++i) ASSERT_EQ(say("s.toml").out, first.out);
  EXPECT_EQ(Ledger::open(place()).entries().size(), 1U);
}

TEST_F(Command, NewRequestsAreRefusedOnceTheBudgetIsSpent) {
  Ledger ledger = Ledger::open(place());
  ledger.charge("all but a little", "", gaussian(0.7142857142857143));  // rho = 0.98
  std::set<std::string> answers;
  int status = 0;
  for (int i = 0; i < 20 && status == 0; ++i) {
    const Said said = say("s.toml", {"--new"});
    status = said.status;
    if (status == 0)
      EXPECT_TRUE(answers.insert(said.out).second);
    else
      EXPECT_EQ(said.out, "");
  }
  EXPECT_EQ(status, 3);
  EXPECT_EQ(answers.size(), 5U);
  EXPECT_LE(ledger.filter().spent().amount, 1.0000001);
}

TEST_F(Command, ADryRunShowsTheRemainingBudgetOrExits3) {
  const Said fits = say("s.toml", {"--dry-run"});
  EXPECT_EQ(fits.status, 0);
  EXPECT_NE(fits.out.find("\"admitted\":true"), std::string::npos) << fits.out;
  Ledger::open(place()).charge("nearly all", "", gaussian(0.70746));  // rho = 0.999
  const Said refused = say("s.toml", {"--dry-run"});
  EXPECT_EQ(refused.status, 3);
  EXPECT_NE(refused.out.find("\"admitted\":false"), std::string::npos) << refused.out;
  EXPECT_NE(refused.out.find("\"refusal\":\"it takes 0.4 % of the budget, and 0.0998 % of"),
            std::string::npos)
      << refused.out;
  EXPECT_EQ(Ledger::open(place()).entries().size(), 1U);
}

TEST_F(Command, AnAnswerThatCouldNotBePrintedIsStored) {
  const std::string line = std::string(SOTTO_COMMAND_PATH) + " run " +
                           (folder / "s.toml").string() + " --quiet --catalogue " +
                           folder.string() + " --duckdb " + libduckdb + " > /dev/full 2>/dev/null";
  EXPECT_NE(std::system(line.c_str()), 0);
  const Ledger ledger = Ledger::open(place());
  ASSERT_EQ(ledger.entries().size(), 1U);
  EXPECT_TRUE(ledger.answer(ledger.entries()[0].request).has_value());
}

// Everything that is wrong with a schema is found before the charge, and no message has a cell's
// content.
TEST_F(Command, DataThatDoNotFitTheSchemaAreRefusedBeforeTheChargeAndNothingIsSaidOfThem) {
  const auto complaint = [&](const std::string& data, const std::string& column,
                             const std::string& type) {
    std::ofstream(folder / "p.csv") << data;
    write_data(data.empty() ? "none.csv" : "p.csv",
               "[columns." + column + "]\ntype = \"" + type + "\"\nnull = \"drop\"\n");
    std::ofstream(folder / "bad.toml")
        << "data = \"people\"\n[budget]\nrho = 0.01\n[[query]]\nname = \"n\"\nask = "
           "\"count\"\nwhere = \""
        << column << " IS NOT NULL\"\n";
    const std::string line = std::string(SOTTO_COMMAND_PATH) + " run " +
                             (folder / "bad.toml").string() + " --catalogue " + folder.string() +
                             " --duckdb " + libduckdb + " > " + (folder / "said").string() +
                             " 2>&1";
    const int status = std::system(line.c_str());
    std::ifstream in(folder / "said");
    const std::string said{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(said.find("SECRET"), std::string::npos) << said;
    return std::pair(status, said);
  };
  for (const auto& [data, column, type] :
       {std::tuple{"", "v", "real"}, std::tuple{"v\nSECRET1\n", "w", "real"},
        std::tuple{"v,v\nSECRET1,SECRET2\n", "v", "text"},
        std::tuple{"v\nSECRET1\n1\n\"SECRET\n2\n", "v", "real"}}) {
    const auto [status, said] = complaint(data, column, type);
    EXPECT_NE(status, 0) << said;
    EXPECT_FALSE(said.empty());
    EXPECT_TRUE(Ledger::open(place()).entries().empty()) << said;
  }
  // cells that are no numbers are NULL, and no one is told
  EXPECT_EQ(complaint("v\nSECRET1\n1\n\"SECRET\"\n2\n", "v", "real").first, 0);
}

// A study that came by mail, in a folder with a data file and a ledger of its author's: neither is
// looked at, and what the study itself says of a place is refused. Nothing is charged to the real
// ledger, and nothing is read.
TEST_F(Command, AStudyCannotBringItsDataOrItsLedger) {
  const fs::path mail = folder / "mail";
  fs::create_directories(mail / "home");
  std::ofstream(mail / "salaries.csv") << "v\nSECRET17\n";
  (void)Ledger::create((mail / "own.sotto").string(),
                       {"own", "row", Relation::add_remove, ZcdpBudget{1e6, 0}, "row",
                        (mail / "salaries.csv").string()});
  const std::string columns = "[columns.v]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n";
  const std::string query =
      "[budget]\nrho = 1e5\n[[query]]\nname = \"n\"\nask = \"mean\"\nof = \"v\"\n";
  std::ofstream(mail / "own.data.toml")
      << "name = \"own\"\nversion = \"1\"\nsource = \"salaries.csv\"\nunit = \"row\"\nledger = "
         "\"own.sotto\"\n"
      << columns;
  const auto says = [&](const std::string& text, const std::string& options) {
    std::ofstream(mail / "s.toml") << text;
    const std::string line =
        "cd " + mail.string() +
        " && env -u XDG_CONFIG_HOME -u XDG_DATA_HOME HOME=" + (mail / "home").string() + " " +
        SOTTO_COMMAND_PATH + " run s.toml " + options + " --duckdb " + libduckdb + " > said 2>&1";
    const int status = std::system(line.c_str());
    std::ifstream in(mail / "said");
    const std::string said{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(WEXITSTATUS(status), 2) << said;
    EXPECT_EQ(said.find("SECRET"), std::string::npos) << said;
    return said;
  };
  // what lies beside the study is nobody's catalogue
  EXPECT_NE(says("data = \"own\"\n" + query, "").find("there are no data \"own\""),
            std::string::npos);
  // nor does the study lead out of the real one
  for (const char* name : {"../mail/own", "mail/own", "./own", "own.data.toml/../own"}) {
    EXPECT_NE(
        says("data = \"" + std::string(name) + "\"\n" + query, "--catalogue " + folder.string())
            .find("never a path"),
        std::string::npos)
        << name;
  }
  for (const char* line :
       {"source = \"salaries.csv\"", "ledger = \"own.sotto\"", "postgresql = \"host=192.0.2.1\"",
        "host = \"192.0.2.1\"", "unit = \"row\""}) {
    EXPECT_NE(says(std::string("data = \"people\"\n") + line + "\n" + query,
                   "--catalogue " + folder.string())
                  .find("belongs into the curator's data file"),
              std::string::npos)
        << line;
  }
  EXPECT_NE(
      says("[data]\nname = \"own\"\nversion = \"1\"\nsource = \"salaries.csv\"\n" + columns + query,
           "--catalogue " + folder.string())
          .find("It becomes two files"),
      std::string::npos);
  EXPECT_TRUE(Ledger::open(place()).entries().empty());
  EXPECT_TRUE(Ledger::open((mail / "own.sotto").string()).entries().empty());
}

// The ledger of one source does not pay for another, nor for another unit, type or name.
TEST_F(Command, ALedgerPaysForTheSourceItWasMadeForAlone) {
  std::ofstream(folder / "hr.csv") << "v\n1\n2\n";
  const auto says = [&](const std::string& data) {
    std::ofstream(folder / "people.data.toml") << data;
    const std::string line =
        std::string(SOTTO_COMMAND_PATH) + " run " + (folder / "s.toml").string() + " --catalogue " +
        folder.string() + " --duckdb " + libduckdb + " > " + (folder / "said").string() + " 2>&1";
    const int status = std::system(line.c_str());
    std::ifstream in(folder / "said");
    EXPECT_EQ(WEXITSTATUS(status), 2);
    EXPECT_TRUE(Ledger::open(place()).entries().empty());
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string columns =
      "[columns.v]\ntype = \"integer\"\nnull = \"drop\"\nbounds = [0, 10]\n";
  const auto file = [&](const std::string& source, const std::string& unit) {
    return "name = \"people\"\nversion = \"1\"\nsource = \"" + source + "\"\nunit = \"" + unit +
           "\"\nledger = \"l.sotto\"\n" + columns;
  };
  EXPECT_NE(says(file("hr.csv", "row")).find("pays for"), std::string::npos);
  EXPECT_NE(says(file("p.csv", "v")).find("protects each"), std::string::npos);
  fs::create_symlink(folder / "hr.csv", folder / "q.csv");
  EXPECT_NE(says(file("q.csv", "row")).find("pays for"), std::string::npos);
}

TEST_F(Command, KilledAtAnyMomentItNeverPrintsAnUnstoredAnswerNorChargesTwice) { kill_rounds(30); }
TEST_F(SlowCommand, KilledAtAnyMomentItNeverPrintsAnUnstoredAnswerNorChargesTwiceIn200Rounds) {
  kill_rounds(200);
}

}  // namespace
}  // namespace sotto
