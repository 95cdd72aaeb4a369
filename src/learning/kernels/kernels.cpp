// Loops over rows of codes: products, sums, slopes of the logistic loss, clipped coefficients.
#include "learning/kernels/kernels.hpp"

#include <cmath>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SOTTO_FOR_EACH_PROCESSOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SOTTO_FOR_EACH_PROCESSOR
#endif

namespace sotto::learning_detail {
namespace {

// Vectors of sixteen numbers; the compiler maps them to as many registers as the processor needs.
using Codes [[gnu::vector_size(32)]] = std::int16_t;
using Floats [[gnu::vector_size(64)]] = float;
using Whole [[gnu::vector_size(64)]] = std::int32_t;
using EightFloats [[gnu::vector_size(32)]] = float;
using FourFloats [[gnu::vector_size(16)]] = float;
using EightCodes [[gnu::vector_size(16)]] = std::int16_t;
using EightWhole [[gnu::vector_size(32)]] = std::int32_t;
using Doubles [[gnu::vector_size(64)]] = double;
using Longs [[gnu::vector_size(64)]] = std::int64_t;

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

// Returns e^x for -708 <= x <= 0 with a relative error of at most 2^-48: x = k ln 2 + r with |r| <=
// ln 2 / 2, and e^r by its series.
[[gnu::always_inline]] inline Doubles exponential(Doubles x) {
  constexpr double shifter = 0x1.8p52;  // adding x to it rounds x to an integer, in the lowest bits
  const Doubles shifted = x * 0x1.71547652b82fep0 + shifter;
  const Doubles k = shifted - shifter;
  const Doubles r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  Doubles sum = Doubles{} + 1.0 / 6227020800.0;  // 1/13!
  for (const double term :
       {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0, 1.0}) {
    sum = sum * r + term;
  }
  const Longs exponent = (Longs)shifted << 52;  // NOLINT(google-readability-casting)  the bits
  return (Doubles)((Longs)sum + exponent);      // NOLINT(google-readability-casting)
}

// Sums the lanes of a vector by adding halves, in registers.
[[gnu::always_inline]] inline float total(Floats lanes) {
  const EightFloats eight = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3, 4, 5, 6, 7) +
                            __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15);
  const FourFloats four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                          __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace

SOTTO_FOR_EACH_PROCESSOR
void dots(const std::int16_t* row, const float* weights, std::size_t count, std::size_t stride,
          float* dots) {
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
    for (std::size_t j = 0; j < stride; j += 16)
      dot0 += codes_at(row + j) * floats_at(weights + k * stride + j);
    dots[k] = total(dot0);
  }
}

SOTTO_FOR_EACH_PROCESSOR
void add_four_rows(const std::int16_t* const* rows, const double* a, std::size_t count, double* sum,
                   std::size_t stride) {
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

SOTTO_FOR_EACH_PROCESSOR
void outputs(const Products* products, std::size_t rows, double step, double bias, double* z,
             double* squares) {
  for (std::size_t i = 0; i < rows; ++i) {
    z[i] = static_cast<double>(products[i].dot) * step + bias;
    squares[i] = static_cast<double>(products[i].square);
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

// Short loops without branches, so that compilers vectorise them.
SOTTO_FOR_EACH_PROCESSOR
int coefficients(const double* slopes, const double* squares, std::size_t rows,
                 const Rounding& rounding, std::int32_t* coefficients) {
  const Rounding with = rounding;
  double lengths[rows_a_tile];
  double most[rows_a_tile];  // largest allowed size of a slope
  for (std::size_t i = 0; i < rows; ++i) {
    lengths[i] = std::sqrt((squares[i] * with.square_factor + with.intercept) * (1 + 0x1p-40));
    most[i] = with.norm / lengths[i];
  }
  double clipped_slopes[rows_a_tile];  // size of the clipped slope; NaN for NaN
  if (with.automatic) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double size = std::abs(slopes[i]);
      clipped_slopes[i] = with.norm / (size * lengths[i] + with.stability) * size * (1 - 0x1p-36);
    }
  } else {
    for (std::size_t i = 0; i < rows; ++i) {
      const double size = std::abs(slopes[i]);
      const double shortened = most[i] * (1 - 0x1p-36);
      clipped_slopes[i] = shortened < size ? shortened : size;
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const double exactly = clipped_slopes[i] * with.per_step;
    const double steps = exactly > with.largest ? with.largest : exactly;
    const double nearest = (steps + 0x1p52) - 0x1p52;
    clipped_slopes[i] =
        nearest -
        (nearest > steps
             ? 1
             : 0);  // rounds toward zero inline: std::trunc is a function call in some libraries
  }
  for (std::size_t i = 0; i < rows; ++i) {
    // Enforce the sensitivity bound on the integer that is added. NaN, from parameters that
    // overflowed, becomes 0.
    const double bound = most[i] * with.per_step;
    const double sound = clipped_slopes[i] * clipped_slopes[i] <= bound * bound * (1 - 0x1p-40)
                             ? clipped_slopes[i]
                             : 0;
    clipped_slopes[i] = std::copysign(sound, slopes[i]);
  }
  for (std::size_t i = 0; i < rows; ++i)
    coefficients[i] = static_cast<std::int32_t>(clipped_slopes[i]);
  std::int32_t clipped = 0;
  for (std::size_t i = 0; i < rows; ++i)
    clipped += std::abs(slopes[i]) * lengths[i] > with.norm ? 1 : 0;
  return clipped;
}

SOTTO_FOR_EACH_PROCESSOR
void in_two_parts(const std::int32_t* numbers, std::size_t count, std::int16_t* high,
                  std::int16_t* low) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t upper = (numbers[i] + 512) >> 10;
    high[i] = static_cast<std::int16_t>(upper);
    low[i] = static_cast<std::int16_t>(numbers[i] - upper * 1024);
  }
}

std::uint64_t kind_of_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  // FMA counts too: the standard library's functions round differently with it.
  const auto has = [](bool feature, unsigned bit) {
    return static_cast<std::uint64_t>(feature ? 1 : 0) << bit;
  };
  return 1 |
         has(__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                 __builtin_cpu_supports("avx512vl") != 0,
             1) |
         has(__builtin_cpu_supports("avx2") != 0, 2) | has(__builtin_cpu_supports("fma") != 0, 3);
#elif defined(__aarch64__)
  return 0x100;
#else
  return 0;
#endif
}

}  // namespace sotto::learning_detail
