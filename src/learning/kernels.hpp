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
Products products(const std::int16_t* row, const float* paired, std::size_t stride);
/// The weights in the order in which `products` takes them.
void pair_up(const float* weights, std::size_t stride, float* paired);
/// The products with `count` vectors of weights, each `stride` after the last.
void dots(const std::int16_t* row, const float* weights, std::size_t count, std::size_t stride, float* dots);

/// For each of `count` outputs k: sum[k stride + j] += a[4k] rows[0][j] + … + a[4k + 3] rows[3][j]: exact while sums stay below 2^53.
void add_four_rows(const std::int16_t* const* rows, const double* a, std::size_t count, double* sum, std::size_t stride);

/// sum[packed_place(j)] += a[0] (rows[0][j] + code_raise) + … + a[7] (rows[7][j] + code_raise): exact while sums stay below 2^53.
void add_eight_rows(const std::int16_t* const* rows, const double* a, double* sum, std::size_t stride);
inline constexpr double code_raise = 0x1p16 + 0x1p15;
std::size_t packed_place(std::size_t column, std::size_t stride);

/// -s/(1 + e^(s z)) for rows, a multiple of eight, with s = ±1: the slopes of the logistic loss. Off by a part of 2^-46 at most; NaN for NaN.
void logistic_slopes(const double* z, const double* signs, std::size_t rows, double* slopes);

/// How a gradient slope · (x, 1) becomes a coefficient · (x, 1), of whole numbers: see Work in linear.cpp.
struct Rounding {
  bool automatic;          ///< clipping; else flat
  double norm, stability;  ///< of the clipping
  double per_step;         ///< whole numbers in a slope of 1
  double largest;          ///< whole number
  double square_factor;    ///< makes a row's square what it is at most, in features
  double intercept;        ///< 1 or 0: what the intercept adds to the square
};
/// For each row: the coefficients, each rounded toward zero so that coefficient · |(x, 1)| is at most norm · per_step; how many were longer than
/// the norm.
int coefficients(const double* slopes, const float* squares, std::size_t rows, const Rounding& rounding, double* coefficients);

/// A number for the code that the loops choose: processors of one kind round alike.
std::uint64_t kind_of_processor();

}  // namespace sotto::learning_detail
