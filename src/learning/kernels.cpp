#include "kernels.hpp"

#include <cstring>

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
using EightCodes [[gnu::vector_size(16)]] = std::int16_t;
using Doubles [[gnu::vector_size(64)]] = double;

[[gnu::always_inline]] inline Floats codes_at(const std::int16_t* place) {
  Codes codes;
  std::memcpy(&codes, place, sizeof codes);
  return __builtin_convertvector(codes, Floats);
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
  return __builtin_convertvector(codes, Doubles);
}

[[gnu::always_inline]] inline float total(Floats lanes) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace

SOTTO_FOR_EACH_PROCESSOR
Products products(const std::int16_t* row, const float* weights, std::size_t stride) {
  Floats dot0{};
  Floats dot1{};
  Floats square0{};
  Floats square1{};
  std::size_t j = 0;
  for (; j + 32 <= stride; j += 32) {
    const Floats x0 = codes_at(row + j);
    const Floats x1 = codes_at(row + j + 16);
    dot0 += x0 * floats_at(weights + j);
    dot1 += x1 * floats_at(weights + j + 16);
    square0 += x0 * x0;
    square1 += x1 * x1;
  }
  if (j < stride) {
    const Floats x0 = codes_at(row + j);
    dot0 += x0 * floats_at(weights + j);
    square0 += x0 * x0;
  }
  return {total(dot0 + dot1), total(square0 + square1)};
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

}  // namespace sotto::learning_detail
