#include "kernels.hpp"

#include <cmath>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SOTTO_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SOTTO_FOR_EACH_PROCESSOR
#endif

namespace sotto::learning_detail {
namespace {

// Sixteen numbers; the compiler takes as many registers for them as the processor needs.
using Codes [[gnu::vector_size(32)]] = std::int16_t;
using Floats [[gnu::vector_size(64)]] = float;
using Whole [[gnu::vector_size(64)]] = std::int32_t;
using EightFloats [[gnu::vector_size(32)]] = float;
using FourFloats [[gnu::vector_size(16)]] = float;
using EightCodes [[gnu::vector_size(16)]] = std::int16_t;
using EightWhole [[gnu::vector_size(32)]] = std::int32_t;
using Doubles [[gnu::vector_size(64)]] = double;
using Longs [[gnu::vector_size(64)]] = std::int64_t;
using FourDoubles [[gnu::vector_size(32)]] = double;
using FourLongs [[gnu::vector_size(32)]] = std::int64_t;

[[gnu::always_inline]] inline Floats codes_at(const std::int16_t* place) {
  Codes codes;
  std::memcpy(&codes, place, sizeof codes);
  return __builtin_convertvector(__builtin_convertvector(codes, Whole), Floats);
}
[[gnu::always_inline]] inline Floats floats_at(const float* place) {
  Floats floats;
  std::memcpy(&floats, place, sizeof floats);
  return floats;
}
[[gnu::always_inline]] inline Doubles doubles_at(const double* place) {
  Doubles doubles;
  std::memcpy(&doubles, place, sizeof doubles);
  return doubles;
}
[[gnu::always_inline]] inline Doubles eight_codes_at(const std::int16_t* place) {
  EightCodes codes;
  std::memcpy(&codes, place, sizeof codes);
  return __builtin_convertvector(__builtin_convertvector(codes, EightWhole), Doubles);
}

// The double code + code_raise of a code in bits 36 … 51: the code, with its sign flipped so that it is nonnegative, becomes the mantissa's highest
// bits under the exponent of 2^16. No conversion is as fast.
template <class D, class L>
[[gnu::always_inline]] inline D raised(L words) {
  constexpr std::int64_t mantissa = std::int64_t{0xffff} << 36;
  constexpr std::int64_t exponent = std::int64_t{1023 + 16} << 52;
  constexpr std::int64_t sign = std::int64_t{1} << 51;
  return (D)((words & mantissa) ^ (exponent | sign));  // NOLINT(google-readability-casting)  the bits
}

// e^x for -708 <= x <= 0, off by a part of 2^-48 at most: x = k ln 2 + r with |r| <= ln 2 / 2, and e^r by its series.
[[gnu::always_inline]] inline Doubles exponential(Doubles x) {
  constexpr double shifter = 0x1.8p52;  // what is added to it is rounded to a whole number, in the lowest bits
  const Doubles shifted = x * 0x1.71547652b82fep0 + shifter;
  const Doubles k = shifted - shifter;
  const Doubles r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  Doubles sum = Doubles{} + 1.0 / 6227020800.0;  // 1/13!
  for (const double term : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                            1.0 / 6, 1.0 / 2, 1.0, 1.0}) {
    sum = sum * r + term;
  }
  const Longs exponent = (Longs)shifted << 52;  // NOLINT(google-readability-casting)  the bits
  return (Doubles)((Longs)sum + exponent);      // NOLINT(google-readability-casting)
}

// Halves onto each other, all in registers.
[[gnu::always_inline]] inline float total(Floats lanes) {
  const EightFloats eight =
      __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15);
  const FourFloats four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace

// In each block of a row's codes, the even ones come first, then the odd ones: so a word of two codes is taken apart by shifts, and stays in its
// lane.
void pair_up(const float* weights, std::size_t stride, float* paired) {
  for (std::size_t j = 0; j < stride;) {
    const std::size_t block = stride - j >= 32 ? 32 : 16;
    for (std::size_t i = 0; i < block; ++i) paired[j + i % 2 * (block / 2) + i / 2] = weights[j + i];
    j += block;
  }
}

SOTTO_FOR_EACH_PROCESSOR
Products products(const std::int16_t* row, const float* paired, std::size_t stride) {
  constexpr std::int32_t high = -65536;  // the upper code of two; as a number, like the lower one moved up, it is 2^16 times the code
  Floats dot0{};
  Floats dot1{};
  Floats square0{};
  Floats square1{};
  std::size_t j = 0;
  for (; j + 32 <= stride; j += 32) {
    Whole words;
    std::memcpy(&words, row + j, sizeof words);
    const Floats even = __builtin_convertvector(words << 16, Floats);
    const Floats odd = __builtin_convertvector(words & high, Floats);
    dot0 += even * floats_at(paired + j);
    dot1 += odd * floats_at(paired + j + 16);
    square0 += even * even;
    square1 += odd * odd;
  }
  if (j < stride) {
    EightWhole words;
    std::memcpy(&words, row + j, sizeof words);
    const EightFloats even = __builtin_convertvector(words << 16, EightFloats);
    const EightFloats odd = __builtin_convertvector(words & high, EightFloats);
    const Floats both = __builtin_shufflevector(even, odd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    dot0 += both * floats_at(paired + j);
    square0 += both * both;
  }
  return {total(dot0 + dot1) * 0x1p-16F, total(square0 + square1) * 0x1p-32F};
}

SOTTO_FOR_EACH_PROCESSOR
void dots(const std::int16_t* row, const float* weights, std::size_t count, std::size_t stride, float* dots) {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const float* w = weights + k * stride;
    Floats dot0{};
    Floats dot1{};
    Floats dot2{};
    Floats dot3{};
    for (std::size_t j = 0; j < stride; j += 16) {
      const Floats x = codes_at(row + j);
      dot0 += x * floats_at(w + j);
      dot1 += x * floats_at(w + stride + j);
      dot2 += x * floats_at(w + 2 * stride + j);
      dot3 += x * floats_at(w + 3 * stride + j);
    }
    dots[k] = total(dot0);
    dots[k + 1] = total(dot1);
    dots[k + 2] = total(dot2);
    dots[k + 3] = total(dot3);
  }
  for (; k < count; ++k) {
    Floats dot0{};
    for (std::size_t j = 0; j < stride; j += 16) dot0 += codes_at(row + j) * floats_at(weights + k * stride + j);
    dots[k] = total(dot0);
  }
}

SOTTO_FOR_EACH_PROCESSOR
void add_four_rows(const std::int16_t* const* rows, const double* a, std::size_t count, double* sum, std::size_t stride) {
  for (std::size_t j = 0; j < stride; j += 8) {
    const Doubles r0 = eight_codes_at(rows[0] + j);
    const Doubles r1 = eight_codes_at(rows[1] + j);
    const Doubles r2 = eight_codes_at(rows[2] + j);
    const Doubles r3 = eight_codes_at(rows[3] + j);
    for (std::size_t k = 0; k < count; ++k) {
      double* place = sum + k * stride + j;
      Doubles s = doubles_at(place);
      s += a[4 * k] * r0;
      s += a[4 * k + 1] * r1;
      s += a[4 * k + 2] * r2;
      s += a[4 * k + 3] * r3;
      std::memcpy(place, &s, sizeof s);
    }
  }
}

std::size_t packed_place(std::size_t column, std::size_t stride) {
  const std::size_t start = column / 32 * 32;
  const std::size_t block = stride - start >= 32 ? 32 : 16;
  return start + column % 4 * (block / 4) + column % 32 / 4;
}

SOTTO_FOR_EACH_PROCESSOR
void add_eight_rows(const std::int16_t* const* rows, const double* a, double* sum, std::size_t stride) {
  std::size_t j = 0;
  for (; j + 32 <= stride; j += 32) {
    Doubles s0 = doubles_at(sum + j);
    Doubles s1 = doubles_at(sum + j + 8);
    Doubles s2 = doubles_at(sum + j + 16);
    Doubles s3 = doubles_at(sum + j + 24);
    for (int i = 0; i < 8; ++i) {
      Longs words;
      std::memcpy(&words, rows[i] + j, sizeof words);
      s0 += a[i] * raised<Doubles>(words << 36);
      s1 += a[i] * raised<Doubles>(words << 20);
      s2 += a[i] * raised<Doubles>(words << 4);
      s3 += a[i] * raised<Doubles>(words >> 12);
    }
    std::memcpy(sum + j, &s0, sizeof s0);
    std::memcpy(sum + j + 8, &s1, sizeof s1);
    std::memcpy(sum + j + 16, &s2, sizeof s2);
    std::memcpy(sum + j + 24, &s3, sizeof s3);
  }
  if (j < stride) {
    FourDoubles s[4];
    std::memcpy(s, sum + j, sizeof s);
    for (int i = 0; i < 8; ++i) {
      FourLongs words;
      std::memcpy(&words, rows[i] + j, sizeof words);
      s[0] += a[i] * raised<FourDoubles>(words << 36);
      s[1] += a[i] * raised<FourDoubles>(words << 20);
      s[2] += a[i] * raised<FourDoubles>(words << 4);
      s[3] += a[i] * raised<FourDoubles>(words >> 12);
    }
    std::memcpy(sum + j, s, sizeof s);
  }
}

SOTTO_FOR_EACH_PROCESSOR
void logistic_slopes(const double* z, const double* signs, std::size_t rows, double* slopes) {
  for (std::size_t i = 0; i < rows; i += 8) {
    const Doubles sign = doubles_at(signs + i);
    const Doubles x = -sign * doubles_at(z + i);
    const Doubles size = x < 0 ? -x : x;
    const Doubles small = exponential(size > 700 ? Doubles{} - 700 : -size);
    const Doubles slope = -sign * (x < 0 ? small : Doubles{} + 1) / (1 + small);
    std::memcpy(slopes + i, &slope, sizeof slope);
  }
}

SOTTO_FOR_EACH_PROCESSOR
int coefficients(const double* slopes, const float* squares, std::size_t rows, const Rounding& rounding, double* coefficients) {
  const Rounding with = rounding;
  std::int64_t clipped = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double slope = slopes[i];
    const double length = std::sqrt((static_cast<double>(squares[i]) * with.square_factor + with.intercept) * (1 + 0x1p-40));
    const double size = std::abs(slope) * (1 + 0x1p-40) * length;
    const double shortened = with.norm / (with.automatic ? size + with.stability : size) * (1 - 0x1p-36);
    const double factor = !with.automatic && size <= with.norm * (1 - 0x1p-36) ? 1 : shortened;
    double whole = std::trunc(factor * slope * with.per_step);
    whole = whole > with.largest ? with.largest : whole;
    whole = whole < -with.largest ? -with.largest : whole;
    // the bound itself, on the number that is added; not so for NaN, of parameters that have left the doubles
    const double most = with.norm * with.per_step / length;
    coefficients[i] = whole * whole <= most * most * (1 - 0x1p-40) ? whole : 0;
    clipped += size > with.norm ? 1 : 0;
  }
  return static_cast<int>(clipped);
}

std::uint64_t kind_of_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  // besides the kinds for which the loops are compiled, the standard library's functions differ with FMA
  const auto has = [](bool feature, unsigned bit) { return static_cast<std::uint64_t>(feature ? 1 : 0) << bit; };
  return 1 | has(__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0, 1) |
         has(__builtin_cpu_supports("avx2") != 0, 2) | has(__builtin_cpu_supports("fma") != 0, 3);
#elif defined(__aarch64__)
  return 0x100;
#else
  return 0;
#endif
}

}  // namespace sotto::learning_detail
