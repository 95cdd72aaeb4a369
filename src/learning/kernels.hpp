// Loops over rows of codes. Rows and vectors have a multiple of 16 entries; what a row's entry gives does not depend on which other rows there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::learning_detail {

/// A row's product with weights, and its square, in units of the codes. Nonnegative terms: the square is off by a part of (stride/16 + 16) 2^-23 at
/// most.
struct Products {
  float dot;
  float square;
};
Products products(const std::int16_t* row, const float* weights, std::size_t stride);
/// The products with `count` vectors of weights, each `stride` after the last.
void dots(const std::int16_t* row, const float* weights, std::size_t count, std::size_t stride, float* dots);

/// For each of `count` outputs k: sum[k stride + j] += a[4k] rows[0][j] + … + a[4k + 3] rows[3][j]: exact while sums stay below 2^53.
void add_four_rows(const std::int16_t* const* rows, const double* a, std::size_t count, double* sum, std::size_t stride);

}  // namespace sotto::learning_detail
