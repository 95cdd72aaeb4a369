// Vector types for the loops of networks. The compiler maps a vector to as many registers as the
// processor needs. Sources that use them are compiled for several kinds of processor
// (cmake/SottoLearning.cmake).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SOTTO_EACH_PROCESSOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SOTTO_EACH_PROCESSOR
#endif

namespace sotto::learning_detail {

using Sixteen [[gnu::vector_size(64)]] = float;
using SixteenWhole [[gnu::vector_size(64)]] = std::int32_t;
using SixteenCodes [[gnu::vector_size(32)]] = std::int16_t;
using Eight [[gnu::vector_size(64)]] = double;
using EightFloats [[gnu::vector_size(32)]] = float;
using EightShorts [[gnu::vector_size(16)]] = std::int16_t;

template <class Vector, class Number>
[[gnu::always_inline]] inline Vector load(const Number* place) {
  Vector vector;
  std::memcpy(&vector, place, sizeof vector);
  return vector;
}
template <class Vector, class Number>
[[gnu::always_inline]] inline void store(Number* place, const Vector& vector) {
  std::memcpy(place, &vector, sizeof vector);
}
[[gnu::always_inline]] inline Sixteen all_of(float number) { return number - Sixteen{}; }
[[gnu::always_inline]] inline Eight all_of(double number) { return number - Eight{}; }

}  // namespace sotto::learning_detail
