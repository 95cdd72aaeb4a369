// The ledger's promises, each attacked.
#include "sotto/ledger/ledger.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "../../../src/ledger/text.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

class LedgerFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("sotto-ledger-" + std::to_string(getpid()) + "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::filesystem::path path(const char* name = "budget.sotto") const { return folder_ / name; }
  [[nodiscard]] Ledger fresh(const Budget& budget = ZcdpBudget{0.5, 1e-6}) const {
    return Ledger::create(path(), {"people", "person", Relation::add_remove, budget});
  }
  // Changes the file behind the ledger's back, triggers dropped.
  void tamper(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    const std::string all = "DROP TRIGGER entry_stays; DROP TRIGGER entry_remains; " + sql;
    ASSERT_EQ(sqlite3_exec(database, all.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(LedgerFile, ChargesAddUpAcrossOpenings) {
  (void)fresh();
  for (int i = 0; i < 4; ++i) Ledger::open(path()).charge("q" + std::to_string(i), "", gaussian(4));  // ρ = 1/32 each
  const Ledger ledger = Ledger::open(path());
  EXPECT_DOUBLE_EQ(ledger.filter().spent().amount, 0.125);
  EXPECT_EQ(ledger.entries().size(), 4U);
  EXPECT_EQ(ledger.terms().unit, "person");
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
}

TEST_F(LedgerFile, TenTenthsFitAndNotAHairMore) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  for (int i = 0; i < 10; ++i) ledger.charge("q" + std::to_string(i), "", pure(0.1));
  EXPECT_THROW(ledger.charge("one more", "", pure(1e-9)), BudgetRefused);
  EXPECT_EQ(ledger.entries().size(), 10U);
}

TEST_F(LedgerFile, ARefusedEventCostsNothingAndSaysWhatIsMissing) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  ledger.charge("first", "", pure(0.75));
  try {
    ledger.charge("second", "", pure(0.5));
    FAIL();
  } catch (const BudgetRefused& refused) {
    EXPECT_NEAR(refused.missing().amount, 0.25, 1e-12);
    EXPECT_NE(std::string(refused.what()).find("0.25"), std::string::npos) << refused.what();
  }
  EXPECT_DOUBLE_EQ(ledger.filter().spent().amount, 0.75);
  EXPECT_FALSE(ledger.charge("second", "", pure(0.25)).repeated);
}

TEST_F(LedgerFile, ARequestIsChargedOnceAndItsContentCannotChange) {
  Ledger ledger = fresh();
  EXPECT_FALSE(ledger.charge("study", digest("text"), gaussian(4)).repeated);
  EXPECT_TRUE(ledger.charge("study", digest("text"), gaussian(4)).repeated);
  EXPECT_EQ(ledger.entries().size(), 1U);
  EXPECT_THROW(ledger.charge("study", digest("other text"), gaussian(4)), LedgerError);
  EXPECT_THROW(ledger.charge("study", digest("text"), gaussian(0.1)), LedgerError);  // nor what it may run
}

TEST_F(LedgerFile, AnswersAreKeptOnceAndOnlyForWhatWasCharged) {
  Ledger ledger = fresh();
  EXPECT_THROW(ledger.keep_answer("study", "42"), LedgerError);
  ledger.charge("study", "", gaussian(4));
  EXPECT_EQ(ledger.answer("study"), std::nullopt);
  ledger.keep_answer("study", "42");
  EXPECT_EQ(Ledger::open(path()).answer("study"), "42");
  EXPECT_THROW(ledger.keep_answer("study", "43"), LedgerError);
}

TEST_F(LedgerFile, SeveralChargesAreAllOrNone) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  EXPECT_THROW(ledger.charge({{"a", "", pure(0.5)}, {"b", "", pure(0.75)}}), BudgetRefused);
  EXPECT_TRUE(ledger.entries().empty());
  ledger.charge({{"a", "", pure(0.5)}, {"b", "", pure(0.5)}});
  EXPECT_EQ(ledger.entries().size(), 2U);
}

// In one transaction; a sum in doubles would lose what is below half a unit in the last place of the total.
TEST_F(LedgerFile, ManyTinyChargesDoNotSlipThrough) {
  Ledger ledger = fresh(ApproximateBudget{1, 0});
  ledger.charge("most", "", pure(1 - 0x1p-30));
  std::vector<Ledger::Order> orders;
  for (int i = 0; i < 5'000; ++i) orders.push_back({"tiny " + std::to_string(i), "", pure(0x1p-54)});
  ledger.charge(orders);
  EXPECT_GE(ledger.filter().spent().amount, 1 - 0x1p-30 + 5'000 * 0x1p-54);
  EXPECT_TRUE(ledger.verify().sound);
}

// Each question depends on the answers so far: whatever the analyst does, what is admitted stays within the budget.
TEST_F(LedgerFile, AnAdaptiveAnalystStaysWithinTheBudget) {
  Ledger ledger = fresh(ZcdpBudget{0.5, 0});
  double next = 0.001;
  double admitted = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      ledger.charge("q" + std::to_string(i), "", zcdp(next));
      admitted += next;
      next *= i % 3 == 0 ? 2.5 : 0.9;  // bolder after luck
    } catch (const BudgetRefused&) {
      next /= 2;
    }
  }
  EXPECT_LE(admitted, 0.5 * (1 + 1e-12));
  EXPECT_GT(admitted, 0.499);
  EXPECT_GE(ledger.filter().claim(Delta(1e-6)).epsilon, epsilon(zcdp(0.5), Delta(1e-6)).value.upper * (1 - 1e-9));
}

TEST_F(LedgerFile, EightProcessesNeverGetMoreThanTheBudget) {
  (void)fresh(ApproximateBudget{20, 0});
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      int got = 0;
      try {
        Ledger ledger = Ledger::open(path());
        for (int i = 0; i < 6; ++i) {
          try {
            ledger.charge(std::to_string(getpid()) + "-" + std::to_string(i), "", pure(1));
            ++got;
          } catch (const BudgetRefused&) {
          }
        }
      } catch (const std::exception&) {
        _exit(100);
      }
      _exit(got);
    }
    children.push_back(child);
  }
  int total = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), 100);
    total += WEXITSTATUS(status);
  }
  EXPECT_EQ(total, 20);
  EXPECT_EQ(Ledger::open(path()).entries().size(), 20U);
  EXPECT_TRUE(Ledger::open(path()).verify().sound);
}

TEST_F(LedgerFile, ATamperedFileIsFound) {
  Ledger ledger = fresh();
  for (int i = 0; i < 5; ++i) ledger.charge("q" + std::to_string(i), "", gaussian(4));
  EXPECT_TRUE(ledger.verify(ledger.head()).sound);
  const auto copy = path("copy");
  std::filesystem::copy_file(path(), copy);
  for (const char* change : {"UPDATE entry SET plan='gaussian(400)' WHERE number=3", "UPDATE entry SET cost=0.0001 WHERE number=2",
                             "UPDATE entry SET amount='0x0p+0 0x0p+0 0x0p+0' WHERE number=5", "UPDATE entry SET request='other' WHERE number=1",
                             "DELETE FROM entry WHERE number=3", "UPDATE founding SET budget='zcdp(50, 1e-06)'"}) {
    tamper(std::string("DROP TRIGGER founding_stays; ") + change);
    EXPECT_FALSE(Ledger::open(path()).verify().sound) << change;
    std::filesystem::copy_file(copy, path(), std::filesystem::copy_options::overwrite_existing);
    EXPECT_TRUE(Ledger::open(path()).verify().sound);
  }
}

TEST_F(LedgerFile, ATruncatedOrRolledBackFileIsFoundByTheHeadKeptOutside) {
  Ledger ledger = fresh();
  ledger.charge("a", "", gaussian(4));
  const auto old = path("old");
  std::filesystem::copy_file(path(), old);
  ledger.charge("b", "", gaussian(4));
  const Head head = ledger.head();
  EXPECT_FALSE(Ledger::open(old).verify(head).sound);
  EXPECT_TRUE(Ledger::open(old).verify().sound);  // by itself it is a ledger
  tamper("DELETE FROM entry WHERE number=2");
  EXPECT_FALSE(Ledger::open(path()).verify(head).sound);
}

// Whoever can write the file can write the chain anew; totals, plans and budget must still agree.
TEST_F(LedgerFile, AForgedChainIsFoundByItsNumbers) {
  const auto forged = [](const std::string& plan, double cost, double total) {
    const std::string budget = "zcdp(0.5, 0)";
    const std::string before = detail::chained("sotto ledger", {"id", "then", "people", "person", "add-remove", budget});
    const std::string amount = detail::exact(total);
    const std::string none = detail::exact(0.0);
    const std::string hash = detail::chained(before, {"1", "now", "a", "", plan, shortest(cost), shortest(0), amount, none});
    return R"({"schema":"sotto.ledger/1","id":"id","created":"then","name":"people","unit":"person","relation":"add-remove","budget":")" + budget +
           "\"}\n" + R"({"number":1,"time":"now","request":"a","content":"","plan":")" + plan + R"(","cost":)" + shortest(cost) +
           R"(,"cost_delta":0,"amount":")" + amount + R"(","delta":")" + none + R"(","hash":")" + hash + "\"}\n";
  };
  const auto says = [&](const std::string& text) -> std::string {
    try {
      (void)Ledger::import(path("x"), text);
      std::filesystem::remove(path("x"));
      return "sound";
    } catch (const LedgerError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(says(forged("zcdp(0.25)", 0.25, 0.25)), "sound");
  EXPECT_EQ(says(forged("zcdp(0.2)", 0.25, 0.25)), "sound");  // found cheaper since
  EXPECT_NE(says(forged("zcdp(0.25)", 0.125, 0.125)).find("costs more than was charged"), std::string::npos);
  EXPECT_NE(says(forged("zcdp(0.25)", 0.25, 0.125)).find("another total"), std::string::npos);
  EXPECT_NE(says(forged("zcdp(0.75)", 0.75, 0.75)).find("exceeds the budget"), std::string::npos);
}

// No room for another page: the charge fails, and what was there is as it was.
TEST_F(LedgerFile, AFullDiskChargesNothing) {
  Ledger ledger = fresh(ApproximateBudget{1e6, 0});
  ledger.charge("first", "", pure(1));
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none{512, 512};
    setrlimit(RLIMIT_FSIZE, &none);
    try {
      Ledger::open(path()).charge("second", "", pure(1));
    } catch (const LedgerError&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(Ledger::open(path()).entries().size(), 1U);
  EXPECT_TRUE(Ledger::open(path()).verify().sound);
  EXPECT_FALSE(ledger.charge("second", "", pure(1)).repeated);
}

TEST_F(LedgerFile, IsOnlyEverAddedTo) {
  fresh().charge("a", "", gaussian(4));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(database, "UPDATE entry SET cost=0", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(database, "DELETE FROM entry", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST_F(LedgerFile, ForeignAndBrokenFilesAreLeftAsTheyWere) {
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

TEST_F(LedgerFile, TravelsAsText) {
  Ledger ledger = fresh();
  ledger.charge("a", "c", gaussian(4));
  ledger.charge("b", "", 10 * laplace(20));
  ledger.keep_answer("a", "forty-two \"quoted\"");
  const std::string text = ledger.exported();
  const Ledger copy = Ledger::import(path("copy"), text);
  EXPECT_EQ(copy.exported(), text);
  EXPECT_EQ(copy.head().hash, ledger.head().hash);
  EXPECT_EQ(copy.answer("a"), "forty-two \"quoted\"");
  std::string changed = text;
  changed.replace(changed.find("gaussian(4)"), 11, "gaussian(9)");
  EXPECT_THROW(Ledger::import(path("bad"), changed), LedgerError);
  EXPECT_FALSE(std::filesystem::exists(path("bad")));
  EXPECT_THROW(Ledger::import(path("bad"), "nonsense"), LedgerError);
  EXPECT_THROW(Ledger::import(path("copy"), text), LedgerError);  // exists
}

TEST_F(LedgerFile, AnotherRelationIsRefused) {
  Ledger ledger = fresh();
  EXPECT_THROW(ledger.charge("a", "", randomized_response(0.75)), OutsideConditions);
  EXPECT_TRUE(ledger.entries().empty());
  EXPECT_THROW(Ledger::create(path("x"), {"people", "person", Relation::as_stated, ZcdpBudget{1, 0}}), InvalidValue);
  EXPECT_THROW(Ledger::create(path("x"), {"people", "person", Relation::add_remove, ZcdpBudget{-1, 0}}), InvalidValue);
}

TEST(Budgets, TravelAsText) {
  for (const char* text : {"zcdp(0.5, 1e-06)", "approx(1, 0)", "rdp(8, 0.5, 1e-06)", "gdp(0.25)"}) EXPECT_EQ(print(parse_budget(text)), text);
  EXPECT_THROW(parse_budget("zcdp(0.5)"), InvalidValue);
  EXPECT_THROW(parse_budget("money(3)"), InvalidValue);
}

TEST(Digests, AreSha256) { EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); }

}  // namespace
}  // namespace sotto
