// Checkpoints: a request resumes only from the last marked checkpoint, whatever somebody does to
// the folder and wherever the process is stopped.
#include "ledger/api/checkpoint.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "ledger/api/request.hpp"
#include "places.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

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

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class Checkpoints : public AnyLedger {
 protected:
  void SetUp() override {
    AnyLedger::SetUp();
    if (IsSkipped()) return;
    std::string name = (fs::temp_directory_path() / "sotto-checkpoints-XXXXXX").string();
    folder = mkdtemp(name.data());
    Ledger ledger = create_ledger(
        place(), {"people", "person", Relation::add_remove, ApproximateBudget{10, 0}});
    ledger.charge("a", "", pure(1));
    ledger.charge("b", "", pure(1));
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }
  // Returns the file of a request's checkpoint, by the end of its name.
  [[nodiscard]] fs::path file(const std::string& request, int number) const {
    return folder / (digest(request).substr(0, 32) + "." + std::to_string(number) + ".checkpoint");
  }
  // A request that is begun with checkpoint "0" and has the checkpoints "1" … "last".
  void come_to(Ledger& ledger, const std::string& request, int last) const {
    CheckpointFile checkpoints(ledger, folder, request);
    ledger.begin(request, checkpoints.prepare("text 0 of " + request));
    for (int i = 1; i <= last; ++i)
      checkpoints.write("text " + std::to_string(i) + " of " + request);
  }
  [[nodiscard]] std::string obstacle(const std::string& request = "a") {
    return CheckpointFile::obstacle(open_ledger(place()), folder, request).value_or("");
  }
  [[nodiscard]] std::string read(const std::string& request = "a") {
    Ledger ledger = open_ledger(place());
    return CheckpointFile(ledger, folder, request).read().value_or("none");
  }

  fs::path folder;
};
INSTANTIATE_TEST_SUITE_P(In, Checkpoints, ::testing::Values(Kind::file, Kind::database), kind_name);

TEST_P(Checkpoints, OnlyTheLastMarkedCheckpointIsReadAndStored) {
  EXPECT_TRUE(mentions(obstacle(), "before its first checkpoint"));
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 0);
  EXPECT_EQ(obstacle(), "");
  EXPECT_EQ(read(), "text 0 of a");
  {
    CheckpointFile again(ledger, folder, "a");
    EXPECT_EQ(again.read(), "text 0 of a");
    again.write("text 1 of a");
    again.write(std::string(3'000'000, 'x'));
  }
  EXPECT_EQ(read(), std::string(3'000'000, 'x'));
  EXPECT_FALSE(fs::exists(file("a", 0)) || fs::exists(file("a", 1)));
  EXPECT_EQ(open_ledger(place()).state("a"), RequestState::begun);
  EXPECT_TRUE(is_sound(place())) << open_ledger(place()).verify().words;
  // An imported copy of the ledger resumes with the ledger's key, too.
  const std::string text = open_ledger(place()).export_text();
  EXPECT_TRUE(import_ledger(place("copy"), text).verify().sound);
  EXPECT_EQ(CheckpointFile::obstacle(open_ledger(place("copy")), folder, "a"), std::nullopt);
  ledger.keep_answer("a", "42");
  CheckpointFile::remove(folder, "a");
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(ledger.checkpoint("a"), std::nullopt);
  EXPECT_NE(error_of([&] { ledger.mark_checkpoint("a", {3, "x y"}); }), "");
  EXPECT_TRUE(is_sound(place()));
}

TEST_P(Checkpoints, AnOlderCheckpointIsRefused) {
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 1);
  const std::string old = bytes_of(file("a", 1));
  {
    CheckpointFile again(ledger, folder, "a");
    EXPECT_EQ(again.read(), "text 1 of a");
    again.write("text 2 of a");
  }
  const std::string now = bytes_of(file("a", 2));
  put(file("a", 1), old);
  EXPECT_EQ(read(), "text 2 of a");  // beside the last one it is nothing
  fs::remove(file("a", 2));
  EXPECT_TRUE(mentions(obstacle(), "is absent")) << obstacle();
  put(file("a", 2), old);
  EXPECT_TRUE(mentions(obstacle(), "is not the one that the ledger marks")) << obstacle();
  EXPECT_TRUE(mentions(error_of([&] { (void)read(); }), "is not the one that the ledger marks"));
  put(file("a", 2), now);  // nothing was drawn meanwhile: the right one goes on
  EXPECT_EQ(read(), "text 2 of a");
}

TEST_P(Checkpoints, AChangeOfAnyByteIsRefused) {
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 1);
  const std::string right = bytes_of(file("a", 1));
  EXPECT_EQ(right.find("text"), std::string::npos);  // nobody reads it without the key
  for (std::size_t i = 0; i < right.size(); i += 3) {
    std::string wrong = right;
    wrong[i] = static_cast<char>(wrong[i] ^ 1);
    put(file("a", 1), wrong);
    EXPECT_TRUE(mentions(obstacle(), "is not the one that the ledger marks")) << i;
  }
  put(file("a", 1), "");
  EXPECT_NE(obstacle(), "");
}

TEST_P(Checkpoints, CheckpointsOfTwoRequestsCannotBeSwapped) {
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 2);
  come_to(ledger, "b", 2);
  const std::string a = bytes_of(file("a", 2));
  put(file("a", 2), bytes_of(file("b", 2)));
  put(file("b", 2), a);
  EXPECT_TRUE(mentions(obstacle("a"), "is not the one that the ledger marks"));
  EXPECT_TRUE(mentions(obstacle("b"), "is not the one that the ledger marks"));
}

// The attacker can write the ledger's rows, too, but has no key.
TEST_P(Checkpoints, AMarkCannotBeForgedMovedOrRemoved) {
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 1);
  const std::string old = bytes_of(file("a", 1));
  const std::string seal = ledger.checkpoint("a")->seal;
  {
    CheckpointFile again(ledger, folder, "a");
    (void)again.read();
    again.write("text 2 of a");
  }
  ledger.charge("c", "", pure(1));  // entries 1, 2 charges; 3 begun; 4, 5 checkpoints; 6 this
  put(file("a", 1), old);
  EXPECT_EQ(obstacle(), "");
  const std::string text = ledger.export_text();
  int round = 0;
  for (const std::string& change :
       {std::string("DELETE FROM entry WHERE number=5"),
        "UPDATE entry SET content='" + seal + "' WHERE number=5",
        std::string("UPDATE entry SET kind='checkpoint/9' WHERE number=5"),
        std::string("UPDATE entry SET request='b' WHERE number=5"),
        std::string("UPDATE entry SET kind='checkpoint/7', content='" + seal + "' WHERE number=6"),
        std::string(
            "DELETE FROM entry WHERE number=5; UPDATE entry SET number=5 WHERE number=6")}) {
    const std::string name = "forged" + std::to_string(++round);
    (void)import_ledger(place(name), text);
    places().tamper(name, change);
    const auto why = CheckpointFile::obstacle(open_ledger(place(name)), folder, "a");
    EXPECT_TRUE(why.has_value()) << change;
  }
}

// A process that is stopped between the file and its mark leaves a file that nobody can decrypt:
// half of its key is the salt, which only a mark contains.
TEST_P(Checkpoints, AnUnmarkedCheckpointCannotBeDecrypted) {
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 1);
  const std::string left = [&] {
    CheckpointFile stopped(ledger, folder, "a");
    (void)stopped.read();
    ledger.mark_checkpoint("a", {2, "0 0"});  // so that its own mark is refused
    EXPECT_TRUE(mentions(error_of([&] { stopped.write("text 2 of a"); }),
                         "another process resumed from the same checkpoint"));
    return bytes_of(file("a", 2));
  }();
  EXPECT_FALSE(left.empty());
  EXPECT_EQ(left.find("text"), std::string::npos);
  come_to(ledger, "b", 1);
  const std::string bytes = bytes_of(file("b", 1));
  const std::string seal = ledger.checkpoint("b")->seal;
  const std::string salt = seal.substr(seal.find(' ') + 1);
  ASSERT_EQ(salt.size(), 64U);
  EXPECT_EQ(bytes.find(salt), std::string::npos);
  std::string raw;
  for (std::size_t i = 0; i < salt.size(); i += 2)
    raw += static_cast<char>(std::stoi(salt.substr(i, 2), nullptr, 16));
  EXPECT_EQ(bytes.find(raw), std::string::npos);
  // Two salts give different bytes for one text, key and number.
  const std::string first = [&] {
    CheckpointFile again(ledger, folder, "b");
    (void)again.read();
    return again.prepare("same");
  }();
  CheckpointFile again(ledger, folder, "b");
  EXPECT_NE(again.prepare("same").substr(0, 64), first.substr(0, 64));
}

TEST_P(Checkpoints, OfTwoProcessesThatResumeFromOneCheckpointOneStops) {
  Ledger one = open_ledger(place());
  come_to(one, "a", 1);
  const fs::path elsewhere =
      folder / "elsewhere";  // another machine's folder, which has no lock in common
  fs::create_directory(elsewhere);
  fs::copy(file("a", 1), elsewhere);
  Ledger two = open_ledger(place());
  CheckpointFile first(one, folder, "a");
  CheckpointFile second(two, elsewhere, "a");
  EXPECT_EQ(first.read(), second.read());
  first.write("one way");
  EXPECT_TRUE(mentions(error_of([&] { second.write("another way"); }), "another process resumed"));
  EXPECT_EQ(CheckpointFile(two, elsewhere / "", "b").read(), std::nullopt);
  EXPECT_TRUE(mentions(error_of([&] { CheckpointFile(two, folder, "a"); }),
                       "another process runs request"));
}

TEST_P(Checkpoints, TheLockEndsWithItsHolder) {
  Ledger one = open_ledger(place());
  const auto locks = [&] {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".lock") files.push_back(entry.path().string());
    }
    return files;
  };
  const std::string refused = "another process runs request";
  {
    CheckpointFile holder(one, folder, "a");
    EXPECT_EQ(locks().size(), 1U);
    EXPECT_TRUE(mentions(error_of([&] { CheckpointFile(one, folder, "a"); }), refused));
    CheckpointFile::remove(folder, "a");  // as a process does that answered the request
    EXPECT_TRUE(mentions(error_of([&] { CheckpointFile(one, folder, "a"); }), refused));
  }
  EXPECT_EQ(locks(), std::vector<std::string>{});  // although the request has no answer
  EXPECT_EQ(error_of([&] { CheckpointFile(one, folder, "a"); }), "");
}

TEST_P(Checkpoints, AnotherKeyOfTheLedgerCannotDecrypt) {
  Ledger ledger = open_ledger(place());
  come_to(ledger, "a", 1);
  const Ledger stranger = Ledger::open(place(), {.key = (folder / "none.key").string()});
  EXPECT_TRUE(
      mentions(CheckpointFile::obstacle(stranger, folder, "a").value_or(""), "there is no key"));
}

TEST_P(Checkpoints, ARequestThatCannotResumeIsClosedWithTheReason) {
  Ledger ledger = open_ledger(place());
  int drawn = 0;
  RequestWork work;
  work.run = [&](const Entry& charge, const BeginMark& begin) -> std::string {
    CheckpointFile checkpoints(ledger, folder, charge.request);
    const auto checkpoint = checkpoints.read();
    if (!checkpoint) begin(checkpoints.prepare("start"));
    ++drawn;
    if (!checkpoint) throw std::runtime_error("stopped");
    return *checkpoint;
  };
  work.obstacle = [&](const std::string& request) {
    return CheckpointFile::obstacle(ledger, folder, request);
  };
  const Ledger::ChargeRequest order{.request = "b", .content = "", .event = pure(1)};
  EXPECT_TRUE(mentions(error_of([&] { run_request(ledger, order, work); }),
                       "the same request resumes from the last checkpoint"));
  const std::string right = bytes_of(file("b", 0));
  put(file("b", 0), "other");
  const std::string words = error_of([&] { run_request(ledger, order, work); });
  EXPECT_TRUE(mentions(words, "is not the one that the ledger marks") &&
              mentions(words, "It stays charged and is not run again"))
      << words;
  EXPECT_EQ(drawn, 1);
  put(file("b", 0), right);
  EXPECT_EQ(run_request(ledger, order, work).answer, "start");
  EXPECT_EQ(drawn, 2);
}

// Kills a process at random moments: it never resumes from before an acknowledged checkpoint, and
// the request can always be resumed.
TEST_P(Checkpoints, AKilledProcessResumesFromItsLastAcknowledgedCheckpoint) {
  int acknowledged = -1;
  for (int round = 0; round < 12; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      Ledger ledger = open_ledger(place());
      CheckpointFile checkpoints(ledger, folder, "a");
      const auto checkpoint = checkpoints.read();
      int at = checkpoint ? std::stoi(*checkpoint) : 0;
      if (!checkpoint) ledger.begin("a", checkpoints.prepare("0"));
      for (;; ++at) {
        if (write(ends[1], &at, sizeof at) != sizeof at) _exit(1);
        checkpoints.write(std::to_string(at + 1));
      }
    }
    close(ends[1]);
    int at = 0;
    ASSERT_EQ(::read(ends[0], &at, sizeof at), static_cast<ssize_t>(sizeof at));
    EXPECT_GE(at, acknowledged);
    const auto start = std::chrono::steady_clock::now();
    for (auto marks = uniform_below(3); marks > 0; --marks)
      ASSERT_EQ(::read(ends[0], &at, sizeof at), static_cast<ssize_t>(sizeof at));
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::steady_clock::now() - start)
                          .count();
    std::this_thread::sleep_for(std::chrono::microseconds(
        uniform_below(static_cast<std::uint64_t>(std::clamp<long>(took, 5'000, 100'000)))));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    do {
      acknowledged = at;
    } while (::read(ends[0], &at, sizeof at) == static_cast<ssize_t>(sizeof at));
    close(ends[0]);
    ASSERT_EQ(obstacle(), "");
    const int now = std::stoi(read());
    EXPECT_TRUE(now == acknowledged || now == acknowledged + 1)
        << now << " behind " << acknowledged;
    acknowledged = now;
  }
  EXPECT_GT(acknowledged, 0);
  EXPECT_TRUE(is_sound(place()));
}

TEST(CheckpointDatabase, ADatabaseWithoutCheckpointsIsRefusedBeforeTheCharge) {
  if (!PostgresServer::installed())
    GTEST_SKIP() << "no PostgreSQL server is installed (Debian: postgresql)";
  Places places(Kind::database);
  const Ledger ledger = create_ledger(
      places.place(), {"people", "person", Relation::add_remove, ApproximateBudget{10, 0}});
  EXPECT_NO_THROW(CheckpointFile::require_folder(ledger, fs::temp_directory_path()));
  places.execute("budget",
                 "CREATE OR REPLACE FUNCTION add(before text, rows json, answer text) RETURNS void "
                 "LANGUAGE plpgsql AS $$ BEGIN END $$");
  EXPECT_TRUE(
      mentions(error_of([&] { CheckpointFile::require_folder(ledger, fs::temp_directory_path()); }),
               "export"));
}

}  // namespace
}  // namespace sotto
