// The sampler behind all noise and exponentials: exact rejection sampling from columns under a
// curve.
//
// It draws a position y >= 0 whose density is proportional to a curve f that falls from f(0) = 1,
// the half of a Gaussian or of a Laplace density. A separate fair bit is the sign.
// docs/theory/noise.md has the proofs. The terms, in the order of a draw:
//
//   word     64 random bits. One word decides 98 of 100 draws.
//   table    all numbers that the draws of one curve need (struct Table), computed once.
//   column   one of at most 1023 intervals [i, i + 1) of y. Column i has the weight C_i, a whole
//            number of at least S f(i), where S is the scale of the table.
//   tail     the positions right of the last column.
//   item     a column, or the last item. A draw first chooses item i with probability weight /
//            2^30. The last item has the weight that remains of 2^30; it is the tail, or it
//            rejects.
//   slot     an entry of the alias table that chooses the item in constant time (Walker, Vose).
//   point    (y, V): y uniform in the chosen column (the abscissa), V uniform in [0, 1) (the
//            ordinate). The draw returns y if C_i V < S f(y), that is if the point lies below the
//            curve. Otherwise it rejects, and the draw starts again with another word. Columns are
//            so narrow that a V below 251/256 always lies below the curve, whatever y is: eight
//            bits of V decide, and the time of a draw reveals almost nothing about y.
//   strip    one of the intervals of equal width that the tail consists of. Strip j is chosen with
//            probability 2^-(j+1), without a last one. f falls at least by half over a strip, so
//            this is enough probability for every strip.
//
// y and V are real numbers, of which only the first bits are drawn. If these do not decide a
// comparison, refinement appends more random bits until they do, so that no result is rounded
// (exact.hpp).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "random/exact.hpp"

namespace sotto::random_detail {

// The parts of a word, from its lowest bit: slot, position in the slot, sign, first bits of the
// ordinate, first bits of the abscissa.
inline constexpr int slot_bits = 10;
inline constexpr int position_bits = 20;
inline constexpr int ordinate_bits = 8;
inline constexpr int sign_bit = slot_bits + position_bits;
inline constexpr int ordinate_shift = sign_bit + 1;
inline constexpr int abscissa_shift = ordinate_shift + ordinate_bits;
inline constexpr int abscissa_bits = 64 - abscissa_shift;

inline constexpr std::uint32_t last_item = (1U << slot_bits) - 1;  // the tail, or a rejection
inline constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;
inline constexpr std::uint32_t position_mask = (1U << position_bits) - 1;
inline constexpr std::uint32_t ordinate_mask = (1U << ordinate_bits) - 1;
// smaller ones are below the curve for every y of a column
inline constexpr std::uint32_t sure_ordinates = 251;
inline constexpr std::uint32_t all_weight = 1U << (slot_bits + position_bits);  // 2^30

// Returns each whole number below n with probability 1/n (Lemire).
template <class Bits>
std::uint64_t uniform_below(Bits& bits, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  for (;;) {
    const Wide product = static_cast<Wide>(bits.word()) * n;
    // 2^64/n words, rounded down or up, have each high part; without those whose low part is below
    // 2^64 mod n, equally many have each
    if (static_cast<std::uint64_t>(product) >= (0 - n) % n)
      return static_cast<std::uint64_t>(product >> 64U);
  }
}

/// The numbers that draws from one curve need. S, C_i and T are their names in
/// docs/theory/noise.md.
struct Table {
  Curve curve;
  double tau;    // the curve's scale τ in columns (exact.hpp)
  bool real;     // y is a real number; else a multiple of `unit`, which stands for a whole number
  int fraction;  // how many bits y has within its column; refinement gives a real y more
  double unit;   // 2^-fraction
  std::uint32_t scale;  // S
  std::uint32_t column_count;
  // for each slot: threshold << slot_bits | slot ^ alias
  std::array<std::uint32_t, last_item + 1> entry;
  std::array<std::uint32_t, last_item> weight;  // C_i, and 0 from `column_count` on
  std::array<double, last_item + 1> corner;     // S f(i), with a relative error below 2^-39
  double chord_error;         // bounds |S f - its chord over a column|, with rounding errors
  std::uint32_t tail_weight;  // T
  std::uint32_t last_weight;  // of the last item: T, and the weight of its rejection
  int strip_bits;             // log2 of a strip's width

  Table(Curve curve, double tau, bool real, int fraction);

 private:
  // Returns strip_bits for a tail that starts at this column.
  [[nodiscard]] int strip_from(std::uint32_t column) const;
};

// Returns f(y) with a relative error below 2^-40.
inline double height(Curve curve, double tau, double y) {
  const double z = y / tau;
  return std::exp(curve == Curve::gaussian ? -z * z / 2 : -z);
}

// Returns whether the ordinate (floor + V gap) / 2^power is below S f(y). `word` is the first of V.
// Decides by doubles if their margin of error allows it, else refines V and y and decides by MPFR
// (exact.hpp).
template <class Bits>
bool is_below(Bits& bits, std::uint64_t word, double floor, double gap, int power,
              const Table& table, Position& y) {
  const double over = power == 0 ? 1 : std::ldexp(1.0, -power);
  const double level = (floor + static_cast<double>(word >> 11U) * 0x1p-53 * gap) * over;
  const double value =
      table.scale * height(table.curve, table.tau, static_cast<double>(y.head) * table.unit);
  const double margin = 0x1p-22 * value + 0x1p-50 * (floor + gap) * over + 1e-290;
  if (level < value - margin) return true;
  if (level > value + margin) return false;
  Ordinate ordinate{{word}, floor, gap, power};
  for (;;) {
    if (const auto result = below(ordinate, table.scale, table.curve, table.tau, y)) return *result;
    ordinate.words.push_back(bits.word());
    if (y.real) y.lower_words.push_back(bits.word());
  }
}

// Returns whether a point of column i lies below the curve. `ordinate` is the first eight bits of
// V.
template <class Bits>
bool in_column(Bits& bits, const Table& table, std::uint32_t i, std::uint32_t ordinate,
               Position& y) {
  if (ordinate < sure_ordinates) return true;
  const double part = table.weight[i] * (1.0 / (1U << ordinate_bits));
  const std::uint64_t word = bits.word();
  // compare with the chord of the curve, whose distance to the curve is bounded; it decides almost
  // always
  const double level = part * (ordinate + static_cast<double>(word >> 11U) * 0x1p-53);
  const double within = static_cast<double>(y.head) * table.unit - i;
  const double chord = table.corner[i] + (table.corner[i + 1] - table.corner[i]) * within;
  if (level < chord - table.chord_error) return true;
  if (level > chord + table.chord_error) return false;
  return is_below(bits, word, part * ordinate, part, 0, table, y);
}

// Draws a position from the tail. Returns whether its point lies below the curve.
template <class Bits>
bool in_tail(Bits& bits, const Table& table, Position& y) {
  // strip j with probability 2^-(j+1): count zeros up to the first one bit, over as many words as
  // it takes
  std::uint64_t j = 0;
  for (;;) {
    const std::uint64_t word = bits.word();
    j += static_cast<std::uint64_t>(std::countl_zero(word));
    if (word != 0) break;
  }
  // y uniform in the strip
  const int size = table.strip_bits + table.fraction;  // its bits within a strip
  const std::uint64_t within = size == 0 ? 0 : bits.word() >> (64 - size);
  const std::uint64_t start = (table.column_count + (j << static_cast<unsigned>(table.strip_bits)))
                              << static_cast<unsigned>(table.fraction);
  y = {start + within, table.fraction, table.real};
  return is_below(bits, bits.word(), 0, table.tail_weight,
                  table.strip_bits + static_cast<int>(j) + 1, table, y);
}

// Returns the item that the alias table gives for a word.
inline std::uint32_t item_of(const Table& table, std::uint64_t word) {
  const auto slot = static_cast<std::uint32_t>(word) & slot_mask;
  const auto position = static_cast<std::uint32_t>(word >> slot_bits) & position_mask;
  const std::uint32_t entry = table.entry[slot];
  // all ones if the position is not below the threshold; without a branch, since half of all draws
  // would mispredict it
  const auto other =
      static_cast<std::uint32_t>(static_cast<std::int32_t>((entry >> slot_bits) + ~position) >> 31);
  return slot ^ (entry & slot_mask & other);
}
inline bool is_negative(std::uint64_t word) { return ((word >> sign_bit) & 1U) != 0; }
inline std::uint32_t ordinate_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> ordinate_shift) & ordinate_mask;
}

// Draws a position and its sign (true: negative), starting with `word`.
template <class Bits>
std::pair<Position, bool> draw_from(Bits& bits, const Table& table, std::uint64_t word) {
  for (;; word = bits.word()) {
    const std::uint32_t item = item_of(table, word);
    if (item == last_item) {
      Position y{0, 0, false};
      if (uniform_below(bits, table.last_weight) < table.tail_weight && in_tail(bits, table, y))
        return {std::move(y), is_negative(word)};
      continue;
    }
    const std::uint64_t within =
        table.fraction <= abscissa_bits
            ? (word >> abscissa_shift) >> static_cast<unsigned>(abscissa_bits - table.fraction)
            : bits.word() >> static_cast<unsigned>(64 - table.fraction);
    Position y{(static_cast<std::uint64_t>(item) << static_cast<unsigned>(table.fraction)) | within,
               table.fraction, table.real};
    if (in_column(bits, table, item, ordinate_of(word), y))
      return {std::move(y), is_negative(word)};
  }
}

// Presents the extra words of a source (Random::extra_word) as its words: a draw takes its first
// word from the front of the block and all others from the back.
template <class Bits>
struct BackWords {
  Bits& bits;
  std::uint64_t word() { return bits.extra_word(); }
};

// Draws a position and its sign.
template <class Bits>
std::pair<Position, bool> draw(Bits& bits, const Table& table) {
  BackWords<Bits> back{bits};
  return draw_from(back, table, bits.word());
}

}  // namespace sotto::random_detail
