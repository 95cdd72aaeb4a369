// Compares secure aggregation with the cipher behind its masks, and times whole rounds: `./dev
// bench federated`.
//
//   bench_federated            masks, then rounds of 20 x 10^6 and 100 x 10^5 elements
//   bench_federated masks      masks alone; the peers' script reads the last line
//
// Times are processor time of one thread, the best of several runs, because other work on the
// machine makes everything slower, never faster.
#include <openssl/evp.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../tests/support/federation.hpp"
#include "sotto/random/noise.hpp"

namespace {

using namespace sotto;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double best_of(int times, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) {
    const double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

// Times the cipher alone over the same number of bytes, in blocks that fit into the first-level
// cache.
double cipher_seconds(std::size_t bytes) {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  std::array<unsigned char, 32> key{1};
  std::array<unsigned char, 16> counter{};
  std::vector<unsigned char> zeros(16384);
  std::vector<unsigned char> out(16384);
  const double best = best_of(7, [&] {
    EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, key.data(), counter.data());
    for (std::size_t done = 0; done < bytes; done += out.size()) {
      int size = 0;
      EVP_EncryptUpdate(context, out.data(), &size, zeros.data(), static_cast<int>(out.size()));
    }
  });
  EVP_CIPHER_CTX_free(context);
  return best;
}

void masks() {
  constexpr std::size_t count = 1 << 20;
  constexpr std::size_t peers = 16;
  std::printf("one element and mask, %zu elements, %zu masks, one thread\n", count, peers);
  std::printf("%-8s %12s %12s %8s\n", "bits", "AES-256-CTR", "masking", "ratio");
  for (const int bits : {64, 32}) {
    const auto primitives = real_primitives(bits);
    std::vector<SignedMask> keys;
    for (std::size_t i = 0; i < peers; ++i) keys.push_back({primitives->secret(), i % 2 == 0});
    Bytes vector(count * static_cast<std::size_t>(bits) / 8, 0);
    const double per = 1e9 / static_cast<double>(count * peers);
    const double cipher = cipher_seconds(vector.size() * peers) * per;
    const double masking = best_of(7, [&] { primitives->mask(vector, keys); }) * per;
    std::printf("%-8d %9.3f ns %9.3f ns %8.2f\n", bits, cipher, masking, masking / cipher);
    if (bits == 32) std::printf("masking-32 %.4f\n", masking);
  }
}

// Runs one round of all members in this process: the time of a member and of the coordinator, and
// the bytes on the wire.
void round_of(std::int64_t members, std::int64_t size) {
  testing::Gathering g(members, 1, 2 * members / 3 + 1, size, 64);
  const RoundedNoise noise(NoiseKind::gaussian, 1000, 0);
  std::vector<double> numbers(static_cast<std::size_t>(size));
  const double noisy = best_of(2, [&] { noise.add(numbers); });
  std::size_t up = 0;
  std::size_t down = 0;
  double of_member = 0;
  double of_relay = 0;
  std::vector<std::size_t> seen(static_cast<std::size_t>(members));
  const Bytes zero(static_cast<std::size_t>(size) * 8, 0);
  for (std::int64_t i = 0; i < members; ++i) {
    const Bytes keys = g.rounds[static_cast<std::size_t>(i)]->keys();
    up += keys.size();
    g.relay->receive(i, keys);
  }
  while (true) {
    bool moved = false;
    for (std::int64_t i = 0; i < members; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (seen[at] >= g.relay->messages_for(i)) continue;
      moved = true;
      const Bytes message = g.relay->message_for(i, seen[at]++);
      down += message.size();
      // the end of a round is the same work for every member, so one of them is timed
      if (g.relay->phase() == RelayRound::Phase::done && i > 0) continue;
      double start = cpu_seconds();
      const auto answer = g.rounds[at]->receive(message, [&] { return zero; });
      of_member += (cpu_seconds() - start) * (g.relay->phase() == RelayRound::Phase::done && i == 0
                                                  ? static_cast<double>(members)
                                                  : 1);
      if (!answer) continue;
      up += answer->size();
      start = cpu_seconds();
      g.relay->receive(i, *answer);
      of_relay += cpu_seconds() - start;
    }
    if (!moved) break;
  }
  if (!g.rounds[0]->result()) {
    std::printf("the round failed: %s\n", g.relay->failure().c_str());
    return;
  }
  const double n = static_cast<double>(members);
  std::printf("%6ld x %-9ld %9.2f s %9.2f s %9.3f s %10.2f MB %10.2f MB\n",
              static_cast<long>(members), static_cast<long>(size), of_member / n, of_relay, noisy,
              static_cast<double>(up) / n / 1e6, static_cast<double>(down) / n / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  masks();
  if (argc > 1 && std::string(argv[1]) == "masks") return 0;
  std::printf(
      "\none round, 64 bits, complete graph: processor time of a member (all phases, and checking "
      "the sum), of the coordinator, of the noise; bytes "
      "up "
      "and down a member\n");
  std::printf("%-18s %11s %11s %11s %13s %13s\n", "members x elements", "member", "coordinator",
              "noise", "up", "down");
  round_of(20, 1'000'000);
  round_of(100, 100'000);
}
