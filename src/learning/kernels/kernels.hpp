// Loops over rows of codes. Rows and vectors have a multiple of 16 entries; what a row's entry gives does not depend on which other rows there are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "learning/kernels/tiles.hpp"

namespace sotto::learning_detail {

/// The products with `count` vectors of weights, each `stride` after the last.
void dots(const std::int16_t* row, const float* weights, std::size_t count, std::size_t stride, float* dots);

/// For each of `count` outputs k: sum[k stride + j] += a[4k] rows[0][j] + … + a[4k + 3] rows[3][j]: exact while sums stay below 2^53.
void add_four_rows(const std::int16_t* const* rows, const double* a, std::size_t count, double* sum, std::size_t stride);

/// z = step · dot + bias, and the squares, of rows whose products are known.
void outputs(const Products* products, std::size_t rows, double step, double bias, double* z, double* squares);

/// -s/(1 + e^(s z)) for rows, a multiple of eight, with s = ±1: the slopes of the logistic loss. Off by a part of 2^-46 at most; NaN for NaN.
void logistic_slopes(const double* z, const double* signs, std::size_t rows, double* slopes);

/// How a gradient slope · (x, 1) becomes a coefficient · (x, 1), of whole numbers: see Work in linear.cpp.
struct Rounding {
  bool automatic;          ///< clipping; else flat
  double norm, stability;  ///< of the clipping
  double per_step;         ///< whole numbers in a slope of 1
  double largest;          ///< whole number
  double square_factor;    ///< of a row's square, to have it in features
  double intercept;        ///< 1 or 0: what the intercept adds to the square
};
/// For each of the rows, a tile at most: the coefficient, rounded toward zero so that coefficient · |(x, 1)| is at most norm · per_step. How
/// many were longer than the norm.
int coefficients(const double* slopes, const double* squares, std::size_t rows, const Rounding& rounding, std::int32_t* coefficients);

/// Whole numbers up to 2^18 in size as 1024 high + low, |high| <= 2^8 and |low| <= 2^9.
void in_two_parts(const std::int32_t* numbers, std::size_t count, std::int16_t* high, std::int16_t* low);

/// A number for the code that the loops choose: processors of one kind round alike.
std::uint64_t kind_of_processor();

}  // namespace sotto::learning_detail
