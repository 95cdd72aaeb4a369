// Kills processes at random moments: every acknowledged charge and answer is in the ledger, and the
// ledger is sound.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "places.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// A child charges and answers one request after the other, acknowledges each when it is done, and
// is killed after a random time.
void kill_rounds(const std::string& path, int rounds) {
  (void)create_ledger(path, {"people", "person", Relation::add_remove, ApproximateBudget{1e6, 0}});
  std::size_t acknowledged = 0;
  std::size_t begun = 0;
  std::size_t answered = 0;
  std::chrono::microseconds usual(10'000);  // what a charge takes here
  for (int round = 0; round < rounds; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Ledger ledger = open_ledger(path);
      if (write(ends[1], "o", 1) != 1) _exit(1);
      for (int i = 0;; ++i) {
        const std::string request = std::to_string(round) + "-" + std::to_string(i);
        ledger.charge(request, "", pure(1));
        if (write(ends[1], "c", 1) != 1) _exit(1);
        ledger.begin(request);
        if (write(ends[1], "b", 1) != 1) _exit(1);
        ledger.keep_answer(request, "answer of " + request);
        if (write(ends[1], "a", 1) != 1) _exit(1);
      }
    }
    close(ends[1]);
    char letter = 0;
    ASSERT_EQ(read(ends[0], &letter, 1), 1);  // it is at work
    std::this_thread::sleep_for(
        std::chrono::microseconds(uniform_below(static_cast<std::uint64_t>(4 * usual.count()))));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &letter, 1) == 1)
      ++(letter == 'c' ? acknowledged : letter == 'b' ? begun : answered);
    close(ends[0]);

    Ledger ledger = open_ledger(path);
    const auto start = std::chrono::steady_clock::now();
    ledger.charge("after round " + std::to_string(round), "",
                  pure(1));  // a server may still be at the last commit of the dead
    usual = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                  start);
    ++acknowledged;
    const std::vector<Entry> entries = ledger.entries();
    ASSERT_GE(entries.size(), acknowledged);  // nothing that was acknowledged is lost
    ASSERT_LE(entries.size(), acknowledged + 1);
    acknowledged = entries.size();  // a charge that was written but not yet acknowledged stays
    std::size_t answers = 0;
    const std::string text = ledger.export_text();
    for (auto at = text.find("answer of"); at != std::string::npos;
         at = text.find("answer of", at + 1))
      ++answers;
    ASSERT_GE(answers, answered);
    answered = answers;
    // Every acknowledged mark is there, so a begun request is never run again.
    std::size_t marked = 0;
    for (auto at = text.find("\"kind\":\"begun\""); at != std::string::npos;
         at = text.find("\"kind\":\"begun\"", at + 1))
      ++marked;
    ASSERT_GE(marked, begun);
    begun = marked;
    const Finding finding = ledger.verify();
    ASSERT_TRUE(finding.sound) << finding.words;
    ASSERT_EQ(ledger.filter().spent().amount, static_cast<double>(entries.size()));
  }
  EXPECT_GT(acknowledged, static_cast<std::size_t>(rounds));  // some were at work
  EXPECT_GT(answered, 0U);
  EXPECT_GE(begun, answered);
}

class Crash : public AnyLedger {};
class SlowCrash : public AnyLedger {};
INSTANTIATE_TEST_SUITE_P(In, Crash, ::testing::Values(Kind::file, Kind::database), kind_name);
INSTANTIATE_TEST_SUITE_P(In, SlowCrash, ::testing::Values(Kind::file, Kind::database), kind_name);

TEST_P(Crash, AKilledProcessLosesNothingThatWasAcknowledged) {
  kill_rounds(place(), GetParam() == Kind::file ? 40 : 15);
}
TEST_P(SlowCrash, AKilledProcessLosesNothingThatWasAcknowledgedIn500Rounds) {
  kill_rounds(place(), 500);
}

}  // namespace
}  // namespace sotto
