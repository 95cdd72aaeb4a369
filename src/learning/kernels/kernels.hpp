// Loops over rows of codes. Rows and vectors have a multiple of 16 entries. The result for a row
// does not depend on the other rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learning/kernels/tiles.hpp"

namespace sotto::learning_detail {

/// Writes the products of a row with `count` vectors of weights, `stride` floats apart.
void dots(const std::int16_t* row, const float* weights, std::size_t count, std::size_t stride,
          float* dots);

/// For each of `count` outputs k adds a[4k] rows[0][j] + … + a[4k + 3] rows[3][j] to sum[k stride +
/// j]. Exact while sums stay below 2^53.
void add_four_rows(const std::int16_t* const* rows, const double* a, std::size_t count, double* sum,
                   std::size_t stride);

/// Writes z = step · dot + bias and the squares of rows.
void outputs(const Products* products, std::size_t rows, double step, double bias, double* z,
             double* squares);

/// Writes the slopes of the logistic loss, -s/(1 + e^(s z)) with signs s = ±1, with a relative
/// error of at most 2^-46; NaN for NaN. `rows` is a multiple of eight.
void logistic_slopes(const double* z, const double* signs, std::size_t rows, double* slopes);

/// How a gradient slope · (x, 1) is clipped and rounded to an integer coefficient · (x, 1); see
/// linear.cpp.
struct Rounding {
  bool automatic;          ///< automatic clipping; else flat
  double norm, stability;  ///< as in Clipping
  double per_step;         ///< the coefficient of a slope of 1
  double largest;          ///< largest allowed coefficient
  double square_factor;    ///< converts the square of a row of codes to the square of its features
  double intercept;        ///< 1 with an intercept, else 0: its part of the square
};
/// Writes the coefficient of each row, rounded toward zero so that coefficient · |(x, 1)| is at
/// most norm · per_step. There are at most rows_a_tile rows. Returns how many gradients were longer
/// than the norm.
int coefficients(const double* slopes, const double* squares, std::size_t rows,
                 const Rounding& rounding, std::int32_t* coefficients);

/// Splits integers of at most 2^18 in size into 1024 high + low with |high| <= 2^8 and |low| <=
/// 2^9.
void in_two_parts(const std::int32_t* numbers, std::size_t count, std::int16_t* high,
                  std::int16_t* low);

/// Returns an id of the code that the loops select at run time. Processors with equal ids round
/// equally.
std::uint64_t kind_of_processor();

}  // namespace sotto::learning_detail
