// The generator of cryptographic random bits. Every draw of noise uses it and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace sotto {

/// The error for a generator without entropy from the operating system. Nothing may be released.
class NoEntropy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A generator of words, which are 64 independent fair bits each: AES-256 in counter mode with a
/// key from the operating system. Each thread has its own generator; it is not safe to share one.
/// It cannot be seeded.
///
/// A block of output holds the next key and 1024 words. The next key replaces the current one
/// before the first word is returned, and each word is wiped from memory as it is returned, so that
/// the memory reveals no earlier word (forward secrecy). The state lies in pages that the kernel
/// fills with zeros in a forked child, which then asks the operating system for a key.
class Random final {
 public:
  /// Returns the generator of this thread. Throws NoEntropy.
  static Random& here();

  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;
  ~Random();

  /// Returns the next word from the front of the block.
  std::uint64_t word() {
    if (state_->front == state_->back) refill();
    return take_and_wipe(state_->words[state_->front++]);
  }
  /// Returns a word from the back of the block. A draw that its first word does not decide takes
  /// the others from the back, so that n draws take exactly n words from the front, whatever they
  /// decide. That lets a batch of draws read the front ahead (front_words()).
  std::uint64_t extra_word() {
    if (state_->front == state_->back) refill();
    return take_and_wipe(state_->words[--state_->back]);
  }
  /// Returns the words, at least one, that word() would return next. They stay until consume().
  std::span<const std::uint64_t> front_words() {
    if (state_->front == state_->back) refill();
    return {state_->words + state_->front, state_->back - state_->front};
  }
  /// Wipes the first n of front_words(), as n calls of word() would.
  void consume(std::size_t n);

 private:
  Random();
  [[gnu::cold]] void refill();
  static std::uint64_t take_and_wipe(std::uint64_t& place) {
    const std::uint64_t word = place;
    place = 0;
    return word;
  }

  static constexpr std::size_t words_a_block = 1024;
  static constexpr std::size_t words_of_key = 6;  // 32 bytes of key, 16 of counter
  // All zeros, as in a forked child, mean: no words between front and back, and no key.
  struct State {
    std::uint64_t front;  // the words from here to `back` are unused
    std::uint64_t back;
    std::uint64_t keyed;  // 1 if the cipher has a key
    std::uint64_t key[words_of_key];
    std::uint64_t words[words_a_block];
  };
  struct Cipher;

  State* state_ = nullptr;
  Cipher* cipher_ = nullptr;
};

}  // namespace sotto
