// Ledgers of version 1: they can be read, verified, exported and imported as version 2, but not
// charged.
#include <gtest/gtest.h>

#include <fstream>

#include "ledger/chain/text.hpp"
#include "places.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using ledger_detail::chained;
using ledger_detail::exact;

class VersionOne : public AnyLedger {
 protected:
  // Two charges of 0.25, the first with an answer, as version 1 stored them.
  void write() {
    const std::string first =
        chained("sotto ledger", {"id", "then", "people", "person", "add-remove", "approx(1, 0)"});
    const std::string one = chained(first, {"1", "t1", "a", "ca", "pure(0.25)", "0.25", "0",
                                            exact(Real(0.25)), exact(Real(0))});
    const std::string two = chained(
        one, {"2", "t2", "b", "cb", "pure(0.25)", "0.25", "0", exact(Real(0.5)), exact(Real(0))});
    const bool is_file = GetParam() == Kind::file;
    std::string sql;
    if (is_file) {
      sql =
          "PRAGMA application_id=1936684148; PRAGMA user_version=1;"
          "CREATE TABLE founding (id TEXT NOT NULL, created TEXT NOT NULL, name TEXT NOT NULL, "
          "unit TEXT NOT NULL, relation TEXT NOT NULL, budget "
          "TEXT "
          "NOT NULL); CREATE TABLE entry (number INTEGER PRIMARY KEY, time TEXT NOT NULL, request "
          "TEXT NOT NULL UNIQUE, content TEXT NOT NULL, plan "
          "TEXT "
          "NOT NULL, cost REAL NOT NULL, cost_delta REAL NOT NULL, amount TEXT NOT NULL, delta "
          "TEXT NOT NULL, hash TEXT NOT NULL);"
          "CREATE TABLE answer (request TEXT PRIMARY KEY REFERENCES entry(request), answer TEXT "
          "NOT NULL);"
          "INSERT INTO founding VALUES (";
    } else {
      sql =
          "CREATE SCHEMA sotto_ledger; SET search_path = sotto_ledger;"
          "CREATE TABLE founding (version integer PRIMARY KEY CHECK (version = 1), id text NOT "
          "NULL, created text NOT NULL, name text NOT NULL, unit "
          "text "
          "NOT NULL, relation text NOT NULL, budget text NOT NULL);"
          "CREATE TABLE entry (number bigint PRIMARY KEY, time text NOT NULL, request text COLLATE "
          "\"C\" NOT NULL UNIQUE, content text NOT NULL, "
          "plan text "
          "NOT NULL, cost double precision NOT NULL, cost_delta double precision NOT NULL, amount "
          "text NOT NULL, delta text NOT NULL, hash text NOT "
          "NULL);"
          "CREATE TABLE answer (request text COLLATE \"C\" PRIMARY KEY REFERENCES entry(request), "
          "answer text NOT NULL);"
          "INSERT INTO founding VALUES (1, ";
    }
    sql +=
        "'id', 'then', 'people', 'person', 'add-remove', 'approx(1, 0)');"
        "INSERT INTO entry VALUES (1, 't1', 'a', 'ca', 'pure(0.25)', 0.25, 0, '" +
        exact(Real(0.25)) + "', '" + exact(Real(0)) + "', '" + one +
        "');"
        "INSERT INTO entry VALUES (2, 't2', 'b', 'cb', 'pure(0.25)', 0.25, 0, '" +
        exact(Real(0.5)) + "', '" + exact(Real(0)) + "', '" + two +
        "');"
        "INSERT INTO answer VALUES ('a', '1001')";
    if (is_file) {
      places().execute("budget", sql);
    } else {
      (void)place();
      places().server().sql(sql, "budget");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(In, VersionOne, ::testing::Values(Kind::file, Kind::database), kind_name);

TEST_P(VersionOne, IsShownVerifiedAndExportedAndNotCharged) {
  write();
  Ledger ledger = Ledger::open(place());
  EXPECT_EQ(ledger.entries().size(), 2U);
  EXPECT_EQ(ledger.filter().spent().amount, 0.5);
  EXPECT_EQ(ledger.answer("a"), "1001");
  EXPECT_EQ(ledger.state("b"), RequestState::begun);  // it may have drawn noise
  EXPECT_TRUE(ledger.verify(ledger.head()).sound) << ledger.verify().words;
  const std::string before = ledger.export_text();
  try {
    ledger.charge("c", "", pure(0.1));
    FAIL();
  } catch (const LedgerError& e) {
    const std::string words = e.what();
    EXPECT_NE(words.find("export it"), std::string::npos) << words;
    EXPECT_EQ(e.remedy(), Remedy::import_ledger);
  }
  EXPECT_EQ(Ledger::open(place()).export_text(), before);
}

TEST_P(VersionOne, IsImportedAsVersionTwo) {
  write();
  const std::string text = Ledger::open(place()).export_text();
  Ledger ledger =
      import_ledger(place("new"), text, {.unit_type = "integer", .source = "/data/people.csv"});
  EXPECT_EQ(ledger.id(), "id");
  EXPECT_EQ(ledger.created(), "then");
  EXPECT_EQ(ledger.terms().unit_type, "integer");
  EXPECT_EQ(ledger.terms().source, "/data/people.csv");
  EXPECT_EQ(ledger.entries().size(), 2U);
  EXPECT_EQ(ledger.entries()[1].time, "t2");
  EXPECT_EQ(ledger.answer("a"), "1001");
  EXPECT_EQ(ledger.state("b"), RequestState::begun);
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
  EXPECT_TRUE(ledger.charge("a", "ca", pure(0.25)).repeated);
  EXPECT_FALSE(ledger.charge("c", "", pure(0.5)).repeated);
  EXPECT_THROW(ledger.charge("d", "", pure(0.01)), BudgetRefused);
  EXPECT_TRUE(ledger.verify().sound) << ledger.verify().words;
  EXPECT_NE(ledger.export_text().find("sotto.ledger/2"), std::string::npos);
}

TEST_P(VersionOne, ImportDetectsChanges) {
  write();
  std::string text = Ledger::open(place()).export_text();
  text.replace(text.find("pure(0.25)"), 10, "pure(0.15)");
  EXPECT_THROW((void)import_ledger(place("new"), text), LedgerError);
  EXPECT_THROW((void)Ledger::open(place("new")), LedgerError);
}

}  // namespace
}  // namespace sotto
