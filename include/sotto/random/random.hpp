// Random bits that nobody can foretell, the only source of noise there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace sotto {

/// The operating system gave no entropy. Nothing may be released.
class NoEntropy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// AES-256 in counter mode, keyed by the operating system; one generator a thread.
///
/// Each block of output starts with the next key, which replaces the present one before a byte is handed out, and every word is
/// wiped as it is taken: a later look at the memory tells nothing of earlier words. The state lies in pages that the kernel
/// empties in a forked child, which then keys itself anew. There is no way to seed it.
class Random final {
 public:
  /// This thread's generator. Throws NoEntropy.
  static Random& here();

  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;
  ~Random();

  /// 64 random bits, from the front of the block.
  std::uint64_t word() {
    if (state_->front == state_->back) refill();
    return taken(state_->words[state_->front++]);
  }
  /// 64 random bits, from its back: for what one word in front left open, so that words in front stay in step with draws.
  std::uint64_t more() {
    if (state_->front == state_->back) refill();
    return taken(state_->words[--state_->back]);
  }
  /// The words in front that come next, at least one; they stay in place until `take` takes the first n of them.
  std::span<const std::uint64_t> ahead() {
    if (state_->front == state_->back) refill();
    return {state_->words + state_->front, state_->back - state_->front};
  }
  void take(std::size_t n);

 private:
  Random();
  [[gnu::cold]] void refill();
  static std::uint64_t taken(std::uint64_t& place) {
    const std::uint64_t word = place;
    place = 0;
    return word;
  }

  static constexpr std::size_t words_a_block = 1024;
  static constexpr std::size_t words_of_key = 6;  // 32 bytes of key, 16 of counter
  // In a child of fork all of it is zero: no word is left between front and back, and it is not keyed.
  struct State {
    std::uint64_t front;
    std::uint64_t back;
    std::uint64_t keyed;
    std::uint64_t key[words_of_key];
    std::uint64_t words[words_a_block];
  };
  struct Cipher;

  State* state_ = nullptr;
  Cipher* cipher_ = nullptr;
};

}  // namespace sotto
