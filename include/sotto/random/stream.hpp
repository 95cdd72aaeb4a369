// Reproducible random bits, for threads and processes of one run that must draw equal values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sotto {

/// A key of 256 random bits that streams are derived from. A new one comes from this thread's
/// generator, never from a seed. Its bits reveal every stream that is derived from it.
class Secret {
 public:
  Secret();
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();
  using Words = std::array<std::uint64_t, 4>;
  /// The bits, to be sent to other processes of the same run and to nobody else.
  [[nodiscard]] const Words& words() const { return words_; }
  /// Returns the secret of another process of the same run, from its words().
  static Secret from_words(const Words& words) { return Secret(words); }

 private:
  explicit Secret(const Words& words) : words_(words) {}
  Words words_;
};

/// AES-256 in counter mode under a secret: a separate stream of words for each pair of numbers
/// below 2^48. Equal pairs give equal words, so a pair must serve one draw only.
class Stream {
 public:
  explicit Stream(const Secret& secret);
  Stream(Stream&&) noexcept;
  ~Stream();
  /// Moves to the beginning of the stream of a pair. Throws InvalidValue unless both numbers are
  /// below 2^48.
  void start(std::uint64_t first, std::uint64_t second);
  /// Returns the next word of the stream.
  std::uint64_t word() {
    if (next_ == words_a_block) refill();
    return block_[next_++];
  }
  /// Returns the next word, too: samplers ask Random for words beyond the first of a draw by this
  /// name.
  std::uint64_t extra_word() { return word(); }

 private:
  void refill();
  static constexpr std::size_t words_a_block = 64;
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
  std::array<std::uint64_t, words_a_block> block_{};
  std::size_t next_ = words_a_block;
};

}  // namespace sotto
