// Forged ledgers: verify detects every edit, and the next charge detects every edit that matters to
// it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <random>

#include "ledger/chain/chain.hpp"
#include "ledger/chain/text.hpp"
#include "places.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

const Terms terms{"people",  "person",          Relation::add_remove, ApproximateBudget{10, 1e-6},
                  "integer", "/data/people.csv"};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

bool mentions(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Three charges, of which one is from a batch, and an answer.
void fill(Ledger& ledger) {
  ledger.charge("a", "ca", pure(1));
  ledger.begin("a");
  ledger.keep_answer("a", "1001");
  ledger.charge({{"b", "cb", pure(2)}, {"c", "cc", approx(1, 1e-7)}});
  ledger.begin("b");
}

ledger_detail::Record last_record(const std::string& place) {
  return ledger_detail::open_store(place, std::chrono::seconds(30), true)->records_from(1).back();
}

class Forged : public AnyLedger {};
INSTANTIATE_TEST_SUITE_P(In, Forged, ::testing::Values(Kind::file, Kind::database), kind_name);

// --- Edits that the next charge detects ---

TEST_P(Forged, TheNextChargeDetectsAnEditedTotal) {
  int round = 0;
  for (const char* change :
       {"UPDATE entry SET amount='0x0p+0 0x0p+0 0x0p+0' WHERE number=6",
        "UPDATE entry SET cost='5' WHERE number=6",
        "UPDATE entry SET amount='0x0p+0 0x0p+0 0x0p+0' WHERE number=5",
        "UPDATE entry SET delta='0x0p+0 0x0p+0 0x0p+0'", "UPDATE entry SET hash='0' WHERE number=6",
        "UPDATE entry SET signature='' WHERE number=6", "UPDATE entry SET signer='' WHERE number=6",
        "DELETE FROM entry WHERE number=5", "UPDATE founding SET keys='00'",
        "UPDATE founding SET budget='approx(1000, 1e-06)'",
        "UPDATE founding SET source='/data/other.csv'"}) {
    const std::string name = "people" + std::to_string(++round);
    Ledger ledger = create_ledger(place(name), terms);
    fill(ledger);
    places().tamper(name, change);
    EXPECT_NE(error_of([&] { open_ledger(place(name)).charge("d", "", pure(0.1)); }), "") << change;
    EXPECT_FALSE(is_sound(place(name))) << change;
  }
}

// The attacker can write the rows and recompute the hashes, but has no key.
TEST_P(Forged, TheNextChargeDetectsAnUnsignedRecord) {
  Ledger ledger = create_ledger(place(), terms);
  fill(ledger);
  const Head head = ledger.head();
  ledger_detail::Record last{.number = 7,
                             .kind = "charge",
                             .time = "now",
                             .who = "me",
                             .request = "forged",
                             .plan = "epsilon(0)"};
  last.cost = last.cost_delta = last.cost_slack = "0";
  const ledger_detail::Record before = last_record(place());
  last.amount = before.amount;
  last.delta = before.delta;
  last.slack = before.slack;
  const SigningKey mine = SigningKey::generate();
  last.signer = mine.public_key();
  last.hash = ledger_detail::hash_of(head.hash, last);
  last.signature = mine.sign(ledger_detail::head_bytes(ledger.id(), {7, last.hash}));
  std::string row = "INSERT INTO entry VALUES (7";
  for (const std::string* field : ledger_detail::fields_of(last)) row += ",'" + *field + "'";
  places().tamper("budget", row + ")");
  const std::string words = error_of([&] { open_ledger(place()).charge("d", "", pure(0.1)); });
  EXPECT_TRUE(mentions(words, "is not signed by a key of the ledger")) << words;
  EXPECT_FALSE(is_sound(place()));
}

TEST_P(Forged, TheKeyDetectsASwappedFoundingEntry) {
  (void)create_ledger(place(), terms);
  Terms larger = terms;
  larger.budget = ApproximateBudget{1000, 1e-6};
  const Ledger other = Ledger::create(place("other"), larger, {.key = TestKeys::of("forger")});
  const std::string key = TestKeys::of(Ledger::open(place()).id());
  const std::string text = other.export_text();
  const auto field = [&text](const std::string& name) {
    const std::size_t start = text.find("\"" + name + "\":\"") + name.size() + 4;
    return text.substr(start, text.find('"', start) - start);
  };
  std::string change = "UPDATE founding SET id='" + field("id") + "'";
  for (const char* name : {"created", "budget", "keys", "hash", "signature"})
    change += std::string(", ") + name + "='" + field(name) + "'";
  places().tamper("budget", change);
  EXPECT_TRUE(is_sound(place()));  // by itself it is a ledger, the forger's
  const std::string words =
      error_of([&] { Ledger::open(place(), {.key = key}).charge("a", "", pure(100)); });
  EXPECT_TRUE(mentions(words, "is not among the keys that the founding entry of")) << words;
  std::filesystem::remove(TestKeys::of("forger"));
}

TEST_P(Forged, AnEditedAnswerIsNotReturned) {
  Ledger ledger = create_ledger(place(), terms);
  fill(ledger);
  const Head head = ledger.head();
  places().tamper("budget", "UPDATE answer SET answer='123456'");
  const Ledger again = open_ledger(place());
  EXPECT_TRUE(mentions(error_of([&] { (void)again.answer("a"); }), "was changed"));
  EXPECT_FALSE(again.verify(head).sound);
  places().tamper("budget",
                  "UPDATE entry SET content='" + digest("123456") + "' WHERE kind='answer'");
  EXPECT_TRUE(mentions(error_of([&] { (void)again.answer("a"); }), "was changed"));
  places().tamper("budget", "DELETE FROM answer");
  EXPECT_TRUE(mentions(error_of([&] { (void)again.answer("a"); }), "is absent"));
  places().tamper("budget", "INSERT INTO answer VALUES ('b', '7')");
  EXPECT_EQ(again.answer("b"), std::nullopt);
  EXPECT_FALSE(is_sound(place()));
}

// --- Every field ---

TEST_P(Forged, VerifyDetectsEveryEditedField) {
  Ledger ledger = create_ledger(place("first"), terms);
  fill(ledger);
  const std::string text = ledger.export_text();
  std::vector<std::string> changes;
  for (const char* name : Ledger::Store::founding_names)
    changes.push_back(std::string("UPDATE founding SET ") + name + "=" + name + "||'0'");
  for (const char* name : ledger_detail::record_names) {
    const std::string who = GetParam() == Kind::file ? "5" : "2";
    changes.push_back(std::string("UPDATE entry SET ") + name + "=" + name +
                      "||'0' WHERE number=" + who);
    changes.push_back(std::string("UPDATE entry SET ") + name + "='' WHERE number=1 AND " + name +
                      "<>''");
  }
  changes.emplace_back("UPDATE entry SET number=8 WHERE number=6");
  changes.emplace_back("UPDATE answer SET request='b'");
  changes.emplace_back("UPDATE answer SET answer=answer||' '");
  changes.emplace_back("DELETE FROM answer");
  changes.emplace_back("INSERT INTO answer VALUES ('c', '')");
  int round = 0;
  for (const std::string& change : changes) {
    const std::string name = "copy" + std::to_string(++round);
    (void)import_ledger(place(name), text);
    if (error_of([&] { places().tamper(name, change); }) != "")
      continue;  // the database refuses it
    const std::string now = error_of([&] { (void)Ledger::open(place(name)).export_text(); });
    if (now.empty() && Ledger::open(place(name)).export_text() == text)
      continue;  // there was nothing to change
    EXPECT_FALSE(is_sound(place(name))) << change;
  }
}

// --- Every byte ---

// Flips a bit of each byte of an export: every import is refused.
TEST(ForgedText, EveryByteOfAnExportCounts) {
  Places places(Kind::file);
  Ledger ledger = create_ledger(places.place("budget"), terms);
  fill(ledger);
  const std::string text = ledger.export_text();
  std::mt19937 dice(15);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (dice() % 7)));
    EXPECT_THROW((void)Ledger::import(places.place("copy"), changed), LedgerError)
        << i << " " << text.substr(i > 20 ? i - 20 : 0, 40);
    EXPECT_FALSE(std::filesystem::exists(places.place("copy"))) << i;
  }
  for (const std::string& changed :
       {text + "\n", text + " ", text.substr(0, text.size() - 1),
        text.substr(0, text.rfind('\n', text.size() - 2) + 1), text.substr(text.find('\n') + 1)}) {
    // Without its last line the text is an older copy of the ledger, which only a head outside of
    // it detects.
    const bool is_older = changed == text.substr(0, text.rfind('\n', text.size() - 2) + 1);
    if (is_older) {
      EXPECT_FALSE(import_ledger(places.place("older"), changed).verify(ledger.head()).sound);
    } else {
      EXPECT_THROW((void)Ledger::import(places.place("copy"), changed), LedgerError);
    }
  }
}

// Changes random bytes of the file: the damage is detected, or the contents are unchanged.
void edit_bytes(int rounds, unsigned seed) {
  Places places(Kind::file);
  const std::string path = places.place("budget.sotto");
  Ledger ledger = Ledger::create(path, terms);
  fill(ledger);
  const std::string text = ledger.export_text();
  const std::string bytes = bytes_of(path);
  std::mt19937 dice(seed);
  int detected = 0;
  for (int i = 0; i < rounds; ++i) {
    std::string changed = bytes;
    const std::size_t at = dice() % changed.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << (dice() % 8)));
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    if (is_sound(path)) {
      EXPECT_EQ(Ledger::open(path).export_text(), text) << at;
    } else {
      ++detected;
      // The error is that of a damaged ledger (exit 1), not that of a wrong command (exit 2).
      try {
        Ledger::open(path).charge("more", "", pure(0.125));
      } catch (const LedgerError&) {
      }
    }
  }
  EXPECT_GT(detected, rounds / 20);
}
TEST(ForgedFile, EditedBytesAreDetectedOrUnused) { edit_bytes(400, 15); }
TEST(SlowForgedFile, EditedBytesAreDetectedOrUnusedIn20000Rounds) {
  edit_bytes(20000, std::random_device()());
}

// A trigger that drops every charge.
TEST(ForgedFile, AnotherSchemaIsRefused) {
  Places places(Kind::file);
  const std::string path = places.place("budget.sotto");
  Ledger ledger = Ledger::create(path, terms);
  ledger.charge("a", "", pure(1));
  places.execute("budget.sotto",
                 "DROP TRIGGER entry_DELETE; CREATE TRIGGER drops AFTER INSERT ON entry BEGIN "
                 "DELETE FROM entry WHERE number=NEW.number; END");
  EXPECT_TRUE(mentions(error_of([&] { ledger.charge("b", "", pure(1)); }),
                       "not have the schema of a ledger"));  // also one that is open
  EXPECT_TRUE(
      mentions(error_of([&] { (void)Ledger::open(path); }), "not have the schema of a ledger"));
}

TEST(ForgedFile, OnlyItsOwnerMayReadIt) {
  Places places(Kind::file);
  const std::string path = places.place("budget.sotto");
  Ledger ledger = Ledger::create(path, terms, {.witness = places.place("heads")});
  ledger.charge("a", "", pure(1));
  for (const std::string& file : {path, places.place("budget.key"), places.place("heads")}) {
    struct stat about {};
    ASSERT_EQ(stat(file.c_str(), &about), 0) << file;
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << file;
  }
  EXPECT_EQ(bytes_of(path).find(bytes_of(places.place("budget.key")).substr(25, 64)),
            std::string::npos);  // the key is not in the ledger
}

// A damaged ledger is neither a wrong command (exit 2), nor a refused budget (3), nor a theorem's
// condition (4).
TEST(ForgedFile, ADamagedLedgerExitsWith1) {
  Places places(Kind::file);
  int round = 0;
  for (const char* change :
       {"UPDATE entry SET plan='nonsense(' WHERE number=1",
        "UPDATE entry SET cost='x' WHERE number=1",
        "UPDATE entry SET amount='used 1' WHERE number=6",
        "UPDATE entry SET amount='' WHERE number=6",
        "UPDATE entry SET plan='randomized_response(0.75)' WHERE number=1",
        "UPDATE founding SET budget='x'", "UPDATE founding SET budget='approx(-1, 0)'",
        "UPDATE founding SET relation='x'", "DELETE FROM founding",
        "INSERT INTO founding SELECT * FROM founding", "UPDATE entry SET number=-1 WHERE number=1",
        "UPDATE answer SET answer='{}'"}) {
    const std::string name = "damaged" + std::to_string(++round) + ".sotto";
    Ledger ledger = Ledger::create(places.place(name), terms);
    fill(ledger);
    places.tamper(name, change);
    int failures = 0;
    for (const std::string command :
         {"show FILE", "verify FILE", "export FILE", "charge FILE 'laplace(10)' --request more"}) {
      std::string words = command;
      words.replace(words.find("FILE"), 4, places.place(name));
      const int status = std::system(
          (std::string(SOTTO_COMMAND_PATH) + " ledger " + words + " >/dev/null 2>&1").c_str());
      EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 1)
          << change << ": " << command << ": " << WEXITSTATUS(status);
      failures += WEXITSTATUS(status) == 1 ? 1 : 0;
    }
    EXPECT_GE(failures, 1) << change;  // verify at least
  }
}

// --- What a writer of a database may write ---

TEST(ForgedDatabase, AWriterAddsByOneFunctionWhichChecksTheChain) {
  if (!PostgresServer::installed())
    GTEST_SKIP() << "no PostgreSQL server is installed (Debian: postgresql)";
  PostgresServer server;
  server.sql("CREATE ROLE curator LOGIN; CREATE ROLE stranger LOGIN");
  const std::string owned = server.database("people");
  (void)create_ledger(owned, terms, {.writer = "curator"});
  const std::string mine = server.uri("people", "curator");
  Ledger ledger = open_ledger(mine);
  fill(ledger);
  EXPECT_EQ(ledger.entries().front().who, "curator");
  const auto as_curator = [&](const std::string& sql) {
    return error_of([&] { server.sql("SET SESSION AUTHORIZATION curator; " + sql, "people"); });
  };
  // Regression: this attack refilled the budget.
  const std::string zeros = "'0x0p+0 0x0p+0 0x0p+0'";
  const std::string refill = as_curator(
      "INSERT INTO sotto_ledger.entry SELECT 7, kind, time, who, 'forged', content, title, plan, "
      "cost, cost_delta, cost_slack, "
      "measurements, " +
      zeros + ", " + zeros + ", " + zeros +
      ", signer, hash, signature FROM sotto_ledger.entry WHERE number=6");
  EXPECT_TRUE(mentions(refill, "permission denied")) << refill;
  EXPECT_TRUE(mentions(as_curator("INSERT INTO sotto_ledger.answer VALUES ('b', '7')"),
                       "permission denied"));

  // The function accepts only records that follow the last one, with right hashes and under the
  // caller's name.
  const auto add = [&](ledger_detail::Record r, const std::string& before, bool is_hashed = true) {
    if (is_hashed) r.hash = ledger_detail::hash_of(before, r);
    std::string row = "{\"number\":" + std::to_string(r.number);
    const auto fields = ledger_detail::fields_of(r);
    for (std::size_t i = 0; i < fields.size(); ++i)
      row += std::string(",\"") + ledger_detail::record_names[i] + "\":\"" + *fields[i] + "\"";
    return as_curator("SELECT sotto_ledger.add('" + before + "', '[" + row + "}]', NULL)");
  };
  const Head head = ledger.head();
  ledger_detail::Record next{.number = 7,
                             .kind = "charge",
                             .time = "now",
                             .who = "curator",
                             .request = "forged",
                             .plan = "pure(0)"};
  next.cost = next.cost_delta = next.cost_slack = "0";
  const ledger_detail::Record last = last_record(owned);
  next.amount = last.amount;
  next.delta = last.delta;
  next.slack = last.slack;
  next.signer = SigningKey::read(TestKeys::of(ledger.id())).public_key();
  next.signature = std::string(128, '0');
  const auto with = [&next](const std::function<void(ledger_detail::Record&)>& change) {
    ledger_detail::Record r = next;
    change(r);
    return r;
  };
  EXPECT_TRUE(mentions(add(next, std::string(64, '0')), "goes on from its last record"));
  EXPECT_TRUE(mentions(add(with([](auto& r) { r.number = 9; }), head.hash), "that may follow"));
  EXPECT_TRUE(mentions(add(with([](auto& r) { r.number = 3; }), head.hash), "duplicate key"));
  EXPECT_TRUE(mentions(add(with([](auto& r) { r.number = -3; }), head.hash), "that may follow"));
  EXPECT_TRUE(
      mentions(add(with([](auto& r) { r.who = "postgres"; }), head.hash), "that may follow"));
  EXPECT_TRUE(
      mentions(add(with([](auto& r) { r.kind = "refund"; }), head.hash), "that may follow"));
  EXPECT_TRUE(mentions(add(with([](auto& r) { r.hash = std::string(64, '0'); }), head.hash, false),
                       "that may follow"));
  EXPECT_TRUE(
      mentions(add(with([](auto& r) { r.signer = r.signature = ""; }), head.hash), "is signed"));
  EXPECT_TRUE(mentions(
      add(with([](auto& r) { r.signer = SigningKey::generate().public_key(); }), head.hash),
      "by a key of the founding entry"));
  EXPECT_TRUE(mentions(add(with([](auto& r) { r.request = "a"; }), head.hash), "duplicate key"));
  EXPECT_TRUE(mentions(add(with([](auto& r) { r.kind = "begun"; }), head.hash),
                       "what its request has come to"));
  EXPECT_TRUE(mentions(add(with([](auto& r) {
                             r.kind = "answer";
                             r.request = "b";
                           }),
                           head.hash),
                       "comes with its mark"));
  EXPECT_TRUE(
      mentions(as_curator("SELECT sotto_ledger.add('" + head.hash + "', '[]', 'an answer')"),
               "comes with its mark"));
  const std::string stranger = error_of([&] {
    server.sql("SET SESSION AUTHORIZATION stranger; SELECT sotto_ledger.add('', '[]', NULL)",
               "people");
  });
  EXPECT_TRUE(mentions(stranger, "permission denied")) << stranger;
  // The caller's temporary tables and functions change nothing.
  EXPECT_TRUE(mentions(as_curator("CREATE TEMP TABLE entry (number bigint, hash text); CREATE "
                                  "FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS "
                                  "'SELECT $1'; SELECT sotto_ledger.add('x', '[]', NULL)"),
                       "goes on from its last record"));
  EXPECT_TRUE(Ledger::open(owned).verify(head).sound) << Ledger::open(owned).verify(head).words;

  // A record with a made-up signature passes the function, and the next charge detects it.
  EXPECT_EQ(add(next, head.hash), "");
  const std::string forged = error_of([&] { open_ledger(mine).charge("d", "", pure(0.5)); });
  EXPECT_TRUE(mentions(forged, "has a signature that its signer did not make")) << forged;
  EXPECT_FALSE(is_sound(owned));

  // The owner of the tables drops it.
  const LedgerOptions with_key{.key = TestKeys::of(ledger.id())};
  EXPECT_TRUE(
      mentions(error_of([&] { (void)Ledger::repair(mine, with_key, false); }), "lacks the right"));
  EXPECT_EQ(Ledger::repair(owned, with_key, false).records, 1);
  EXPECT_TRUE(Ledger::open(owned).verify(head).sound) << Ledger::open(owned).verify(head).words;
  open_ledger(mine).charge("d", "", pure(0.5));
  EXPECT_TRUE(Ledger::open(owned).verify().sound) << Ledger::open(owned).verify().words;
}

}  // namespace
}  // namespace sotto
