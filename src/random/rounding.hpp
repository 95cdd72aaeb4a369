// Rounding: from a value and a position y below the curve (columns.hpp) to a multiple of the grid,
// which is returned as a whole number of grid steps.
//
// Three stages give one result. try_word() computes in doubles, from one word, and succeeds almost
// always. finish_rounded() completes a draw that the word leaves undecided, still in doubles if
// their margin of error allows it. round_exactly() refines y and decides by MPFR (exact.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "random/columns.hpp"

namespace sotto::random_detail {

/// The bits that one word gives a real y within its column.
inline constexpr int real_fraction = abscissa_bits;

/// Returns the table of real-valued noise: σ is 256 columns (Gaussian), or the mean 64
/// (exponential).
const Table& real_table(Curve curve);
/// Returns log2 of the width of its columns, in scales of the noise.
inline int unit_of(Curve curve) { return curve == Curve::gaussian ? -8 : -6; }

/// Returns half a unit of y's last bit, in grid steps of the noise. Returns infinity for arsinh
/// noise, for which try_word() must never be sure.
inline double half_unit_of(const Rounding& rounding) {
  if (rounding.shape != Shape::linear) return std::numeric_limits<double>::infinity();
  return std::ldexp(rounding.factor, rounding.unit - real_fraction - 1 - rounding.grid);
}

// Returns the midpoint of y's interval in half units of y's last bit, that is 2 head + 1, with the
// sign of the word.
inline double signed_midpoint(std::uint64_t head, std::uint64_t word) {
  const auto size = static_cast<double>(static_cast<std::int64_t>(2 * head + 1));
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | ((word >> sign_bit) << 63U));
}

/// A rounding in doubles. It is exact if `sure` is set.
struct Attempt {
  double whole;  // in grid steps
  bool sure;
};

// Rounds value + noise, in grid steps, in doubles. `midpoint` is the signed_midpoint() of y.
inline Attempt try_round(double value, double half_unit, double midpoint) {
  constexpr double magic = 0x1.8p52;  // adding it rounds to a whole number, for sizes below 2^51
  const double noise = half_unit * midpoint;
  const double steps = value + noise;
  const double whole = (steps + magic) - magic;
  // the error: half a unit of y's last bit, and the rounding of the product and of the sum
  const double margin = half_unit + 0x1p-51 * (std::abs(noise) + std::abs(steps)) + 0x1p-1000;
  return {whole, std::max(2 * (std::abs(steps - whole) + margin), 0x1p-50 * std::abs(steps)) < 1};
}

// Rounds arsinh noise in doubles. The slope of arsinh is at most 1, so the interval of y does not
// get wider. The relative error of std::asinh and of the operations around it is below 2^-40 while
// all numbers are normal doubles; outside of their range nothing is sure.
inline Attempt try_bent(const Rounding& rounding, bool negative, const Position& y) {
  if (!y.lower_words.empty() || y.head >= (std::uint64_t{1} << 51U)) return {0, false};
  const double bent =
      std::ldexp(static_cast<double>(2 * y.head + 1), rounding.unit - y.fraction - 1) *
      rounding.factor / rounding.bend;
  const double size = std::asinh(bent) * rounding.bend;
  const double noise = std::ldexp(size, -rounding.grid);
  if (!std::isnormal(bent) || !std::isnormal(size) || !std::isnormal(noise)) return {0, false};
  const double steps = std::ldexp(rounding.value, -rounding.grid) + (negative ? -noise : noise);
  const double half_unit =
      std::ldexp(rounding.factor, rounding.unit - y.fraction - 1 - rounding.grid);
  const double margin = half_unit + 0x1p-40 * (noise + std::abs(steps)) + 0x1p-1000;
  const double whole = std::nearbyint(steps);
  return {whole, std::max(2 * (std::abs(steps - whole) + margin), 0x1p-50 * std::abs(steps)) < 1};
}

// Rounds exactly, and refines y as often as it takes.
template <class Bits>
double round_exactly(Bits& bits, const Rounding& rounding, bool negative, Position y) {
  if (rounding.shape == Shape::arsinh) {
    if (const Attempt attempt = try_bent(rounding, negative, y); attempt.sure) return attempt.whole;
  }
  for (;;) {
    if (const auto whole = rounded(rounding, negative, y)) return *whole;
    y.lower_words.push_back(bits.word());
  }
}

/// Completes a draw whose first word, `word`, does not decide. Takes extra words of `bits`.
template <class Bits>
[[gnu::noinline]] double finish_rounded(Bits& bits, const Table& table, const Rounding& rounding,
                                        double value, double half_unit, std::uint64_t word) {
  BackWords<Bits> back{bits};
  // draw points in columns until one lies below the curve, or until the last item is chosen
  for (std::uint32_t item = item_of(table, word); item != last_item; item = item_of(table, word)) {
    Position y{(static_cast<std::uint64_t>(item) << abscissa_bits) | (word >> abscissa_shift),
               table.fraction, true};
    if (in_column(back, table, item, ordinate_of(word), y)) {
      if (y.lower_words.empty()) {
        if (const Attempt attempt = try_round(value, half_unit, signed_midpoint(y.head, word));
            attempt.sure)
          return attempt.whole;
      }
      return round_exactly(back, rounding, is_negative(word), std::move(y));
    }
    word = back.word();
  }
  // the last item: the tail, or a rejection
  auto [y, negative] = draw_from(back, table, word);
  if (y.lower_words.empty() && y.head < (std::uint64_t{1} << 51U)) {
    const auto midpoint = static_cast<double>(2 * y.head + 1);
    if (const Attempt attempt = try_round(value, half_unit, negative ? -midpoint : midpoint);
        attempt.sure)
      return attempt.whole;
  }
  return round_exactly(back, rounding, negative, std::move(y));
}

/// Returns the distance d such that try_word() is sure if value + noise lies closer to a whole
/// number than d - 2^-50 |value|. It is half a step, less the error of the sum: half a unit of y's
/// last bit, and the rounding of the product and of the sum, which is at most 2^-50 |noise| + 2^-51
/// |value|, with |noise| at most 2^36 half units. It is not positive if the scale is too large for
/// doubles to decide.
inline double sure_distance_of(double half_unit) {
  return (0.5 - 0x1p-1000) - (1 + 0x1p-14) * half_unit;
}
static_assert(slot_bits + abscissa_bits + 1 <= 36);

/// Rounds in doubles from one word: a point in a column with a sure ordinate, and a sum that is far
/// enough from the boundary between two multiples.
inline Attempt try_word(const Table& table, std::uint64_t word, double value, double half_unit,
                        double sure_distance) {
  constexpr double magic = 0x1.8p52;
  const std::uint32_t item = item_of(table, word);
  const std::uint64_t head =
      (static_cast<std::uint64_t>(item) << abscissa_bits) | (word >> abscissa_shift);
  const double steps = value + half_unit * signed_midpoint(head, word);
  const double whole = (steps + magic) - magic;
  const bool close = std::abs(steps - whole) < sure_distance - 0x1p-50 * std::abs(value);
  return {whole, static_cast<bool>(static_cast<unsigned>(close) &
                                   static_cast<unsigned>(item != last_item) &
                                   static_cast<unsigned>(ordinate_of(word) < sure_ordinates))};
}

/// Draws noise and returns the rounded sum in grid steps. `value` is rounding.value in grid steps,
/// which may be infinite.
template <class Bits>
double draw_rounded(Bits& bits, const Table& table, const Rounding& rounding, double value,
                    double half_unit) {
  const std::uint64_t word = bits.word();
  if (const Attempt attempt = try_word(table, word, value, half_unit, sure_distance_of(half_unit));
      attempt.sure)
    return attempt.whole;
  return finish_rounded(bits, table, rounding, value, half_unit, word);
}

}  // namespace sotto::random_detail
