// The generator: its key, the wiping of words, independence of threads and children, and the error
// without entropy.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "sotto/random/random.hpp"

namespace sotto {
namespace {

TEST(Generator, HasNoSeedAndNoCopy) {
  static_assert(!std::is_default_constructible_v<Random>);
  static_assert(!std::is_constructible_v<Random, std::uint64_t>);
  static_assert(!std::is_copy_constructible_v<Random> && !std::is_move_constructible_v<Random>);
}

TEST(Generator, RepeatsInTheFastSuiteOnly) {
  // returns the first word of a new process
  const auto first_word = [](const char* parameters) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      parameters == nullptr ? unsetenv("RC_PARAMS") : setenv("RC_PARAMS", parameters, 1);
      setenv("PRINT_WORD", "1", 1);
      execl("/proc/self/exe", "unit_random", "--gtest_filter=Generator.PrintsAWord", nullptr);
      _exit(1);
    }
    close(ends[1]);
    std::string text;
    char c = 0;
    while (read(ends[0], &c, 1) == 1) text += c;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    const auto at = text.find("word ");
    EXPECT_NE(at, std::string::npos);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(first_word("seed=1"), first_word("seed=1"));
  EXPECT_NE(first_word(nullptr), first_word(nullptr));
}

TEST(Generator, PrintsAWord) {
  const std::uint64_t word = Random::here().word();
  if (std::getenv("PRINT_WORD") != nullptr)
    std::printf("word %016llx\n", static_cast<unsigned long long>(word));
}

TEST(Generator, WordsDoNotRepeat) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100'000; ++i) seen.insert(Random::here().word());
  EXPECT_EQ(seen.size(), 100'000U);
}

TEST(Generator, EveryBitIsFair) {
  std::array<int, 64> ones{};
  constexpr int draws = 200'000;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t word = Random::here().word();
    for (unsigned bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>((word >> bit) & 1U);
  }
  for (const int count : ones) EXPECT_NEAR(count, draws / 2, 6 * 224);  // six standard deviations
}

TEST(Generator, WordsAreWipedAsTheyAreReturned) {
  Random& random = Random::here();
  while (random.front_words().size() < 16) random.word();
  const std::uint64_t* place = random.front_words().data();
  const std::uint64_t next = *place;
  EXPECT_EQ(random.word(), next);
  EXPECT_EQ(*place, 0U);
  random.consume(8);
  for (int i = 1; i <= 8; ++i) EXPECT_EQ(place[i], 0U);
  EXPECT_NE(place[9], 0U);
}

TEST(Generator, ThreadsDiffer) {
  std::vector<std::uint64_t> firsts(8);
  std::vector<std::thread> threads;
  for (std::uint64_t& first : firsts)
    threads.emplace_back([&first] { first = Random::here().word(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::uint64_t>(firsts.begin(), firsts.end()).size(), firsts.size());
}

// Runs f in a child process and returns its words.
template <class F>
std::vector<std::uint64_t> in_child(F f) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::vector<std::uint64_t> words = f();
    const ssize_t written = write(ends[1], words.data(), words.size() * 8);
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::vector<std::uint64_t> words(4096);
  std::size_t bytes = 0;
  for (;;) {
    const ssize_t got =
        read(ends[0], reinterpret_cast<char*>(words.data()) + bytes, words.size() * 8 - bytes);
    if (got <= 0) break;
    bytes += static_cast<std::size_t>(got);
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  words.resize(bytes / 8);
  return words;
}

TEST(Generator, AChildNeverRepeatsItsParent) {
  Random& random = Random::here();
  (void)random.word();  // get a key before the fork, and stop in the middle of a block
  const auto some = [&random] {
    std::vector<std::uint64_t> words;
    // the rest of this block and the next ones
    for (int i = 0; i < 2000; ++i) words.push_back(random.word());
    return words;
  };
  const std::vector<std::uint64_t> first = in_child(some);
  const std::vector<std::uint64_t> second = in_child(some);
  const std::vector<std::uint64_t> own = some();
  ASSERT_EQ(first.size(), 2000U);
  ASSERT_EQ(second.size(), 2000U);
  std::set<std::uint64_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  all.insert(own.begin(), own.end());
  EXPECT_EQ(all.size(), 6000U);
}

// Makes getrandom fail in this process. Returns false if the kernel cannot.
bool refuse_getrandom() {
  std::array<sock_filter, 4> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1U),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Generator, WithoutEntropyThereIsNoWord) {
  const std::vector<std::uint64_t> outcome = in_child([]() -> std::vector<std::uint64_t> {
    if (!refuse_getrandom()) return {2};
    try {
      return {0, Random::here().word()};
    } catch (const NoEntropy&) {
      return {1};
    }
  });
  ASSERT_EQ(outcome.size(), 1U);
  if (outcome[0] == 2) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(outcome[0], 1U);
}

}  // namespace
}  // namespace sotto
