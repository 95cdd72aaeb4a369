// The one machine behind every sampler: |noise| from columns under its density.
//
// The half line is cut into 1023 columns of width 1 and a tail; f falls from f(0) = 1. Column i has the whole weights
// F_i <= S f(i+1) and C_i >= S f(i) (of the last and the first whole number in it, where y is whole). A column is chosen with
// probability F_i/2^30: below F_i no ordinate is needed, every y of the column is as likely as any other. What is left of 2^30 is
// the slow item: the caps between F_i and C_i, the tail, and nothing (start again). In a cap a point (y, V) is drawn and kept
// where it lies below the curve. The tail is cut into strips of a width over which f falls to less than half: strip j is
// chosen with probability 2^-(j+1), never cut off. Bits are drawn as they are needed: an undecided comparison draws more.
// docs/theory/noise.md has the argument.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "exact.hpp"

namespace sotto::detail {

inline constexpr int slot_bits = 10;
inline constexpr int threshold_bits = 20;
inline constexpr std::uint32_t columns = (1U << slot_bits) - 1;
inline constexpr std::uint32_t slow_item = columns;
inline constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;
inline constexpr std::uint32_t threshold_mask = (1U << threshold_bits) - 1;
inline constexpr std::uint32_t all_weight = 1U << (slot_bits + threshold_bits);
inline constexpr int sign_bit = slot_bits + threshold_bits;
inline constexpr int abscissa_shift = sign_bit + 1;
inline constexpr int abscissa_bits = 64 - abscissa_shift;  // of a word, for y within its column

// Whole numbers v below n, each exactly as likely.
template <class Bits>
std::uint64_t uniform_below(Bits& bits, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  for (;;) {
    const Wide product = static_cast<Wide>(bits.word()) * n;
    // the n products share 2^64 low parts evenly once the first 2^64 mod n of them are left out
    if (static_cast<std::uint64_t>(product) >= (0 - n) % n) return static_cast<std::uint64_t>(product >> 64U);
  }
}

struct Table {
  Curve curve;
  double tau;
  bool real;
  int fraction;                                  // y has this many bits within its column; a real y has more, as they are asked for
  std::uint32_t scale;                           // S
  std::array<std::uint32_t, columns + 1> entry;  // threshold << slot_bits | alias
  std::array<std::uint32_t, columns> floor;      // F
  std::array<std::uint32_t, columns> slow;       // C - F, summed up to and with i
  std::uint32_t tail;                            // its weight
  std::uint32_t left;                            // of the slow item: caps, tail, and nothing
  int strip;                                     // log2 of a strip's width

  Table(Curve curve, double tau, bool real, int fraction);
};

// f(y) in doubles, off by less than one part in 2^40.
inline double height(Curve curve, double tau, double y) {
  const double z = y / tau;
  return std::exp(curve == Curve::gaussian ? -z * z / 2 : -z);
}

// Is the level floor + V gap, over 2^power, below S f(y)? V is drawn.
template <class Bits>
bool is_below(Bits& bits, double floor, double gap, int power, const Table& table, Position& y) {
  const std::uint64_t word = bits.word();
  // with 53 bits of V and y the doubles decide nearly always
  const double level = std::ldexp(floor + static_cast<double>(word >> 11U) * 0x1p-53 * gap, -power);
  const double value = table.scale * height(table.curve, table.tau, std::ldexp(static_cast<double>(y.head), -y.fraction));
  const double doubt = 0x1p-24 * value + std::ldexp(0x1p-50 * (floor + gap), -power) + 1e-290;
  if (level < value - doubt) return true;
  if (level > value + doubt) return false;
  Ordinate ordinate{{word}, floor, gap, power};
  for (;;) {
    if (const auto known = below(ordinate, table.scale, table.curve, table.tau, y)) return *known;
    ordinate.words.push_back(bits.word());
    if (y.real) y.more.push_back(bits.word());
  }
}

// A cap: column i, y anywhere in it, kept where the curve is above.
template <class Bits>
bool in_cap(Bits& bits, const Table& table, std::uint32_t i, Position& y) {
  const std::uint64_t within = table.fraction == 0 ? 0 : bits.word() >> (64 - table.fraction);
  y = {(static_cast<std::uint64_t>(i) << static_cast<unsigned>(table.fraction)) | within, table.fraction, table.real};
  const std::uint32_t gap = table.slow[i] - (i == 0 ? 0 : table.slow[i - 1]);
  return is_below(bits, table.floor[i], gap, 0, table, y);
}

// The tail: strip j, y anywhere in it.
template <class Bits>
bool in_tail(Bits& bits, const Table& table, Position& y) {
  std::uint64_t j = 0;
  for (;;) {
    const std::uint64_t word = bits.word();
    j += static_cast<std::uint64_t>(std::countl_zero(word));
    if (word != 0) break;
  }
  const int size = table.strip + table.fraction;  // bits of y within a strip
  const std::uint64_t within = size == 0 ? 0 : bits.word() >> (64 - size);
  const std::uint64_t start = (columns + (j << static_cast<unsigned>(table.strip))) << static_cast<unsigned>(table.fraction);
  y = {start + within, table.fraction, table.real};
  return is_below(bits, 0, table.tail, table.strip + static_cast<int>(j) + 1, table, y);
}

// One try at the slow item; false: start again from the first word.
template <class Bits>
bool slowly(Bits& bits, const Table& table, Position& y) {
  const auto pick = static_cast<std::uint32_t>(uniform_below(bits, table.left));
  if (pick < table.slow.back()) {
    std::uint32_t low = 0;
    std::uint32_t high = columns - 1;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (table.slow[middle] > pick) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return in_cap(bits, table, low, y);
  }
  return pick - table.slow.back() < table.tail && in_tail(bits, table, y);
}

inline std::uint32_t item_of(const Table& table, std::uint64_t word) {
  const auto slot = static_cast<std::uint32_t>(word) & slot_mask;
  const auto position = static_cast<std::uint32_t>(word >> slot_bits) & threshold_mask;
  const std::uint32_t entry = table.entry[slot];
  // without a branch, which half of all draws would mispredict
  const std::uint32_t own = 0U - static_cast<std::uint32_t>(position < (entry >> slot_bits));
  return (slot & own) | (entry & slot_mask & ~own);
}

inline bool is_negative(std::uint64_t word) { return ((word >> sign_bit) & 1U) != 0; }

// The position and its sign, from this word on.
template <class Bits>
std::pair<Position, bool> draw_from(Bits& bits, const Table& table, std::uint64_t word) {
  for (;; word = bits.word()) {
    const std::uint32_t item = item_of(table, word);
    if (item != slow_item) {
      const std::uint64_t within = table.fraction <= abscissa_bits ? (word >> abscissa_shift) >> static_cast<unsigned>(abscissa_bits - table.fraction)
                                                                   : bits.word() >> static_cast<unsigned>(64 - table.fraction);
      return {{(static_cast<std::uint64_t>(item) << static_cast<unsigned>(table.fraction)) | within, table.fraction, table.real}, is_negative(word)};
    }
    Position y{0, 0, false};
    if (slowly(bits, table, y)) return {std::move(y), is_negative(word)};
  }
}

template <class Bits>
std::pair<Position, bool> draw(Bits& bits, const Table& table) {
  return draw_from(bits, table, bits.word());
}

}  // namespace sotto::detail
