// Products and sums of rows of codes in integers, one tile of rows at a time. They are exact, so
// all versions of the loops return identical bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto::learning_detail {

inline constexpr std::size_t rows_a_tile = 32;

/// Weights rounded to the nearest step · (8192 high + low), with |high| < 2^13 and |low| <= 2^12.
/// The step is at most 2^-25 of the largest weight; for rows of more than 8192 codes it is larger,
/// so that every product with a row stays below 2^53 steps. A weight that is not finite makes the
/// step NaN. Weights below 2^-970 become 0.
struct WholeWeights {
  WholeWeights(std::span<const double> weights, std::size_t stride);
  std::vector<std::int16_t> high, low;  ///< padded with zeros to a multiple of 32
  double step;
};

/// A Prefetcher holds the rows of the next tile. The loops fetch its lines into the second-level
/// cache evenly while they compute, to hide the latency of memory.
class Prefetcher {
 public:
  Prefetcher() = default;
  Prefetcher(const std::int16_t* const* rows, std::size_t count, std::size_t stride)
      : row_(rows), end_(rows + count), lines_((stride + 31) / 32) {
    next_row();
  }
  [[nodiscard]] std::size_t lines_a_row() const { return lines_; }
  /// Fetches the next line. After the last line it fetches that line again, which costs nothing.
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

/// The products of a row x: dot = Σ (8192 high + low) x and square = Σ x².
struct Products {
  std::int64_t dot, square;
};

/// The loops for one kind of processor. A row has `stride` codes, a multiple of 16, each at most
/// 2^14 in size.
struct TileLoops {
  const char* name;
  void (*products)(const std::int16_t* const* rows, std::size_t count, const WholeWeights& weights,
                   std::size_t stride, Prefetcher& prefetcher, Products* results);
  /// Adds Σ (1024 high[i] + low[i]) rows[i] to the sums, with |high| <= 2^8 and |low| <= 2^9.
  /// `count` must be even.
  void (*add)(const std::int16_t* const* rows, std::size_t count, const std::int16_t* high,
              const std::int16_t* low, std::size_t stride, Prefetcher& prefetcher,
              std::int32_t* sums);
  /// Moves the sums of at most rows_until_emptied rows to doubles, column by column. Exact while
  /// they stay below 2^53.
  void (*empty)(std::int32_t* sums, std::size_t stride, double* to);
};
inline constexpr std::size_t rows_until_emptied = 7 * rows_a_tile;  // 224 · 2^9 · 2^14 < 2^31
/// Returns how many numbers the sums of rows of this stride have.
inline std::size_t sums_of(std::size_t stride) { return 2 * ((stride + 31) / 32 * 32); }

/// Returns the loops that this processor can run, the fastest first.
std::span<const TileLoops> tile_loops();

}  // namespace sotto::learning_detail
