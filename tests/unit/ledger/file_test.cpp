// Faults of files: a full disk; locked, read-only, foreign and older files; a write-ahead log.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>

#include "places.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

class LedgerFile : public ::testing::Test {
 protected:
  std::filesystem::path path(const char* name = "budget.sotto") { return places_.place(name); }
  Ledger fresh(const Budget& budget = ZcdpBudget{0.5, 1e-6}) {
    return Ledger::create(path(), {"people", "person", Relation::add_remove, budget});
  }

 private:
  Places places_{Kind::file};
};

// Returns the error of a charge in a child process, or an empty text.
std::string error_in_child(const std::function<void()>& before, const std::filesystem::path& path) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string text;
    try {
      before();
      Ledger::open(path, {.patience = std::chrono::milliseconds(100)})
          .charge("second", "", pure(1));
    } catch (const std::exception& e) {
      text = e.what();
    }
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  for (char c = 0; read(ends[0], &c, 1) == 1;) text += c;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return text;
}

bool mentions(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// The file cannot grow by another page: the charge fails, and the ledger is unchanged.
TEST_F(LedgerFile, AFullDiskChargesNothing) {
  Ledger ledger = fresh(ApproximateBudget{1e6, 0});
  ledger.charge("first", "", pure(1));
  const auto no_room = [](rlim_t bytes) {
    return [bytes] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit none{bytes, bytes};
      setrlimit(RLIMIT_FSIZE, &none);
    };
  };
  const auto size = std::filesystem::file_size(path());
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{512}, rlim_t{5000},
                             rlim_t{size / 2}}) {  // the journal or the file meets it
    EXPECT_NE(error_in_child(no_room(bytes), path()), "") << bytes;
    EXPECT_EQ(Ledger::open(path()).entries().size(), 1U);
    EXPECT_TRUE(Ledger::open(path()).verify().sound);
  }
  EXPECT_FALSE(ledger.charge("second", "", pure(1)).repeated);
}

TEST_F(LedgerFile, AReadOnlyFileIsReadAndNotCharged) {
  (void)fresh(ApproximateBudget{10, 0}).charge("first", "", pure(1));
  std::filesystem::permissions(path(), std::filesystem::perms(0444));
  std::filesystem::permissions(path().parent_path(), std::filesystem::perms(0555));
  ASSERT_TRUE(geteuid() != 0 || chown(default_key(path()).c_str(), 65534, 65534) == 0);
  const std::string error_text =
      error_in_child([] { ASSERT_TRUE(geteuid() != 0 || setuid(65534) == 0); },
                     path());  // root may write everything
  EXPECT_TRUE(mentions(error_text, "cannot be written; nothing was charged")) << error_text;
  EXPECT_EQ(Ledger::open(path()).entries().size(), 1U);
  std::filesystem::permissions(path().parent_path(), std::filesystem::perms(0755));
}

// A ledger that is opened for reading only needs no key, writes nothing in any call, and shows the
// charges of others.
TEST_F(LedgerFile, AReadOnlyLedgerIsNeverWritten) {
  Ledger ledger = fresh(ApproximateBudget{10, 0});
  ledger.charge("first", "", pure(1));
  const std::filesystem::path key = default_key(path());
  std::filesystem::rename(key, path("elsewhere"));
  const auto bytes = [this] {
    std::ifstream in(path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes();
  Ledger reader = Ledger::open(path(), {.read_only = true});
  EXPECT_EQ(reader.entries().size(), 1U);
  EXPECT_TRUE(reader.verify().sound);
  EXPECT_EQ(reader.states({"second", "first"}),
            (std::vector{RequestState::unknown, RequestState::charged}));
  std::filesystem::rename(path("elsewhere"), key);
  for (const auto& write : std::vector<std::function<void()>>{
           [&] { reader.charge("second", "", pure(1)); }, [&] { reader.begin("first"); },
           [&] { reader.keep_answer("first", "x"); },
           [&] {
             reader.mark_checkpoint("first", {1, "seal"});
           }}) {
    try {
      write();
      ADD_FAILURE() << "it was written";
    } catch (const LedgerError& error) {
      EXPECT_TRUE(mentions(error.what(), "opened for reading only; nothing was charged"))
          << error.what();
    }
  }
  EXPECT_EQ(bytes(), before);
  ledger.charge("second", "", pure(1));
  EXPECT_EQ(reader.entries().size(), 2U);
}

// A writer that died during a charge leaves a journal. A process that may write undoes the charge
// by opening the ledger; one that may only read reports it.
TEST_F(LedgerFile, AReaderDoesNotUndoAnUnfinishedCharge) {
  (void)fresh(ApproximateBudget{10, 0}).charge("first", "", pure(1));
  const pid_t child = fork();
  if (child == 0) {
    sqlite3* database = nullptr;
    const bool done = sqlite3_open(path().c_str(), &database) == SQLITE_OK &&
                      sqlite3_exec(database,
                                   "PRAGMA cache_size=2; BEGIN IMMEDIATE; WITH RECURSIVE n(i) AS "
                                   "(VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<500) "
                                   "INSERT INTO answer SELECT i, hex(zeroblob(2000)) FROM n",
                                   nullptr, nullptr, nullptr) == SQLITE_OK;
    _exit(done ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const std::filesystem::path journal = path().string() + "-journal";
  ASSERT_TRUE(std::filesystem::exists(journal));
  try {
    (void)Ledger::open(path(), {.read_only = true}).entries();
    ADD_FAILURE() << "it was read";
  } catch (const LedgerError& error) {
    EXPECT_TRUE(mentions(error.what(), "has an unfinished charge")) << error.what();
  }
  EXPECT_TRUE(std::filesystem::exists(journal));
  EXPECT_EQ(Ledger::open(path()).entries().size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(journal));
  EXPECT_TRUE(Ledger::open(path(), {.read_only = true}).verify().sound);
}

TEST_F(LedgerFile, ALockedFileIsWaitedForAndThenRefused) {
  Ledger ledger = fresh(ApproximateBudget{10, 0});
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto start = std::chrono::steady_clock::now();
  const std::string error_text = error_in_child([] {}, path());
  EXPECT_TRUE(mentions(error_text, "locked by another process") &&
              mentions(error_text, "nothing was charged"))
      << error_text;
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(90));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  EXPECT_TRUE(ledger.entries().empty());
  EXPECT_FALSE(ledger.charge("second", "", pure(1)).repeated);
}

// Bytes 18 and 19 of an SQLite file are 1 with a rollback journal, 2 with a write-ahead log.
TEST_F(LedgerFile, NeverHasAWriteAheadLog) {
  const auto journal = [&] {
    std::ifstream in(path(), std::ios::binary);
    in.seekg(18);
    return in.get() * 10 + in.get();
  };
  fresh(ApproximateBudget{10, 0}).charge("first", "", pure(1));
  EXPECT_EQ(journal(), 11);
  EXPECT_FALSE(std::filesystem::exists(path("budget.sotto-wal")));
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  ASSERT_EQ(journal(), 22);
  Ledger::open(path()).charge("second", "", pure(1));
  EXPECT_EQ(journal(), 11);
  EXPECT_FALSE(std::filesystem::exists(path("budget.sotto-wal")));
  EXPECT_FALSE(std::filesystem::exists(path("budget.sotto-shm")));
  EXPECT_TRUE(Ledger::open(path()).verify().sound);
}

TEST_F(LedgerFile, OfSeveralCreatorsOneSucceeds) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        (void)fresh(ApproximateBudget{10, 0});
      } catch (const LedgerError&) {
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  int creators = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    creators += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  EXPECT_EQ(creators, 1);
  EXPECT_TRUE(Ledger::open(path()).verify().sound);
}

TEST_F(LedgerFile, HasNoRoles) {
  EXPECT_THROW(Ledger::create(path(), {"people", "person", Relation::add_remove, ZcdpBudget{1, 0}},
                              {.writer = "curator"}),
               InvalidValue);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(LedgerFile, AHeadOutsideOfTheFileDetectsAnOlderCopy) {
  Ledger ledger = fresh();
  ledger.charge("a", "", gaussian(4));
  const auto old = path("old");
  std::filesystem::copy_file(path(), old);
  ledger.charge("b", "", gaussian(4));
  const Head head = ledger.head();
  EXPECT_FALSE(Ledger::open(old).verify(head).sound);
  EXPECT_TRUE(Ledger::open(old).verify().sound);  // by itself it is a ledger
}

TEST_F(LedgerFile, ForeignAndBrokenFilesAreNotChanged) {
  const auto unchanged = [&](const std::string& bytes) {
    std::ofstream(path(), std::ios::binary) << bytes;
    EXPECT_THROW(Ledger::open(path()), LedgerError);
    std::ifstream in(path(), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), bytes);
    std::filesystem::remove(path());
  };
  unchanged("");
  unchanged("not a ledger at all");
  unchanged(std::string("SQLite format 3\0", 16) + std::string(4080, 'x'));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "CREATE TABLE mine (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_THROW(Ledger::open(path()), LedgerError);
  EXPECT_THROW((void)fresh(), LedgerError);  // never overwritten
  EXPECT_THROW(Ledger::open(path("nothing")), LedgerError);
  EXPECT_FALSE(std::filesystem::exists(path("nothing")));
}

// A million charges, each far below half a unit in the last place of the total as a double, all
// count.
TEST(SlowLedgerFile, AMillionTinyChargesAddUp) {
  Places places(Kind::file);
  Ledger ledger = Ledger::create(
      places.place(), {"people", "person", Relation::add_remove, ApproximateBudget{1, 0}});
  ledger.charge("most", "", pure(1 - 0x1p-34));
  for (int batch = 0; batch < 1000; ++batch) {
    std::vector<Ledger::ChargeRequest> orders;
    for (int i = 0; i < 1000; ++i)
      orders.push_back({"tiny " + std::to_string(batch * 1000 + i), "", pure(0x1p-54)});
    ledger.charge(orders);
  }
  EXPECT_GE(ledger.filter().spent().amount, 1 - 0x1p-34 + 1e6 * 0x1p-54);
  EXPECT_THROW(ledger.charge("last", "", pure(0x1p-34)), BudgetRefused);
  EXPECT_TRUE(ledger.verify().sound);
}

}  // namespace
}  // namespace sotto
