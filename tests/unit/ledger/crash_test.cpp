// A ledger whose process is killed at any moment: what was acknowledged is there, and the file is sound.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "sotto/ledger/ledger.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// A child charges and answers, one request after the other, and says so only after each is done; it is killed after a random time.
void kill_rounds(int rounds) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("sotto-crash-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / "budget.sotto";
  (void)Ledger::create(path, {"people", "person", Relation::add_remove, ApproximateBudget{1e6, 0}});
  std::size_t acknowledged = 0;
  std::size_t answered = 0;
  for (int round = 0; round < rounds; ++round) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      Ledger ledger = Ledger::open(path);
      for (int i = 0;; ++i) {
        const std::string request = std::to_string(round) + "-" + std::to_string(i);
        ledger.charge(request, "", pure(1));
        if (write(ends[1], "c", 1) != 1) _exit(1);
        ledger.keep_answer(request, "answer of " + request);
        if (write(ends[1], "a", 1) != 1) _exit(1);
      }
    }
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(uniform_below(40'000)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    char letter = 0;
    while (read(ends[0], &letter, 1) == 1) ++(letter == 'c' ? acknowledged : answered);
    close(ends[0]);

    const Ledger ledger = Ledger::open(path);
    const std::vector<Entry> entries = ledger.entries();
    ASSERT_GE(entries.size(), acknowledged);  // nothing that was acknowledged is lost
    ASSERT_LE(entries.size(), acknowledged + 1 + static_cast<std::size_t>(round));
    acknowledged = entries.size();  // a charge that was written but not yet acknowledged stays
    std::size_t kept = 0;
    for (const Entry& entry : entries) kept += ledger.answer(entry.request) ? 1 : 0;
    ASSERT_GE(kept, answered);
    answered = kept;
    const Finding finding = ledger.verify();
    ASSERT_TRUE(finding.sound) << finding.words;
    ASSERT_EQ(ledger.filter().spent().amount, static_cast<double>(entries.size()));
  }
  EXPECT_GT(acknowledged, static_cast<std::size_t>(rounds) / 4);
  std::filesystem::remove_all(folder);
}

TEST(Crash, AKilledProcessLosesNothingThatWasAcknowledged) { kill_rounds(40); }
TEST(SlowCrash, AKilledProcessLosesNothingThatWasAcknowledgedIn500Rounds) { kill_rounds(500); }

}  // namespace
}  // namespace sotto
