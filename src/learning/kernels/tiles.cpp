// Selects and compiles the loops over tiles for each kind of processor.
#include "learning/kernels/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SOTTO_SEVERAL_PROCESSORS
#include <immintrin.h>
#endif

namespace sotto::learning_detail {
namespace {

// NOLINTBEGIN(google-readability-casting)  the bits

using TwoLongs [[gnu::vector_size(16)]] = std::uint64_t;
using FourLongs [[gnu::vector_size(32)]] = std::uint64_t;
using EightLongs [[gnu::vector_size(64)]] = std::uint64_t;

// Loops for any processor.
namespace plain {
constexpr std::size_t bytes = 16;
using EightCodes [[gnu::vector_size(16)]] = std::int16_t;
using FourUnsigned [[gnu::vector_size(16)]] = std::uint32_t;
[[gnu::always_inline]] inline FourUnsigned with_pairs_of(EightCodes a, EightCodes b,
                                                         FourUnsigned sum) {
#if defined(SOTTO_SEVERAL_PROCESSORS)
  return sum + (FourUnsigned)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  using FourWhole [[gnu::vector_size(16)]] = std::int32_t;
  const auto first = [](EightCodes pairs) { return (FourWhole)((FourUnsigned)pairs << 16U) >> 16; };
  const auto second = [](EightCodes pairs) { return (FourWhole)pairs >> 16; };
  return sum + (FourUnsigned)(first(a) * first(b)) + (FourUnsigned)(second(a) * second(b));
#endif
}
[[gnu::always_inline]] inline EightCodes first_of_each_eight(EightCodes x, EightCodes y) {
  return __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
}
[[gnu::always_inline]] inline EightCodes last_of_each_eight(EightCodes x, EightCodes y) {
  return __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
}
[[gnu::always_inline]] inline EightCodes last_codes_at(const std::int16_t* /*place*/) {
  return EightCodes{};
}  // rows are whole vectors
[[gnu::always_inline]] inline TwoLongs totals(TwoLongs a, TwoLongs b) {
  return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
}
#include "learning/kernels/tiles.inc"
}  // namespace plain

#if defined(SOTTO_SEVERAL_PROCESSORS)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
constexpr std::size_t bytes = 32;
using SixteenCodes [[gnu::vector_size(32)]] = std::int16_t;
using EightUnsigned [[gnu::vector_size(32)]] = std::uint32_t;
[[gnu::always_inline]] inline EightUnsigned with_pairs_of(SixteenCodes a, SixteenCodes b,
                                                          EightUnsigned sum) {
  return sum + (EightUnsigned)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
[[gnu::always_inline]] inline SixteenCodes first_of_each_eight(SixteenCodes x, SixteenCodes y) {
  return (SixteenCodes)_mm256_unpacklo_epi16((__m256i)x, (__m256i)y);
}
[[gnu::always_inline]] inline SixteenCodes last_of_each_eight(SixteenCodes x, SixteenCodes y) {
  return (SixteenCodes)_mm256_unpackhi_epi16((__m256i)x, (__m256i)y);
}
[[gnu::always_inline]] inline SixteenCodes last_codes_at(const std::int16_t* /*place*/) {
  return SixteenCodes{};
}  // rows are whole vectors
[[gnu::always_inline]] inline TwoLongs totals(FourLongs a, FourLongs b) {
  const FourLongs four =
      __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  return __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
}
#include "learning/kernels/tiles.inc"
}  // namespace avx2
#pragma GCC pop_options

// Two kinds of loops with vectors of 64 bytes: the second multiplies and adds in one instruction.
#pragma GCC push_options
#pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl")
namespace avx512 {
using ThirtyTwoCodes [[gnu::vector_size(64)]] = std::int16_t;
using SixteenUnsigned [[gnu::vector_size(64)]] = std::uint32_t;
[[gnu::always_inline]] inline ThirtyTwoCodes first_of_each_eight(ThirtyTwoCodes x,
                                                                 ThirtyTwoCodes y) {
  return (ThirtyTwoCodes)_mm512_unpacklo_epi16((__m512i)x, (__m512i)y);
}
[[gnu::always_inline]] inline ThirtyTwoCodes last_of_each_eight(ThirtyTwoCodes x,
                                                                ThirtyTwoCodes y) {
  return (ThirtyTwoCodes)_mm512_unpackhi_epi16((__m512i)x, (__m512i)y);
}
// Returns the last sixteen codes of a row, followed by zeros.
[[gnu::always_inline]] inline ThirtyTwoCodes last_codes_at(const std::int16_t* place) {
  return (ThirtyTwoCodes)_mm512_maskz_loadu_epi16(0xffff, place);
}
[[gnu::always_inline]] inline TwoLongs totals(EightLongs a, EightLongs b) {
  const EightLongs eight = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const FourLongs four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                         __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
}
namespace two_operations {
constexpr std::size_t bytes = 64;
[[gnu::always_inline]] inline SixteenUnsigned with_pairs_of(ThirtyTwoCodes a, ThirtyTwoCodes b,
                                                            SixteenUnsigned sum) {
  return sum + (SixteenUnsigned)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
#include "learning/kernels/tiles.inc"
}  // namespace two_operations
}  // namespace avx512
#pragma GCC target("avx512vnni")
namespace avx512::one_operation {
constexpr std::size_t bytes = 64;
[[gnu::always_inline]] inline SixteenUnsigned with_pairs_of(ThirtyTwoCodes a, ThirtyTwoCodes b,
                                                            SixteenUnsigned sum) {
  return (SixteenUnsigned)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#include "learning/kernels/tiles.inc"
}  // namespace avx512::one_operation
#pragma GCC pop_options
#endif

// NOLINTEND(google-readability-casting)

std::vector<TileLoops> loops_here() {
  std::vector<TileLoops> all;
#if defined(SOTTO_SEVERAL_PROCESSORS)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0) {
    using namespace avx512;
    if (__builtin_cpu_supports("avx512vnni") != 0)
      all.push_back(
          {"AVX-512 with VNNI", one_operation::products, one_operation::add, one_operation::empty});
    all.push_back(
        {"AVX-512", two_operations::products, two_operations::add, two_operations::empty});
  }
  if (__builtin_cpu_supports("avx2") != 0)
    all.push_back({"AVX2", avx2::products, avx2::add, avx2::empty});
#endif
  all.push_back({"any processor", plain::products, plain::add, plain::empty});
  return all;
}

}  // namespace

WholeWeights::WholeWeights(std::span<const double> weights, std::size_t stride)
    : high((stride + 31) / 32 * 32), low(high.size()), step(1) {
  double largest = 0;
  for (const double weight : weights) {
    if (!std::isfinite(weight)) {
      step = std::nan("");
      return;
    }
    largest = std::max(largest, std::abs(weight));
  }
  if (largest == 0) return;
  // at most 8191 · 8192 per weight, and 2^39 over all columns
  const double most = std::min(8191.0 * 8192.0, 0x1p39 / static_cast<double>(high.size()));
  int exponent = std::max(std::ilogb(largest) - std::ilogb(most), -1000);
  if (std::ldexp(largest, -exponent) > most) ++exponent;
  step = std::ldexp(1.0, exponent);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const auto whole = static_cast<std::int32_t>(std::nearbyint(std::ldexp(weights[j], -exponent)));
    const std::int32_t upper = (whole + 4096) >> 13;
    high[j] = static_cast<std::int16_t>(upper);
    low[j] = static_cast<std::int16_t>(whole - upper * 8192);
  }
}

std::span<const TileLoops> tile_loops() {
  static const std::vector<TileLoops> all = loops_here();
  return all;
}

}  // namespace sotto::learning_detail
