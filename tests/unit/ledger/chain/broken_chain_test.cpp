// Edits, deletes, renumbers, duplicates, swaps and inserts every row of a ledger. After each change
// every call must return the result of the honest ledger or fail, without other noise, answers or
// charges.
#include <gtest/gtest.h>

#include <fstream>

#include "../places.hpp"
#include "ledger/api/request.hpp"
#include "ledger/chain/chain.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

const Terms terms{"people",  "person",          Relation::add_remove, ApproximateBudget{10, 1e-6},
                  "integer", "/data/people.csv"};
const std::string seal = std::string(64, 'a') + " " + std::string(64, 'b');
const std::vector<std::string> requests{"a", "b", "c", "t", "d", "free", "study", "none"};

// Ten records: an answered request, a batch of a closed request and one that was not begun, a
// training at its second checkpoint, and a charge.
void fill(Ledger& ledger) {
  ledger.charge("a", "ca", pure(1));
  ledger.begin("a");
  ledger.keep_answer("a", "1001");
  ledger.charge({{"b", "cb", pure(0.5)}, {"c", "cc", approx(1, 1e-7)}});
  ledger.begin("b");
  ledger.charge("t", "ct", pure(0.25));
  ledger.begin("t", seal);
  ledger.mark_checkpoint("t", {1, seal});
  ledger.charge("d", "cd", pure(0.125));
}

// The result of each call of a ledger, as text; "refused" if it throws.
using Observed = std::map<std::string, std::string>;

std::string text_of(const Entry& e) {
  return std::to_string(e.number) + "|" + e.request + "|" + e.content + "|" + e.plan + "|" +
         std::to_string(e.cost.amount) + "|" + std::to_string(e.cost.delta) + "|" + e.who + "|" +
         e.title + "|" + e.hash;
}

Observed read(const Ledger& ledger) {
  Observed seen;
  const auto see = [&seen](const std::string& call, const std::function<std::string()>& f) {
    try {
      seen[call] = f();
    } catch (const std::exception&) {
      seen[call] = "refused";
    }
  };
  see("head", [&] { return std::to_string(ledger.head().number) + ledger.head().hash; });
  see("spent", [&] {
    return std::to_string(ledger.filter().spent().amount) + " " +
           std::to_string(ledger.filter().spent().delta);
  });
  see("entries", [&] {
    std::string all;
    for (const Entry& entry : ledger.entries()) all += text_of(entry) + "\n";
    return all;
  });
  see("exported", [&] { return ledger.export_text(); });
  see("chain", [&] { return ledger.verify_chain().sound ? "sound" : "refused"; });
  see("verify", [&] { return ledger.verify().sound ? "sound" : "refused"; });
  for (const std::string& request : requests) {
    see("state of " + request,
        [&] { return std::to_string(static_cast<int>(ledger.state(request))); });
    see("answer of " + request, [&] { return ledger.answer(request).value_or("nothing"); });
    see("charge of " + request, [&] {
      return ledger.charge_of(request) ? text_of(*ledger.charge_of(request)) : "nothing";
    });
    see("checkpoint of " + request, [&] {
      const auto mark = ledger.checkpoint(request);
      return mark ? std::to_string(mark->number) + mark->seal : "nothing";
    });
  }
  return seen;
}

// Runs a request whose work draws noise, and returns the result as text.
std::string run(Ledger& ledger, const Ledger::ChargeRequest& order) {
  int draws = 0;
  try {
    RequestWork work;
    work.run = [&](const Entry&, const BeginMark& begin) {
      begin();
      ++draws;
      return std::string("fresh noise");
    };
    const RequestAnswer answer = run_request(ledger, order, work);
    return (answer.repeated ? "again: " : "new: ") + answer.answer;
  } catch (const std::exception&) {
    return draws == 0 ? "refused" : "refused after noise";
  }
}

// Makes the calls that write. The honest ledger refuses or repeats each of them.
Observed attempt(Ledger& ledger) {
  return {{"run a", run(ledger, {.request = "a", .content = "ca", .event = pure(1)})},
          {"run b", run(ledger, {.request = "b", .content = "cb", .event = pure(0.5)})},
          {"run t", run(ledger, {.request = "t", .content = "ct", .event = pure(0.25)})},
          {"run free", run(ledger, {.request = "free", .content = "cfree", .event = pure(500)})},
          {"run study", run(ledger, {.request = "study", .content = "ca", .event = pure(500)})},
          {"run big", run(ledger, {.request = "big", .content = "big", .event = pure(9)})}};
}

const Observed honest_attempts{{"run a", "again: 1001"}, {"run b", "refused"},
                               {"run t", "refused"},     {"run free", "refused"},
                               {"run study", "refused"}, {"run big", "refused"}};

void expect_no_more(const Observed& seen, const Observed& honest, const std::string& change) {
  for (const auto& [call, what] : seen) {
    if (what == "refused") continue;
    EXPECT_EQ(what, honest.at(call)) << "after " << change << ": " << call;
  }
}

// The columns of an entry after its number, and an INSERT that copies an entry.
std::string columns() {
  std::string all;
  for (const char* name : ledger_detail::record_names) all += std::string(", ") + name;
  return all;
}
std::string insert(const std::string& number, const std::string& request, const std::string& kind,
                   int from, bool is_signed = true) {
  std::string values = number;
  for (const std::string name : ledger_detail::record_names) {
    const bool is_left_out =
        !is_signed && (name == "hash" || name == "signer" || name == "signature");
    values += name == "request" ? ", " + request
              : name == "kind"  ? ", " + kind
              : is_left_out     ? ", ''"
                                : ", " + name;
  }
  return "INSERT INTO entry (number" + columns() + ") SELECT " + values +
         " FROM entry WHERE number=" + std::to_string(from);
}

std::vector<std::string> changes_of(int row) {
  const std::string at = " WHERE number=" + std::to_string(row);
  std::vector<std::string> changes{"DELETE FROM entry" + at};
  for (const std::string name : ledger_detail::record_names) {
    changes.push_back("UPDATE entry SET " + name + "=" + name + "||'0'" + at);
    changes.push_back("UPDATE entry SET " + name + "=''" + at);
  }
  for (const char* number :
       {"-1", "0", "11", "12", "-9223372036854775807", "9223372036854775807"}) {
    changes.push_back(std::string("UPDATE entry SET number=") + number + at);
    changes.push_back(insert(number, "request||'/2'", "kind", row));
    changes.push_back(insert(number, "'free'", "'charge'", row, false));
    changes.push_back(insert(number, "'study'", "'charge'", row));
    changes.push_back(insert(number, "'c'", "'begun'", row));
    changes.push_back(insert(number, "'d'", "'answer'", row));
  }
  changes.push_back("UPDATE entry SET request='free', kind='charge'" + at);
  changes.push_back("UPDATE entry SET request='study'" + at);
  for (int other = row + 1; other <= 10; ++other) {
    const std::string there = " WHERE number=" + std::to_string(other);
    changes.push_back("UPDATE entry SET number=1000" + at +
                      "; UPDATE entry SET number=" + std::to_string(row) + there +
                      "; UPDATE entry SET number=" + std::to_string(other) + " WHERE number=1000");
    changes.push_back("DELETE FROM entry WHERE number IN (" + std::to_string(row) + ", " +
                      std::to_string(other) + ")");
    changes.push_back("DELETE FROM entry WHERE number BETWEEN " + std::to_string(row) + " AND " +
                      std::to_string(other));
  }
  return changes;
}

std::vector<std::string> changes_of_answers_and_terms() {
  return {"DELETE FROM answer",
          "UPDATE answer SET answer='9'",
          "UPDATE answer SET request='d'",
          "UPDATE answer SET request='free'",
          "INSERT INTO answer VALUES ('d', '7')",
          "INSERT INTO answer VALUES ('b', '1001')",
          "INSERT INTO answer VALUES ('free', '7')",
          "DELETE FROM answer; DELETE FROM entry WHERE number IN (2, 3)",
          "DELETE FROM answer; DELETE FROM entry WHERE request='a'",
          "DELETE FROM entry",
          "DELETE FROM founding",
          "INSERT INTO founding SELECT * FROM founding",
          "UPDATE founding SET budget='approx(1000, 1e-06)'",
          "UPDATE founding SET id='00000000000000000000000000000000'",
          "UPDATE founding SET keys=keys||' 00'",
          "UPDATE founding SET hash=signature"};
}

class BrokenChain : public AnyLedger {
 protected:
  // Restores the ledger before each change.
  void save() {
    if (GetParam() == Kind::file) {
      std::filesystem::copy_file(place(), place("saved"),
                                 std::filesystem::copy_options::overwrite_existing);
    } else {
      places().execute("budget",
                       "CREATE TABLE public.saved_entry AS SELECT * FROM entry; CREATE TABLE "
                       "public.saved_answer AS SELECT * FROM answer; "
                       "CREATE TABLE public.saved_founding AS SELECT * FROM founding");
    }
  }
  void put_back() {
    if (GetParam() == Kind::file) {
      std::filesystem::copy_file(place("saved"), place(),
                                 std::filesystem::copy_options::overwrite_existing);
    } else {
      std::string all;
      for (const std::string table : {"founding", "entry", "answer"}) {
        all += "DELETE FROM " + table + "; INSERT INTO " + table + " SELECT * FROM public.saved_" +
               table + "; ";
      }
      places().tamper("budget", all);
    }
  }
  // Returns whether the store accepted the change: primary keys forbid some.
  bool change(const std::string& sql) {
    try {
      places().tamper("budget", sql);
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }
  bool is_unchanged(const std::string& exported) {
    try {
      return Ledger::open(place()).export_text(true) == exported;
    } catch (const LedgerError&) {
      return false;
    }
  }
  std::string heads() {
    return (std::filesystem::path(TestKeys::of("x")).parent_path() /
            ("heads" + std::to_string(getpid())))
        .string();
  }

  // Calls everything on a ledger that is opened after the change. The key is passed, since the
  // change may affect the id.
  Observed seen_by_new_process(const std::string& key, const std::string& witness) {
    Observed all;
    try {
      all = read(Ledger::open(place(), {.key = key, .witness = witness}));
      Ledger ledger = Ledger::open(place(), {.key = key, .witness = witness});
      all.merge(attempt(ledger));
    } catch (const std::exception&) {  // it is not even opened
    }
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(In, BrokenChain, ::testing::Values(Kind::file, Kind::database), kind_name);

TEST_P(BrokenChain, GivesNothingThatTheHonestLedgerWouldNot) {
  std::filesystem::remove(heads());
  std::string key;
  Observed honest;
  {
    Ledger ledger = create_ledger(place(), terms, {.witness = heads()});
    key = TestKeys::of(ledger.id());
    fill(ledger);
    ASSERT_EQ(ledger.head().number, 10);
    honest = read(ledger);
  }
  honest.insert(honest_attempts.begin(), honest_attempts.end());
  save();
  {
    Ledger ledger = Ledger::open(place(), {.key = key, .witness = heads()});
    const Observed seen = attempt(ledger);
    EXPECT_EQ(seen, honest_attempts);
  }
  const bool is_file = GetParam() == Kind::file;
  std::vector<std::string> changes = changes_of_answers_and_terms();
  for (int row = 1; row <= 10; ++row) {
    // A database is slow, so it gets every fifth change of a row; a file gets all.
    const std::vector<std::string> of_row = changes_of(row);
    for (std::size_t i = 0; i < of_row.size(); ++i) {
      if (is_file || i % 5 == static_cast<std::size_t>(row) % 5) changes.push_back(of_row[i]);
    }
  }
  int accepted = 0;
  int noticed = 0;
  for (const std::string& sql : changes) {
    put_back();
    Ledger used =
        Ledger::open(place(), {.key = key, .witness = heads()});  // verified before the change
    ASSERT_EQ(used.head().number, 10);
    if (!change(sql) || is_unchanged(honest.at("exported"))) continue;
    ++accepted;
    const Observed seen = seen_by_new_process(key, heads());
    expect_no_more(seen, honest, sql);
    noticed += seen.empty() || seen.at("verify") == "refused" ? 1 : 0;
    if (seen.empty() || seen.at("verify") == "refused") {
      EXPECT_TRUE(seen.empty() || seen.at("exported") == "refused") << sql;
    }
    Observed of_used = read(used);
    of_used.merge(attempt(used));
    expect_no_more(of_used, honest, "(in a process that had verified it) " + sql);
  }
  EXPECT_GT(accepted, is_file ? 500 : 100);
  EXPECT_EQ(noticed, accepted) << "verify sees every change";
  std::filesystem::remove(heads());
}

// Without a witness this holds, too, except for an older copy of the whole ledger.
TEST_P(BrokenChain, WithoutAWitnessOnlyAnOlderLedgerIsAccepted) {
  std::string key;
  Observed honest;
  {
    Ledger ledger = create_ledger(place(), terms);
    key = TestKeys::of(ledger.id());
    fill(ledger);
    honest = read(ledger);
  }
  honest.insert(honest_attempts.begin(), honest_attempts.end());
  save();
  std::vector<std::string> changes = changes_of_answers_and_terms();
  for (const int row : {1, 2, 3, 5, 9}) {
    const std::vector<std::string> of_row = changes_of(row);
    changes.insert(changes.end(), of_row.begin(), of_row.end());
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::string& sql = changes[i];
    const bool is_older_ledger = sql == "DELETE FROM entry" ||
                                 sql.find("AND 10") != std::string::npos ||
                                 sql.find("(9, 10)") != std::string::npos;
    if (is_older_ledger || (GetParam() == Kind::database && i % 8 != 0)) continue;
    put_back();
    if (change(sql)) expect_no_more(seen_by_new_process(key, ""), honest, sql);
  }
}

// The attack of one INSERT: a charge that costs more than the budget, with the digest of the study
// that is then run.
TEST_P(BrokenChain, AnInsertedRowPaysForNothing) {
  Ledger ledger = create_ledger(place(), terms);
  fill(ledger);
  for (const char* number : {"-1", "0", "11"}) {
    places().tamper("budget", std::string("INSERT INTO entry (number") + columns() + ") VALUES (" +
                                  number +
                                  ", 'charge', 't', 'root', 'free', 'cfree', '', 'pure(500)', "
                                  "'500', '0', '0', '', '', '', '', '', '', '')");
    Ledger again = open_ledger(place());
    EXPECT_EQ(run(again, {.request = "free", .content = "cfree", .event = pure(500)}), "refused")
        << number;
    EXPECT_EQ(run(ledger, {.request = "free", .content = "cfree", .event = pure(500)}), "refused")
        << number;
    EXPECT_THROW((void)again.filter(), LedgerError) << number;
    places().tamper("budget", "DELETE FROM entry WHERE request='free'");
    EXPECT_EQ(run(ledger, {.request = "a", .content = "ca", .event = pure(1)}), "again: 1001")
        << number;
  }
}

// Regression: removing marks from the middle allowed new noise under an old charge, any number of
// times.
TEST_P(BrokenChain, RemovedMarksGiveNoNewNoise) {
  Ledger ledger = create_ledger(place(), terms);
  fill(ledger);
  places().tamper("budget",
                  "DELETE FROM entry WHERE request='a' AND kind<>'charge'; DELETE FROM answer");
  Ledger again = open_ledger(place());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(again, {.request = "a", .content = "ca", .event = pure(1)}), "refused");
  EXPECT_EQ(run(ledger, {.request = "a", .content = "ca", .event = pure(1)}), "refused");
}

// --- Repair ---

TEST_P(BrokenChain, ARepairDropsUnsignedRecordsAndNotesIt) {
  Ledger ledger = create_ledger(place(), terms);
  fill(ledger);
  const Head end = ledger.head();
  const LedgerOptions with_key{.key = TestKeys::of(ledger.id())};
  EXPECT_EQ(Ledger::repair(place(), with_key, false).records, 0)
      << "a sound ledger is left as it is";
  EXPECT_EQ(open_ledger(place()).head().hash, end.hash);
  places().tamper("budget", insert("11", "'free'", "'charge'", 10, false) + "; " +
                                insert("-1", "'free2'", "'charge'", 10, false) +
                                "; INSERT INTO answer VALUES ('free', '7')");
  EXPECT_THROW(open_ledger(place()).charge("e", "ce", pure(0.1)), LedgerError);
  const Repair look = Ledger::repair(place(), with_key, true);
  EXPECT_EQ(look.records, 2);
  EXPECT_EQ(look.answers, 1);
  EXPECT_NE(look.dropped.find("\"free\""), std::string::npos) << look.dropped;
  EXPECT_THROW(open_ledger(place()).charge("e", "ce", pure(0.1)), LedgerError)
      << "looking changes nothing";
  const Repair done = Ledger::repair(place(), with_key, false);
  EXPECT_EQ(done.signed_head.hash, end.hash);
  EXPECT_EQ(done.head.number, 11);
  EXPECT_TRUE(is_sound(place(), end)) << Ledger::open(place()).verify(end).words;
  Ledger mended = open_ledger(place());
  EXPECT_EQ(mended.charge("e", "ce", pure(0.1)).entry.number, 12);
  EXPECT_EQ(mended.answer("a"), "1001");
  EXPECT_NE(mended.export_text().find("dropped: 2 unsigned records, 1 answers"), std::string::npos)
      << mended.export_text();
  EXPECT_TRUE(is_sound(place())) << Ledger::open(place()).verify().words;
  const Ledger copy = import_ledger(place("copy"), mended.export_text());
  EXPECT_TRUE(copy.verify().sound) << copy.verify().words;
}

TEST_P(BrokenChain, ARepairNeverDropsSignedRecords) {
  Ledger ledger = create_ledger(place(), terms);
  fill(ledger);
  const LedgerOptions with_key{.key = TestKeys::of(ledger.id())};
  save();
  for (const char* sql :
       {"UPDATE entry SET cost='0' WHERE number=1", "UPDATE entry SET cost='0' WHERE number=10",
        "DELETE FROM entry WHERE number=6", "UPDATE entry SET number=-1 WHERE number=7",
        "UPDATE entry SET number=11 WHERE number=9"}) {
    put_back();
    places().tamper("budget", sql);
    EXPECT_THROW((void)Ledger::repair(place(), with_key, false), LedgerError) << sql;
    EXPECT_THROW((void)open_ledger(place()).filter(), LedgerError) << sql;
  }
}

TEST_P(BrokenChain, ARepairNeverGoesBehindTheWitness) {
  std::filesystem::remove(heads());
  Ledger ledger = create_ledger(place(), terms, {.witness = heads()});
  fill(ledger);
  const LedgerOptions with_key{.key = TestKeys::of(ledger.id()), .witness = heads()};
  places().tamper("budget", "UPDATE entry SET signature='' WHERE number=10");
  EXPECT_THROW((void)Ledger::repair(place(), with_key, false), LedgerError);
  places().tamper("budget", "DELETE FROM entry WHERE number=10; " +
                                insert("10", "'free'", "'charge'", 7, false));
  EXPECT_THROW((void)Ledger::repair(place(), with_key, false), LedgerError);
  std::filesystem::remove(heads());
}

}  // namespace
}  // namespace sotto
