// The loops of networks. A tile is a number of rows side by side: number i of row t is at [i · rows + t], so that a row's arithmetic is that of its
// lane, in an order that depends neither on the lane nor on the other rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::learning_detail {

inline constexpr std::size_t lanes = 16;  ///< rows a vector; a tile has a multiple of them
inline constexpr std::size_t panel = 8;   ///< outputs that are computed together
inline constexpr std::size_t book_rows = 128;

/// out[o][y][x] = bias[o] + Σ_tap weights[o][tap] in[y][x][tap], the taps in order: a convolution, its transpose, and a dense layer. Steps between
/// neighbours are in floats.
struct Correlation {
  const std::ptrdiff_t* taps = nullptr;  ///< where a tap is, from its position
  std::size_t tap_count = 0;
  const float* weights = nullptr;  ///< [outputs/panel][tap][panel], filled up with 0
  const float* bias = nullptr;     ///< as many as outputs, rounded up to a panel
  std::size_t outputs = 0;
  std::size_t rows = 1, columns = 1;
  std::ptrdiff_t in_row = 0, in_column = 0;
  std::ptrdiff_t out_row = 0, out_column = 0, out_output = 0;
};
void correlate(const Correlation& shape, const float* in, float* out);

/// gradient[o][tap] = Σ_positions slope[o][position] in[position][tap], for each of `lanes` rows by itself; with `more` it is added.
struct LaneGradient {
  const std::ptrdiff_t* taps = nullptr;
  std::size_t tap_count = 0;
  std::size_t outputs = 0;
  std::size_t rows = 1, columns = 1;
  std::ptrdiff_t in_row = 0, in_column = 0;
  std::size_t slope_output = 0;  ///< from one output's slopes to the next one's
};
void gradient_of_lanes(const LaneGradient& shape, const float* in, const float* slope, float* gradient, bool more);

/// sum[o][j] += Σ_rows coefficients[o][row] codes[row][j]: exact for whole numbers while sums stay below 2^53; each sum is of the rows in order.
struct OuterProducts {
  const std::int16_t* const* codes = nullptr;
  std::size_t rows = 0;   ///< at most book_rows
  std::size_t width = 0;  ///< codes a row; as many as fill the next multiple of 16 can be read
  std::size_t outputs = 0;
};
void add_products(const OuterProducts& shape, const double* coefficients, double* sum);  ///< coefficients: [outputs, up to a panel][book_rows]
void add_products(const OuterProducts& shape, const float* coefficients, float* sum);    ///< for comparison: neither exact nor private

/// sum[o] += scale Σ_rows coefficients[o][row].
void add_coefficients(const double* coefficients, std::size_t rows, std::size_t outputs, double scale, double* sum);

/// The rows' codes, as numbers, into a tile.
void spread(const std::int16_t* const* codes, std::size_t width, std::size_t rows, float step, float* tile);
/// A tile of numbers on a grid as rows of codes: codes[t · stride + i].
void gather_codes(const float* tile, std::size_t width, std::size_t rows, float per_step, std::int16_t* codes, std::size_t stride);

/// Σ_i tile[i]² of each row, below the truth by a part of (160 + count/256) 2^-24 and by count · 2^-126 at most.
void squares_of_rows(const float* tile, std::size_t count, std::size_t rows, float* squares);
/// coefficients[i][t] = tile[i][t] · factor[t], rounded toward zero; 0 for what is not below `limit`. Steps of `stride` from one i to the next.
void round_rows(const float* tile, std::size_t count, std::size_t rows, const float* factors, float limit, double* coefficients, std::size_t stride);
/// coefficients[i][t] = tile[i][t] · scale, without rounding: scale is a power of two.
void widen_rows(const float* tile, std::size_t count, std::size_t rows, double scale, double* coefficients, std::size_t stride);
/// sums[i][lane] += tile[i][t] · factor[t], rounded toward zero, over the rows t of a lane; 0 for what is not below `limit`.
void add_rounded(const float* tile, std::size_t count, std::size_t rows, const float* factors, float limit, std::int32_t* sums);

/// Of `count` numbers, a multiple of 16.
void tanh_of(const float* x, float* y, std::size_t count);
void tanh_slope(const float* y, const float* dy, float* dx, std::size_t count);
void relu_of(const float* x, float* y, std::size_t count);
void relu_slope(const float* y, const float* dy, float* dx, std::size_t count);
/// The nearest whole number of steps, at most `limit` of them.
void round_to_grid(const float* x, float* y, std::size_t count, float step, float limit);
/// 0 where round_to_grid is at its limit.
void round_slope(const float* y, const float* dy, float* dx, std::size_t count, float bound);

}  // namespace sotto::learning_detail
