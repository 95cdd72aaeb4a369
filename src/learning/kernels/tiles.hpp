// Products and sums of rows of codes in whole numbers, a tile of rows at a time: exact, so every version of the loops gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto::learning_detail {

inline constexpr std::size_t rows_a_tile = 32;

/// Weights, each rounded to the nearest step · (8192 high + low), |high| < 2^13 and |low| <= 2^12: the step is at most 2^-25 of the largest weight,
/// or for rows of more than 8192 codes such a part that every product with a row is below 2^53 steps. One that is not finite makes the step NaN, and
/// weights below 2^-970 are taken for 0.
struct WholeWeights {
  WholeWeights(std::span<const double> weights, std::size_t stride);
  std::vector<std::int16_t> high, low;  ///< zeros up to a multiple of 32
  double step;
};

/// Rows that will be needed after these: the loops fetch them into the second-level cache as they go, evenly, so that memory never waits.
class Coming {
 public:
  Coming() = default;
  Coming(const std::int16_t* const* rows, std::size_t count, std::size_t stride) : row_(rows), end_(rows + count), lines_((stride + 31) / 32) {
    next_row();
  }
  [[nodiscard]] std::size_t lines_a_row() const { return lines_; }
  /// The next line; again the last one, which costs nothing, when there are no more.
  void fetch() {
    __builtin_prefetch(at_, 0, 2);
    at_ += step_;
    if (--left_ == 0) next_row();
  }
  void fetch_all() {
    while (step_ != 0) fetch();
  }

 private:
  void next_row() {
    if (row_ == end_) {
      at_ -= step_;
      step_ = 0;
      left_ = SIZE_MAX;
      return;
    }
    at_ = *row_++;
    step_ = 32;
    left_ = lines_;
  }
  static constexpr std::int16_t nothing[32] = {};
  const std::int16_t* const* row_ = nullptr;
  const std::int16_t* const* end_ = nullptr;
  const std::int16_t* at_ = nothing;
  std::size_t step_ = 0, left_ = SIZE_MAX, lines_ = 0;
};

/// Of a row x: Σ (8192 high + low) x, and Σ x².
struct Products {
  std::int64_t dot, square;
};

/// The loops for one kind of processor. A row has `stride` codes, a multiple of 16, each at most 2^14 in size.
struct TileLoops {
  const char* name;
  void (*products)(const std::int16_t* const* rows, std::size_t count, const WholeWeights& weights, std::size_t stride, Coming& coming,
                   Products* found);
  /// Adds Σ (1024 high[i] + low[i]) rows[i] to the sums. An even count of rows, |high| <= 2^8 and |low| <= 2^9.
  void (*add)(const std::int16_t* const* rows, std::size_t count, const std::int16_t* high, const std::int16_t* low, std::size_t stride,
              Coming& coming, std::int32_t* sums);
  /// Moves the sums of at most rows_until_emptied rows to the doubles, column by column: exact while those stay below 2^53.
  void (*empty)(std::int32_t* sums, std::size_t stride, double* to);
};
inline constexpr std::size_t rows_until_emptied = 7 * rows_a_tile;  // 224 · 2^9 · 2^14 < 2^31
/// How many numbers the sums of a row have.
inline std::size_t sums_of(std::size_t stride) { return 2 * ((stride + 31) / 32 * 32); }

/// Those that this processor can run, the best first.
std::span<const TileLoops> tile_loops();

}  // namespace sotto::learning_detail
