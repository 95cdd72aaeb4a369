// Noise for many values at once, eight by eight with AVX-512. The results are those of one draw
// after the other from an equal generator, bit for bit.
#pragma once

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored \
    "-Wunknown-warning-option"  // clang++ does not know the following option
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns falsely about its own header
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <span>
#include <vector>

#include "random/rounding.hpp"

namespace sotto::random_detail {

/// Draws a whole number with a sign. A negative 0 is rejected, so that 0 is not twice as likely.
template <class Bits>
std::int64_t draw_whole(Bits& bits, const Table& table) {
  for (;;) {
    const auto [y, negative] = draw(bits, table);
    if (negative && y.head == 0) continue;
    const auto size = static_cast<std::int64_t>(y.head);
    return negative ? -size : size;
  }
}

/// The parameters of a batch of draws.
struct Batch {
  const Table& table;
  Rounding rounding;  // add() and finish() set its value
  double step;        // 2^grid, a normal double
  double half_unit;   // half_unit_of(rounding)

  /// Returns value + noise, rounded to the grid.
  template <class Bits>
  double add(Bits& bits, double value) {
    rounding.value = value;
    return draw_rounded(bits, table, rounding, value / step, half_unit) * step;
  }
  /// Completes a draw whose first word does not decide.
  template <class Bits>
  double finish(Bits& bits, double value, std::uint64_t word) {
    rounding.value = value;
    return finish_rounded(bits, table, rounding, value / step, half_unit, word) * step;
  }
};

template <class Bits>
void add_one_by_one(Bits& bits, Batch batch, std::span<double> values) {
  for (double& value : values) value = batch.add(bits, value);
}

#if defined(__x86_64__)
inline bool has_avx512() {
  static const bool wide = __builtin_cpu_supports("avx512f") != 0 &&
                           __builtin_cpu_supports("avx512dq") != 0 &&
                           __builtin_cpu_supports("avx512vl") != 0;
  return wide;
}

// Adds noise to eight values at a time, a value a lane. The steps are those of try_word(). Lanes
// that their word does not decide are completed afterwards, in order, with extra words.
template <class Bits>
__attribute__((target("avx512f,avx512dq,avx512vl"))) void add_avx512(Bits& bits, Batch batch,
                                                                     std::span<double> values) {
  const __m512d half = _mm512_set1_pd(batch.half_unit);
  const __m512d sure_distance = _mm512_set1_pd(sure_distance_of(batch.half_unit));
  const __m512d per_grid = _mm512_set1_pd(1 / batch.step);
  const __m512d grid = _mm512_set1_pd(batch.step);
  const __m512d magic = _mm512_set1_pd(0x1.8p52);
  const __m512i slot_bits_set = _mm512_set1_epi64(slot_mask);
  struct Undecided {
    std::size_t place;
    std::uint64_t word;
  };
  std::vector<Undecided> undecided;
  std::size_t i = 0;
  while (i + 8 <= values.size()) {
    const std::span<const std::uint64_t> ahead = bits.front_words();
    if (ahead.size() < 8) {  // near the end of the block
      values[i] = batch.add(bits, values[i]);
      ++i;
      continue;
    }
    std::size_t used = 0;
    for (; used + 8 <= ahead.size() && i + 8 <= values.size(); used += 8, i += 8) {
      const std::uint64_t* words = ahead.data() + used;
      // the item of each word, as item_of() chooses it
      const __m512i word = _mm512_loadu_si512(words);
      const __m512i slot = _mm512_and_si512(word, slot_bits_set);
      const __m512i entry =
          _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(slot, batch.table.entry.data(), 4));
      const __m512i position =
          _mm512_and_si512(_mm512_srli_epi64(word, slot_bits), _mm512_set1_epi64(position_mask));
      const __mmask8 other = _mm512_cmpge_epu64_mask(position, _mm512_srli_epi64(entry, slot_bits));
      const __m512i item =
          _mm512_xor_si512(slot, _mm512_maskz_and_epi64(other, entry, slot_bits_set));
      // the ordinate, and the signed midpoint of y
      const __m512i ordinate = _mm512_and_si512(_mm512_srli_epi64(word, ordinate_shift),
                                                _mm512_set1_epi64(ordinate_mask));
      const __m512i head = _mm512_or_si512(_mm512_slli_epi64(item, abscissa_bits),
                                           _mm512_srli_epi64(word, abscissa_shift));
      const __m512i odd = _mm512_or_si512(_mm512_slli_epi64(head, 1), _mm512_set1_epi64(1));
      const __m512i sign = _mm512_slli_epi64(
          _mm512_and_si512(word, _mm512_set1_epi64(std::int64_t{1} << sign_bit)), 63 - sign_bit);
      const __m512d midpoint =
          _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(_mm512_cvtepi64_pd(odd)), sign));
      // round as try_word() does
      const __m512d value = _mm512_mul_pd(_mm512_loadu_pd(values.data() + i), per_grid);
      const __m512d steps = _mm512_add_pd(value, _mm512_mul_pd(half, midpoint));
      const __m512d whole = _mm512_sub_pd(_mm512_add_pd(steps, magic), magic);
      const __m512d distance = _mm512_sub_pd(
          sure_distance, _mm512_mul_pd(_mm512_set1_pd(0x1p-50), _mm512_abs_pd(value)));
      const unsigned sure =
          _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_sub_pd(steps, whole)), distance, _CMP_LT_OQ) &
          _mm512_cmpneq_epi64_mask(item, _mm512_set1_epi64(last_item)) &
          _mm512_cmplt_epu64_mask(ordinate, _mm512_set1_epi64(sure_ordinates));
      // store the sure lanes, and collect the others
      _mm512_mask_storeu_pd(values.data() + i, static_cast<__mmask8>(sure),
                            _mm512_mul_pd(whole, grid));
      for (unsigned rest = ~sure & 0xffU; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        undecided.push_back({i + lane, words[lane]});
      }
    }
    bits.consume(used);
    for (const auto& [place, word] : undecided)
      values[place] = batch.finish(bits, values[place], word);
    undecided.clear();
  }
  for (; i < values.size(); ++i) values[i] = batch.add(bits, values[i]);
}

#else
inline bool has_avx512() { return false; }
template <class Bits>
void add_avx512(Bits&, Batch, std::span<double>) {}
#endif

template <class Bits>
void add_rounded(Bits& bits, const Batch& batch, std::span<double> values) {
  if (has_avx512()) {
    add_avx512(bits, batch, values);
  } else {
    add_one_by_one(bits, batch, values);
  }
}

}  // namespace sotto::random_detail
