// Loops of networks over images, for one vector of rows: number i of row t is at [i · lanes + t].
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto::learning_detail {

struct Pooling {
  std::size_t channels, height, width;  ///< shape of the input
  std::size_t size, stride;
  std::size_t out_height, out_width;
};
void max_pool(const Pooling& shape, const float* x, float* y);
/// Passes the slope to the first of the largest inputs.
void max_pool_slope(const Pooling& shape, const float* x, const float* y, const float* dy,
                    float* dx);
void average_pool(const Pooling& shape, const float* x, float* y);
void average_pool_slope(const Pooling& shape, const float* dy, float* dx);

/// The groups of a group norm. Adds 1e-5 to the variance.
struct Grouping {
  std::size_t groups;
  std::size_t channels;   ///< channels of a group
  std::size_t positions;  ///< positions of a channel
};
void group_norm(const Grouping& shape, const float* scale, const float* shift, const float* x,
                float* y);
void group_norm_slope(const Grouping& shape, const float* scale, const float* x, const float* dy,
                      float* dx);
/// Writes the gradient of the scale per channel, then of the shift; with `more` it is added to
/// `gradient`.
void group_norm_gradient(const Grouping& shape, const float* x, const float* dy, float* gradient,
                         bool more);

/// Writes gradient[o] = Σ_positions slope[o][position]; with `more` it is added to `gradient`.
void sum_positions(const float* slope, std::size_t outputs, std::size_t positions, float* gradient,
                   bool more);

}  // namespace sotto::learning_detail
