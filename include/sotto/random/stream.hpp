// Random bits that several threads or processes of one run can compute alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sotto {

/// 256 random bits, drawn from this thread's generator, never chosen: whoever knows them knows every stream that comes from them.
class Secret {
 public:
  Secret();
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();
  using Words = std::array<std::uint64_t, 4>;
  /// For the other processes of the same run, and nobody else.
  [[nodiscard]] const Words& words() const { return words_; }
  static Secret of_the_same_run(const Words& words) { return Secret(words); }

 private:
  explicit Secret(const Words& words) : words_(words) {}
  Words words_;
};

/// AES-256 in counter mode under a secret: one stream of bits for each pair of numbers below 2^48. A stream must have one use: two draws from equal
/// pairs are equal.
class Stream {
 public:
  explicit Stream(const Secret& secret);
  Stream(Stream&&) noexcept;
  ~Stream();
  /// From here on the stream of this pair, from its beginning.
  void start(std::uint64_t first, std::uint64_t second);
  std::uint64_t word() {
    if (next_ == words_a_block) refill();
    return block_[next_++];
  }
  std::uint64_t more() { return word(); }

 private:
  void refill();
  static constexpr std::size_t words_a_block = 64;
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
  std::array<std::uint64_t, words_a_block> block_{};
  std::size_t next_ = words_a_block;
};

}  // namespace sotto
