// Sources of words that a test chooses, in the place of Random, which cannot be seeded. Release
// code cannot use them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <vector>

#include "random/batch.hpp"
#include "random/coins.hpp"

namespace sotto::testing {

/// A source with fixed words in front and fixed extra words.
class Script {
 public:
  explicit Script(std::vector<std::uint64_t> words, std::vector<std::uint64_t> back = {})
      : words_(std::move(words)), back_(std::move(back)) {}
  std::uint64_t word() { return next_of(words_, next_); }
  std::uint64_t extra_word() { return next_of(back_, next_back_); }
  [[nodiscard]] std::span<const std::uint64_t> front_words() const {
    if (next_ == words_.size()) throw std::out_of_range("the script has no more words");
    return std::span(words_).subspan(next_);
  }
  void consume(std::size_t n) { next_ += n; }
  [[nodiscard]] std::pair<std::size_t, std::size_t> used() const { return {next_, next_back_}; }

 private:
  static std::uint64_t next_of(const std::vector<std::uint64_t>& words, std::size_t& next) {
    if (next == words.size()) throw std::out_of_range("the script has no more words");
    return words[next++];
  }
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> back_;
  std::size_t next_ = 0;
  std::size_t next_back_ = 0;
};

/// A source of some words, then `rest` eight times, then its complement without end. If `rest` is
/// all ones or all zeros, that is a point next to the end of an interval of bits. The end itself
/// could be a tie, which random bits are with probability zero.
class Prefix {
 public:
  Prefix(std::vector<std::uint64_t> words, std::uint64_t rest)
      : words_(std::move(words)), rest_(rest) {
    words_.insert(words_.end(), 8, rest);
  }
  std::uint64_t word() { return next_ < words_.size() ? words_[next_++] : ~rest_; }
  std::uint64_t extra_word() { return word(); }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t rest_;
  std::size_t next_ = 0;
};

/// A pseudo-random source from a seed, for replays (SplitMix64).
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t extra_word() { return word(); }

 private:
  std::uint64_t state_;
};

}  // namespace sotto::testing
