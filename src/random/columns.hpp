// The one machine behind every sampler: |noise| from columns under its density.
//
// The half line is cut into columns of width 1, at most 1023 of them, and a tail; f falls from f(0) = 1. Column i is chosen with
// probability C_i/2^30, C_i a whole number above S f(i); a point (y, V) is drawn in it, and kept where C_i V < S f(y). Columns are
// so narrow that V < 251/256 decides at once: eight bits of V are enough for 98 draws in 100, whatever the column, so that time
// tells next to nothing of y. What is left of 2^30 is the last item: the tail, or nothing (start again). The tail is cut into
// strips of a width over which f falls to less than half: strip j is chosen with probability 2^-(j+1), never cut off. Bits
// are drawn as they are needed: an undecided comparison draws more. docs/theory/noise.md has the argument.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "random/exact.hpp"

namespace sotto::random_detail {

// A word, from its lowest bit: slot, position in the slot, sign, first bits of the ordinate, first bits of y within its column.
inline constexpr int slot_bits = 10;
inline constexpr int position_bits = 20;
inline constexpr int ordinate_bits = 8;
inline constexpr int sign_bit = slot_bits + position_bits;
inline constexpr int ordinate_shift = sign_bit + 1;
inline constexpr int abscissa_shift = ordinate_shift + ordinate_bits;
inline constexpr int abscissa_bits = 64 - abscissa_shift;

inline constexpr std::uint32_t last_item = (1U << slot_bits) - 1;  // the tail, or nothing
inline constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;
inline constexpr std::uint32_t position_mask = (1U << position_bits) - 1;
inline constexpr std::uint32_t ordinate_mask = (1U << ordinate_bits) - 1;
inline constexpr std::uint32_t sure_ordinates = 251;  // those below are under the curve all over their column
inline constexpr std::uint32_t all_weight = 1U << (slot_bits + position_bits);

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
  int fraction;                                    // y has this many bits within its column; a real y has more, as they are asked for
  double unit;                                     // 2^-fraction
  std::uint32_t scale;                             // S
  std::uint32_t columns;                           // how many there are
  std::array<std::uint32_t, last_item + 1> entry;  // threshold << slot_bits | slot ^ alias
  std::array<std::uint32_t, last_item> weight;     // C; 0 from `columns` on
  std::array<double, last_item + 1> corner;        // S f(i), off by less than one part in 2^39
  double bulge;                                    // how far S f may be from its chord over a column, and what rounding adds
  std::uint32_t tail;                              // its weight
  std::uint32_t left;                              // of the last item: the tail, and nothing
  int strip;                                       // log2 of a strip's width

  Table(Curve curve, double tau, bool real, int fraction);

 private:
  [[nodiscard]] int strip_from(std::uint32_t column) const;
};

// f(y) in doubles, off by less than one part in 2^40.
inline double height(Curve curve, double tau, double y) {
  const double z = y / tau;
  return std::exp(curve == Curve::gaussian ? -z * z / 2 : -z);
}

// Is the level floor + V gap, over 2^power, below S f(y)? V starts with the word.
template <class Bits>
bool is_below(Bits& bits, std::uint64_t word, double floor, double gap, int power, const Table& table, Position& y) {
  // with 53 bits of V and y the doubles decide nearly always
  const double over = power == 0 ? 1 : std::ldexp(1.0, -power);
  const double level = (floor + static_cast<double>(word >> 11U) * 0x1p-53 * gap) * over;
  const double value = table.scale * height(table.curve, table.tau, static_cast<double>(y.head) * table.unit);
  const double doubt = 0x1p-22 * value + 0x1p-50 * (floor + gap) * over + 1e-290;
  if (level < value - doubt) return true;
  if (level > value + doubt) return false;
  Ordinate ordinate{{word}, floor, gap, power};
  for (;;) {
    if (const auto known = below(ordinate, table.scale, table.curve, table.tau, y)) return *known;
    ordinate.words.push_back(bits.word());
    if (y.real) y.more.push_back(bits.word());
  }
}

// A point of column i whose ordinate starts with these bits: under the curve?
template <class Bits>
bool in_column(Bits& bits, const Table& table, std::uint32_t i, std::uint32_t ordinate, Position& y) {
  if (ordinate < sure_ordinates) return true;
  const double part = table.weight[i] * (1.0 / (1U << ordinate_bits));
  const std::uint64_t word = bits.word();
  // the chord of the curve over the column decides nearly always
  const double level = part * (ordinate + static_cast<double>(word >> 11U) * 0x1p-53);
  const double within = static_cast<double>(y.head) * table.unit - i;
  const double chord = table.corner[i] + (table.corner[i + 1] - table.corner[i]) * within;
  if (level < chord - table.bulge) return true;
  if (level > chord + table.bulge) return false;
  return is_below(bits, word, part * ordinate, part, 0, table, y);
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
  const std::uint64_t start = (table.columns + (j << static_cast<unsigned>(table.strip))) << static_cast<unsigned>(table.fraction);
  y = {start + within, table.fraction, table.real};
  return is_below(bits, bits.word(), 0, table.tail, table.strip + static_cast<int>(j) + 1, table, y);
}

inline std::uint32_t item_of(const Table& table, std::uint64_t word) {
  const auto slot = static_cast<std::uint32_t>(word) & slot_mask;
  const auto position = static_cast<std::uint32_t>(word >> slot_bits) & position_mask;
  const std::uint32_t entry = table.entry[slot];
  // without a branch, which half of all draws would mispredict: all ones where the position is not below the threshold
  const auto other = static_cast<std::uint32_t>(static_cast<std::int32_t>((entry >> slot_bits) + ~position) >> 31);
  return slot ^ (entry & slot_mask & other);
}
inline bool is_negative(std::uint64_t word) { return ((word >> sign_bit) & 1U) != 0; }
inline std::uint32_t ordinate_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> ordinate_shift) & ordinate_mask; }

// The position and its sign, from this word on.
template <class Bits>
std::pair<Position, bool> draw_from(Bits& bits, const Table& table, std::uint64_t word) {
  for (;; word = bits.word()) {
    const std::uint32_t item = item_of(table, word);
    if (item == last_item) {
      Position y{0, 0, false};
      if (uniform_below(bits, table.left) < table.tail && in_tail(bits, table, y)) return {std::move(y), is_negative(word)};
      continue;
    }
    const std::uint64_t within = table.fraction <= abscissa_bits ? (word >> abscissa_shift) >> static_cast<unsigned>(abscissa_bits - table.fraction)
                                                                 : bits.word() >> static_cast<unsigned>(64 - table.fraction);
    Position y{(static_cast<std::uint64_t>(item) << static_cast<unsigned>(table.fraction)) | within, table.fraction, table.real};
    if (in_column(bits, table, item, ordinate_of(word), y)) return {std::move(y), is_negative(word)};
  }
}

// A draw takes one word in front, and whatever that leaves open from the back: many draws take the same words in any order of work.
template <class Bits>
struct Back {
  Bits& bits;
  std::uint64_t word() { return bits.more(); }
};

template <class Bits>
std::pair<Position, bool> draw(Bits& bits, const Table& table) {
  Back<Bits> back{bits};
  return draw_from(back, table, bits.word());
}

}  // namespace sotto::random_detail
