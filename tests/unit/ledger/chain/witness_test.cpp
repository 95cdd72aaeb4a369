// Keys and witnesses: which keys may sign, and how an older copy or a fork of a ledger is detected.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "../places.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"

namespace sotto {
namespace {

const Terms terms{"people", "person", Relation::add_remove, ApproximateBudget{100, 0}};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Keys : public ::testing::Test {
 protected:
  std::string path(const std::string& name) { return places_.place(name); }
  Places places_{Kind::file};
};

TEST_F(Keys, ASignatureIsOfItsBytesAndItsKey) {
  const SigningKey key = SigningKey::generate();
  const std::string signature = key.sign("head");
  EXPECT_TRUE(is_signed("head", signature, key.public_key()));
  EXPECT_FALSE(is_signed("heads", signature, key.public_key()));
  EXPECT_FALSE(is_signed("head", signature, SigningKey::generate().public_key()));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    std::string other = signature;
    other[i] = other[i] == '0' ? '1' : '0';
    EXPECT_FALSE(is_signed("head", other, key.public_key())) << i;
  }
  EXPECT_FALSE(is_signed("head", "", key.public_key()));
  EXPECT_FALSE(is_signed("head", signature, ""));
}

// RFC 8032, 7.1, test 1.
TEST_F(Keys, AreEd25519) {
  const std::string file = path("rfc.key");
  std::ofstream(file) << "sotto ledger key\nprivate "
                         "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n";
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  const SigningKey key = SigningKey::read(file);
  EXPECT_EQ(key.public_key(), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(key.sign(""),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39"
            "701cf9b46bd25bf5f0595bbe24655141438e7a100b");
}

TEST_F(Keys, AreStoredInASeparateFile) {
  Ledger::create(path("people.sotto"), terms).charge("a", "", pure(1));
  EXPECT_EQ(default_key(path("people.sotto")), path("people.key"));
  EXPECT_EQ(default_key(path("people")), path("people.key"));
  std::filesystem::rename(path("people.key"), path("away"));
  EXPECT_TRUE(
      mentions(error_of([&] { Ledger::open(path("people.sotto")).charge("b", "", pure(1)); }),
               "there is no key"));
  const Ledger without = Ledger::open(path("people.sotto"));  // reading needs none
  EXPECT_TRUE(without.verify().sound);
  EXPECT_EQ(without.entries().size(), 1U);
  EXPECT_EQ(without.filter().spent().amount, 1);
  EXPECT_NE(without.export_text(), "");
  Ledger::open(path("people.sotto"), {.key = path("away")}).charge("b", "", pure(1));
  std::filesystem::permissions(path("away"), std::filesystem::perms(0640));
  EXPECT_TRUE(
      mentions(error_of([&] {
                 Ledger::open(path("people.sotto"), {.key = path("away")}).charge("c", "", pure(1));
               }),
               "chmod 600"));
  EXPECT_TRUE(mentions(
      error_of([&] { (void)Ledger::create(path("other"), terms, {.key = path("people.sotto")}); }),
      "is not a ledger's key"));
  std::filesystem::permissions(path("away"), std::filesystem::perms(0600));
  EXPECT_TRUE(
      mentions(error_of([&] { (void)Ledger::create(path("other"), terms, {.key = path("away")}); }),
               "belongs to another ledger"));
  EXPECT_FALSE(std::filesystem::exists(path("other")));
  EXPECT_THROW((void)default_key("postgresql:///people"), InvalidValue);
}

TEST_F(Keys, AFailedCreationLeavesNoKey) {
  EXPECT_NE(error_of([&] {
              (void)Ledger::create(path("nowhere/people.sotto"), terms, {.key = path("k")});
            }),
            "");
  EXPECT_FALSE(std::filesystem::exists(path("k")));
}

TEST_F(Keys, EveryWriterHasAKeyThatTheFoundingEntryLists) {
  const SigningKey one = SigningKey::generate();
  one.write(path("one.key"));
  SigningKey::generate().write(path("two.key"));
  EXPECT_TRUE(mentions(error_of([&] { one.write(path("two.key")); }), "never overwritten"));
  Ledger::create(path("people.sotto"), terms, {.writer_keys = {one.public_key()}})
      .charge("a", "", pure(1));
  Ledger::open(path("people.sotto"), {.key = path("one.key")}).charge("b", "", pure(1));
  EXPECT_TRUE(mentions(
      error_of([&] {
        Ledger::open(path("people.sotto"), {.key = path("two.key")}).charge("c", "", pure(1));
      }),
      "is not among the keys"));
  const Finding finding = Ledger::open(path("people.sotto")).verify();
  EXPECT_TRUE(finding.sound) << finding.words;
  EXPECT_EQ(Ledger::open(path("people.sotto")).entries().size(), 2U);
  // From its first use on, a writer's key is bound to its ledger: another founding entry that lists
  // it is refused.
  EXPECT_EQ(SigningKey::read(path("one.key")).ledger().size(), 64U);
  Ledger::create(path("swapped.sotto"), terms, {.writer_keys = {one.public_key()}})
      .charge("a", "", pure(1));
  EXPECT_TRUE(mentions(
      error_of([&] {
        Ledger::open(path("swapped.sotto"), {.key = path("one.key")}).charge("b", "", pure(1));
      }),
      "was replaced"));
  EXPECT_THROW((void)Ledger::create(path("x.sotto"), terms, {.writer_keys = {"short"}}),
               InvalidValue);
}

// --- Witnesses ---

class Witnessed : public ::testing::TestWithParam<bool> {
 protected:
  std::string path(const std::string& name = "people.sotto") { return places_.place(name); }
  void SetUp() override {
    witness_ = path("heads");
    if (!GetParam()) return;
    const std::string script = path("keep-head");
    std::ofstream(script) << "#!/bin/sh\nif [ \"$1\" = give ]; then cat >> " << path("heads")
                          << "; else grep \"^$2 \" " << path("heads")
                          << " 2>/dev/null | tail -n 1; fi\n";
    std::filesystem::permissions(script, std::filesystem::perms(0700));
    witness_ = "|" + script;
  }
  Ledger open() { return Ledger::open(path(), {.witness = witness_}); }

  Places places_{Kind::file};
  std::string witness_;
};
INSTANTIATE_TEST_SUITE_P(By, Witnessed, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Command" : "File"; });

TEST_P(Witnessed, TheNextChargeDetectsAnOlderCopy) {
  (void)Ledger::create(path(), terms, {.witness = witness_});
  open().charge("a", "", pure(1));
  std::filesystem::copy_file(path(), path("old"));
  open().charge("b", "", pure(1));
  EXPECT_TRUE(open().verify().sound) << open().verify().words;
  std::filesystem::copy_file(path("old"), path(),
                             std::filesystem::copy_options::overwrite_existing);
  const std::string words = error_of([&] { open().charge("c", "", pure(1)); });
  EXPECT_TRUE(mentions(words, "older copy") && mentions(words, "Nothing was charged")) << words;
  EXPECT_FALSE(open().verify().sound);
  EXPECT_TRUE(Ledger::open(path()).verify().sound);  // by itself it is a ledger
  // A fork, which continues from the older copy, is refused, too.
  Ledger::open(path()).charge("d", "", pure(1));
  Ledger::open(path()).charge("e", "", pure(1));
  EXPECT_TRUE(mentions(error_of([&] { open().charge("f", "", pure(1)); }), "history is another"));
}

TEST_P(Witnessed, ALedgerAheadOfTheWitnessIsAccepted) {
  (void)Ledger::create(path(), terms, {.witness = witness_});
  for (int i = 0; i < 5; ++i)
    Ledger::open(path()).charge(std::to_string(i), "", pure(1));  // unseen
  open().charge("a", "", pure(1));
  EXPECT_TRUE(open().verify().sound);
  const std::string heads = text_of(path("heads"));
  EXPECT_TRUE(mentions(heads, " 0:") && mentions(heads, " 6:") && !mentions(heads, " 5:")) << heads;
}

TEST_P(Witnessed, KeepsSeveralLedgers) {
  (void)Ledger::create(path(), terms, {.witness = witness_});
  (void)Ledger::create(path("other.sotto"), terms, {.witness = witness_});
  open().charge("a", "", pure(1));
  Ledger::open(path("other.sotto"), {.witness = witness_}).charge("a", "", pure(1));
  Ledger::open(path("other.sotto"), {.witness = witness_}).charge("b", "", pure(1));
  EXPECT_FALSE(open().charge("c", "", pure(1)).repeated);
}

TEST_P(Witnessed, AnUnreachableWitnessChargesNothing) {
  (void)Ledger::create(path(), terms);
  const std::string broken = GetParam() ? "|exit 3; :" : path("");
  EXPECT_NE(error_of([&] { Ledger::open(path(), {.witness = broken}).charge("a", "", pure(1)); }),
            "");
  EXPECT_TRUE(Ledger::open(path()).entries().empty());
}

TEST(WitnessFiles, AnIncompleteLineIsSkipped) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  const std::string heads = places.place("heads");
  const Ledger ledger = Ledger::create(path, terms, {.witness = heads});
  std::ofstream(heads, std::ios::app) << ledger.id() << " 7:12";  // the power went
  Ledger::open(path, {.witness = heads}).charge("a", "", pure(1));
  Ledger::open(path, {.witness = heads}).charge("b", "", pure(1));
  EXPECT_TRUE(Ledger::open(path, {.witness = heads}).verify().sound);
}

TEST(WitnessFiles, LongFilesAreReadFromTheEnd) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  const std::string heads = places.place("heads");
  Ledger ledger = Ledger::create(path, terms, {.witness = heads});
  ledger.charge("a", "", pure(1));
  {
    std::ofstream out(heads, std::ios::app);
    for (int i = 0; i < 5000; ++i)
      out << "another " + std::to_string(i) << ":" << std::string(64, 'f') << "\n";
  }
  Ledger::open(path, {.witness = heads}).charge("b", "", pure(1));
  std::filesystem::resize_file(heads, std::filesystem::file_size(heads));
  EXPECT_TRUE(Ledger::open(path, {.witness = heads}).verify().sound);
}

// A disk that is not mounted, or a file that was emptied, looks like a new witness.
TEST(WitnessFiles, AnAbsentOrEmptyWitnessIsNotANewOne) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  const std::string heads = places.place("heads");
  Ledger ledger = Ledger::create(path, terms, {.witness = heads});
  ledger.charge("a", "", pure(1));
  const auto charge = [&](const std::string& request) {
    return error_of([&] { Ledger::open(path, {.witness = heads}).charge(request, "", pure(1)); });
  };
  std::filesystem::rename(heads, places.place("kept"));
  EXPECT_TRUE(mentions(charge("b"), "keeps no head of this ledger, which has 1 entry"))
      << charge("b");
  std::ofstream(heads) << "";
  EXPECT_TRUE(mentions(charge("b"), "keeps no head of this ledger"));
  std::ofstream(heads) << std::string(32, 'a') << " 3:" << std::string(64, 'f')
                       << "\n";  // of another ledger
  EXPECT_TRUE(mentions(charge("b"), "keeps no head of this ledger"));
  EXPECT_FALSE(Ledger::open(path, {.witness = heads}).verify().sound);
  EXPECT_TRUE(Ledger::open(path).verify().sound);
  EXPECT_EQ(Ledger::open(path).entries().size(), 1U);

  // A person states that the witness is new.
  Ledger::open(path, {.witness = heads}).start_witness();
  EXPECT_EQ(charge("b"), "");
  Ledger::open(path, {.witness = heads}).start_witness();  // says nothing new
  EXPECT_TRUE(mentions(text_of(heads), " 2:"));
  EXPECT_TRUE(
      mentions(error_of([&] { Ledger::open(path).start_witness(); }), "no witness is given"));
}

TEST(WitnessFiles, StartingRefusesAnOlderLedger) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  const std::string heads = places.place("heads");
  Ledger::create(path, terms, {.witness = heads}).charge("a", "", pure(1));
  std::filesystem::copy_file(path, places.place("older"));
  Ledger::open(path, {.witness = heads}).charge("b", "", pure(1));
  std::filesystem::copy_file(places.place("older"), path,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(mentions(error_of([&] { Ledger::open(path, {.witness = heads}).start_witness(); }),
                       "truncated or replaced by an older copy"));
  EXPECT_TRUE(mentions(error_of([&] { (void)Ledger::open(path, {.witness = heads}).filter(); }),
                       "truncated or replaced by an older copy"));
  EXPECT_TRUE(mentions(error_of([&] { (void)Ledger::open(path, {.witness = heads}).answer("a"); }),
                       "truncated or replaced by an older copy"));
}

// The start of a line, as a killed writer leaves it, is skipped. Any other malformed line is an
// error.
TEST(WitnessFiles, ALineThatIsNotAHeadIsRefused) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  const std::string heads = places.place("heads");
  Ledger ledger = Ledger::create(path, terms, {.witness = heads});
  ledger.charge("a", "", pure(1));
  const std::string whole = text_of(heads);
  const std::string line = ledger.id() + " 2:" + std::string(64, 'f');
  for (std::size_t size = 0; size < line.size(); ++size) {
    std::ofstream(heads, std::ios::trunc) << whole << line.substr(0, size) << "\n";
    EXPECT_EQ(error_of([&] { (void)Ledger::open(path, {.witness = heads}).filter(); }), "") << size;
  }
  for (const std::string& other :
       {std::string("garbage!"), ledger.id() + " x:" + std::string(64, 'f'),
        ledger.id() + " -1:" + std::string(64, 'f'),
        ledger.id() + " 10000000000000000000000:" + std::string(64, 'f'),
        ledger.id() + " 2:" + std::string(65, 'f'), ledger.id() + " 2:" + std::string(64, 'F'),
        line + " ", std::string("\x01\x02"), ledger.id() + "  2:" + std::string(64, 'f')}) {
    std::ofstream(heads, std::ios::trunc) << whole << other << "\n";
    EXPECT_TRUE(mentions(error_of([&] { (void)Ledger::open(path, {.witness = heads}).filter(); }),
                         "not the head of a ledger"))
        << other;
  }
  std::ofstream(heads, std::ios::trunc) << whole << line << "\n";
  EXPECT_TRUE(mentions(error_of([&] { (void)Ledger::open(path, {.witness = heads}).filter(); }),
                       "truncated or replaced by an older copy"));
}

// The charge is on disk when the witness fails, so the error is ChargeStays.
TEST(WitnessFiles, AFailedWriteLeavesTheChargeAndReportsIt) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  const std::string command = "|if [ $1 = give ]; then exit 1; fi; :";
  (void)Ledger::create(path, terms);
  EXPECT_THROW(Ledger::open(path, {.witness = command}).charge("a", "", pure(1)), ChargeStays);
  EXPECT_EQ(Ledger::open(path).entries().size(), 1U);
}

TEST(WitnessCommands, AHangingCommandIsKilled) {
  Places places(Kind::file);
  const std::string path = places.place("people.sotto");
  (void)Ledger::create(path, terms);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(mentions(error_of([&] {
                         Ledger::open(path, {.witness = "|exec sleep 60; :",
                                             .patience = std::chrono::milliseconds(300)})
                             .charge("a", "", pure(1));
                       }),
                       "did not answer within"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace sotto
