// Deterministic entropy for tests. If RC_PARAMS is set, as ctest sets it for the fast tests,
// getrandom() returns the same bytes in every run, so that no test of noise fails by chance. The
// linker takes this getrandom() before the C library's.
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

const pid_t first_process = getpid();
std::atomic<std::uint64_t> drawn{0};

// The finaliser of SplitMix64.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

}  // namespace

extern "C" ssize_t getrandom(void* into, size_t size, unsigned flags) {
  const ssize_t got = syscall(SYS_getrandom, into, size, flags);
  if (got < 0 || std::getenv("RC_PARAMS") == nullptr) return got;
  // a child gets bytes of its own
  const std::uint64_t forked =
      getpid() == first_process ? 0 : static_cast<std::uint64_t>(getpid()) << 32U;
  for (size_t done = 0; done < size; done += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix(mix(++drawn * 0x9e3779b97f4a7c15U) ^ forked);
    std::memcpy(static_cast<char*>(into) + done, &word,
                size - done < sizeof word ? size - done : sizeof word);
  }
  return static_cast<ssize_t>(size);
}
