// Loops of networks over tiles. A tile holds several rows side by side: number i of row t is at [i
// · rows + t]. A row is computed in one lane, in an order that depends neither on the lane nor on
// the other rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::learning_detail {

inline constexpr std::size_t lanes = 16;  ///< rows per vector; a tile has a multiple of them
inline constexpr std::size_t panel = 8;   ///< outputs that are computed together
inline constexpr std::size_t book_rows =
    128;  ///< rows that are buffered before outer products are summed

/// out[o][y][x] = bias[o] + Σ_tap weights[o][tap] in[y][x][tap], summed in the order of the taps.
/// It covers convolutions, their transposes and dense layers. Distances between neighbours are in
/// floats.
struct Correlation {
  const std::ptrdiff_t* taps = nullptr;  ///< offset of each tap from its position
  std::size_t tap_count = 0;
  const float* weights = nullptr;  ///< [outputs/panel][tap][panel], padded with 0
  const float* bias = nullptr;     ///< one per output, padded to a multiple of panel
  std::size_t outputs = 0;
  std::size_t rows = 1, columns = 1;
  std::ptrdiff_t in_row = 0, in_column = 0;
  std::ptrdiff_t out_row = 0, out_column = 0, out_output = 0;
};
void correlate(const Correlation& shape, const float* in, float* out);

/// gradient[o][tap] = Σ_positions slope[o][position] in[position][tap], separately for each of
/// `lanes` rows; with `more` it is added to `gradient`.
struct LaneGradient {
  const std::ptrdiff_t* taps = nullptr;
  std::size_t tap_count = 0;
  std::size_t outputs = 0;
  std::size_t rows = 1, columns = 1;
  std::ptrdiff_t in_row = 0, in_column = 0;
  std::size_t slope_output = 0;  ///< distance between the slopes of consecutive outputs
};
void gradient_of_lanes(const LaneGradient& shape, const float* in, const float* slope,
                       float* gradient, bool more);

/// sum[o][j] += Σ_rows coefficients[o][row] codes[row][j], summed in the order of the rows. Exact
/// for integers while sums stay below 2^53.
struct OuterProducts {
  const std::int16_t* const* codes = nullptr;
  std::size_t rows = 0;   ///< at most book_rows
  std::size_t width = 0;  ///< codes per row; memory must be readable up to the next multiple of 16
  std::size_t outputs = 0;
};
void add_products(const OuterProducts& shape, const double* coefficients,
                  double* sum);  ///< coefficients: [outputs, padded to panel][book_rows]
void add_products(const OuterProducts& shape, const float* coefficients,
                  float* sum);  ///< for comparison: neither exact nor private

/// Adds scale Σ_rows coefficients[o][row] to sum[o].
void add_coefficients(const double* coefficients, std::size_t rows, std::size_t outputs,
                      double scale, double* sum);

/// Writes the codes of rows, times `step`, to a tile.
void spread(const std::int16_t* const* codes, std::size_t width, std::size_t rows, float step,
            float* tile);
/// Writes a tile of numbers on a grid as rows of codes: codes[t · stride + i].
void gather_codes(const float* tile, std::size_t width, std::size_t rows, float per_step,
                  std::int16_t* codes, std::size_t stride);

/// Writes Σ_i tile[i]² of each row. It is below the exact value by a relative error of at most (160
/// + count/256) 2^-24 plus count · 2^-126.
void squares_of_rows(const float* tile, std::size_t count, std::size_t rows, float* squares);
/// Writes coefficients[i][t] = tile[i][t] · factor[t], rounded toward zero; 0 if the size is not
/// below `limit`. Rows i are `stride` apart.
void round_rows(const float* tile, std::size_t count, std::size_t rows, const float* factors,
                float limit, double* coefficients, std::size_t stride);
/// Writes coefficients[i][t] = tile[i][t] · scale, without rounding error: scale is a power of two.
void widen_rows(const float* tile, std::size_t count, std::size_t rows, double scale,
                double* coefficients, std::size_t stride);
/// Adds tile[i][t] · factor[t], rounded toward zero, to sums[i][lane] for the rows t of each lane;
/// adds 0 if the size is not below `limit`.
void add_rounded(const float* tile, std::size_t count, std::size_t rows, const float* factors,
                 float limit, std::int32_t* sums);

/// Activations and their slopes of `count` numbers, a multiple of 16.
void tanh_of(const float* x, float* y, std::size_t count);
void tanh_slope(const float* y, const float* dy, float* dx, std::size_t count);
void relu_of(const float* x, float* y, std::size_t count);
void relu_slope(const float* y, const float* dy, float* dx, std::size_t count);
/// Rounds to the nearest multiple of `step`, saturating at ±`limit` steps.
void round_to_grid(const float* x, float* y, std::size_t count, float step, float limit);
/// The slope of round_to_grid, taken as 1, and 0 where it saturates.
void round_slope(const float* y, const float* dy, float* dx, std::size_t count, float bound);

}  // namespace sotto::learning_detail
