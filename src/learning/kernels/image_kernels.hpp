// The loops over images of networks: one vector of rows, number i of row t at [i · lanes + t].
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::learning_detail {

struct Pooling {
  std::size_t channels, height, width;  ///< of what comes in
  std::size_t size, stride;
  std::size_t out_height, out_width;
};
void max_pool(const Pooling& shape, const float* x, float* y);
/// The slope goes to the first of the largest.
void max_pool_slope(const Pooling& shape, const float* x, const float* y, const float* dy, float* dx);
void average_pool(const Pooling& shape, const float* x, float* y);
void average_pool_slope(const Pooling& shape, const float* dy, float* dx);

/// Channels in groups of `size` numbers; the variance has 1e-5 added.
struct Grouping {
  std::size_t groups;
  std::size_t channels;   ///< of a group
  std::size_t positions;  ///< of a channel
};
void group_norm(const Grouping& shape, const float* scale, const float* shift, const float* x, float* y);
void group_norm_slope(const Grouping& shape, const float* scale, const float* x, const float* dy, float* dx);
/// [channel] of the scale, then of the shift; with `more` it is added.
void group_norm_gradient(const Grouping& shape, const float* x, const float* dy, float* gradient, bool more);

/// gradient[o] = Σ_positions slope[o][position]; with `more` it is added.
void sum_positions(const float* slope, std::size_t outputs, std::size_t positions, float* gradient, bool more);

}  // namespace sotto::learning_detail
