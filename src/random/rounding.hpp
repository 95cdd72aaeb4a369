// From a position under the curve to a whole number of grid steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "random/columns.hpp"

namespace sotto::random_detail {

inline constexpr int real_fraction = abscissa_bits;

/// The real Gaussian has σ = 256 columns, the real exponential a mean of 64.
const Table& real_table(Curve curve);
inline int unit_of(Curve curve) { return curve == Curve::gaussian ? -8 : -6; }  // log2 of a column's width

/// Half of the last bit of y, times the factor, in grid steps; infinite, so that doubles never are sure, for a bent curve.
inline double half_unit_of(const Rounding& rounding) {
  if (rounding.shape != Shape::linear) return std::numeric_limits<double>::infinity();
  return std::ldexp(rounding.factor, rounding.unit - real_fraction - 1 - rounding.grid);
}

// 2y + 1 in units of y's last bit, with the word's sign.
inline double twice_of(std::uint64_t head, std::uint64_t word) {
  const auto size = static_cast<double>(static_cast<std::int64_t>(2 * head + 1));
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | ((word >> sign_bit) << 63U));
}

struct Attempt {
  double whole;
  bool sure;
};
// The doubles' answer.
inline Attempt try_round(double value, double half_unit, double twice) {
  constexpr double magic = 0x1.8p52;  // adding it rounds to a whole number, for sizes below 2^51
  const double noise = half_unit * twice;
  const double steps = value + noise;
  const double whole = (steps + magic) - magic;
  // off by half of y's last bit, and by the roundings of the product and of the sum
  const double doubt = half_unit + 0x1p-51 * (std::abs(noise) + std::abs(steps)) + 0x1p-1000;
  return {whole, std::max(2 * (std::abs(steps - whole) + doubt), 0x1p-50 * std::abs(steps)) < 1};
}

// The doubles' answer for a bent curve. Its slope is at most 1, so a cell of y is no wider behind it; asinh and the operations around
// it are off by less than one part in 2^40, where nothing leaves the range of normal doubles.
inline Attempt try_bent(const Rounding& rounding, bool negative, const Position& y) {
  if (!y.more.empty() || y.head >= (std::uint64_t{1} << 51U)) return {0, false};
  const double bent = std::ldexp(static_cast<double>(2 * y.head + 1), rounding.unit - y.fraction - 1) * rounding.factor / rounding.bend;
  const double size = std::asinh(bent) * rounding.bend;
  const double noise = std::ldexp(size, -rounding.grid);
  if (!std::isnormal(bent) || !std::isnormal(size) || !std::isnormal(noise)) return {0, false};
  const double steps = std::ldexp(rounding.value, -rounding.grid) + (negative ? -noise : noise);
  const double half_unit = std::ldexp(rounding.factor, rounding.unit - y.fraction - 1 - rounding.grid);
  const double doubt = half_unit + 0x1p-40 * (noise + std::abs(steps)) + 0x1p-1000;
  const double whole = std::nearbyint(steps);
  return {whole, std::max(2 * (std::abs(steps - whole) + doubt), 0x1p-50 * std::abs(steps)) < 1};
}

template <class Bits>
double round_exactly(Bits& bits, const Rounding& rounding, bool negative, Position y) {
  if (rounding.shape == Shape::arsinh) {
    if (const Attempt attempt = try_bent(rounding, negative, y); attempt.sure) return attempt.whole;
  }
  for (;;) {
    if (const auto whole = rounded(rounding, negative, y)) return *whole;
    y.more.push_back(bits.word());
  }
}

/// What one word leaves open.
template <class Bits>
[[gnu::noinline]] double finish_rounded(Bits& bits, const Table& table, const Rounding& rounding, double value, double half_unit,
                                        std::uint64_t word) {
  Back<Bits> back{bits};
  // columns' points, until one is kept: the doubles once more
  for (std::uint32_t item = item_of(table, word); item != last_item; item = item_of(table, word)) {
    Position y{(static_cast<std::uint64_t>(item) << abscissa_bits) | (word >> abscissa_shift), table.fraction, true};
    if (in_column(back, table, item, ordinate_of(word), y)) {
      if (y.more.empty()) {
        if (const Attempt attempt = try_round(value, half_unit, twice_of(y.head, word)); attempt.sure) return attempt.whole;
      }
      return round_exactly(back, rounding, is_negative(word), std::move(y));
    }
    word = back.word();
  }
  auto [y, negative] = draw_from(back, table, word);
  if (y.more.empty() && y.head < (std::uint64_t{1} << 51U)) {
    const auto twice = static_cast<double>(2 * y.head + 1);
    if (const Attempt attempt = try_round(value, half_unit, negative ? -twice : twice); attempt.sure) return attempt.whole;
  }
  return round_exactly(back, rounding, negative, std::move(y));
}

/// Half a grid step, less by how far value + noise may be off where the noise is within a column: half of y's last bit, and the
/// roundings of the product and of the sum (2^-51 of |noise| twice, at most 2^36 half units, and of |value|). Not above 0 for values
/// and scales that are too large for the doubles; NaN for NaN. This is its part that no value changes.
inline double certain_of(double half_unit) { return (0.5 - 0x1p-1000) - (1 + 0x1p-14) * half_unit; }
static_assert(slot_bits + abscissa_bits + 1 <= 36);

/// The doubles' answer from one word, where the word decides.
inline Attempt try_word(const Table& table, std::uint64_t word, double value, double half_unit, double certain) {
  constexpr double magic = 0x1.8p52;
  const std::uint32_t item = item_of(table, word);
  const std::uint64_t head = (static_cast<std::uint64_t>(item) << abscissa_bits) | (word >> abscissa_shift);
  const double steps = value + half_unit * twice_of(head, word);
  const double whole = (steps + magic) - magic;
  const bool close = std::abs(steps - whole) < certain - 0x1p-50 * std::abs(value);
  return {whole, static_cast<bool>(static_cast<unsigned>(close) & static_cast<unsigned>(item != last_item) &
                                   static_cast<unsigned>(ordinate_of(word) < sure_ordinates))};
}

/// The rounded sum, in grid steps. `value` is the rounding's value in grid steps, perhaps infinite.
template <class Bits>
double draw_rounded(Bits& bits, const Table& table, const Rounding& rounding, double value, double half_unit) {
  const std::uint64_t word = bits.word();
  if (const Attempt attempt = try_word(table, word, value, half_unit, certain_of(half_unit)); attempt.sure) return attempt.whole;
  return finish_rounded(bits, table, rounding, value, half_unit, word);
}

}  // namespace sotto::random_detail
