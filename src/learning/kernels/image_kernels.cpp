// Loops of pooling and group norm over one vector of rows.
#include "learning/kernels/image_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "learning/kernels/network_kernels.hpp"
#include "learning/kernels/vectors.hpp"

namespace sotto::learning_detail {
namespace {

[[gnu::always_inline]] inline const float* corner(const Pooling& s, const float* x, std::size_t c,
                                                  std::size_t i, std::size_t j) {
  return x + ((c * s.height + i * s.stride) * s.width + j * s.stride) * lanes;
}

struct Moments {
  Sixteen mean, per_deviation;
};

// Returns the mean of a group and 1/√(variance + 1e-5).
[[gnu::always_inline]] inline Moments moments_of(const float* x, std::size_t count) {
  Sixteen sum{};
  for (std::size_t i = 0; i < count; ++i) sum += load<Sixteen>(x + i * lanes);
  const Sixteen mean = sum / static_cast<float>(count);
  Sixteen squares{};
  for (std::size_t i = 0; i < count; ++i) {
    const Sixteen off = load<Sixteen>(x + i * lanes) - mean;
    squares += off * off;
  }
  Sixteen deviation = squares / static_cast<float>(count) + 1e-5F;
  for (std::size_t t = 0; t < lanes; ++t) deviation[t] = std::sqrt(deviation[t]);
  return {mean, 1.0F / deviation};
}

}  // namespace

SOTTO_EACH_PROCESSOR
void max_pool(const Pooling& s, const float* x, float* y) {
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t i = 0; i < s.out_height; ++i) {
      for (std::size_t j = 0; j < s.out_width; ++j, y += lanes) {
        const float* from = corner(s, x, c, i, j);
        auto most = load<Sixteen>(from);
        for (std::size_t a = 0; a < s.size; ++a) {
          for (std::size_t b = 0; b < s.size; ++b) {
            const auto v = load<Sixteen>(from + (a * s.width + b) * lanes);
            most = v > most ? v : most;
          }
        }
        store(y, most);
      }
    }
  }
}

SOTTO_EACH_PROCESSOR
void max_pool_slope(const Pooling& s, const float* x, const float* y, const float* dy, float* dx) {
  std::fill(dx, dx + s.channels * s.height * s.width * lanes, 0.0F);
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t i = 0; i < s.out_height; ++i) {
      for (std::size_t j = 0; j < s.out_width; ++j, y += lanes, dy += lanes) {
        const float* from = corner(s, x, c, i, j);
        float* to = dx + (from - x);
        const auto most = load<Sixteen>(y);
        auto left = load<Sixteen>(dy);
        for (std::size_t a = 0; a < s.size; ++a) {
          for (std::size_t b = 0; b < s.size; ++b) {
            const std::size_t at = (a * s.width + b) * lanes;
            const SixteenWhole here = load<Sixteen>(from + at) == most;
            store(to + at, load<Sixteen>(to + at) + (here ? left : Sixteen{}));
            left = here ? Sixteen{} : left;
          }
        }
      }
    }
  }
}

SOTTO_EACH_PROCESSOR
void average_pool(const Pooling& s, const float* x, float* y) {
  const float share = 1 / static_cast<float>(s.size * s.size);
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t i = 0; i < s.out_height; ++i) {
      for (std::size_t j = 0; j < s.out_width; ++j, y += lanes) {
        const float* from = corner(s, x, c, i, j);
        Sixteen sum{};
        for (std::size_t a = 0; a < s.size; ++a) {
          for (std::size_t b = 0; b < s.size; ++b)
            sum += load<Sixteen>(from + (a * s.width + b) * lanes);
        }
        store(y, sum * share);
      }
    }
  }
}

SOTTO_EACH_PROCESSOR
void average_pool_slope(const Pooling& s, const float* dy, float* dx) {
  std::fill(dx, dx + s.channels * s.height * s.width * lanes, 0.0F);
  const float share = 1 / static_cast<float>(s.size * s.size);
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t i = 0; i < s.out_height; ++i) {
      for (std::size_t j = 0; j < s.out_width; ++j, dy += lanes) {
        float* to = dx + ((c * s.height + i * s.stride) * s.width + j * s.stride) * lanes;
        const Sixteen slope = load<Sixteen>(dy) * share;
        for (std::size_t a = 0; a < s.size; ++a) {
          for (std::size_t b = 0; b < s.size; ++b) {
            float* place = to + (a * s.width + b) * lanes;
            store(place, load<Sixteen>(place) + slope);
          }
        }
      }
    }
  }
}

SOTTO_EACH_PROCESSOR
void group_norm(const Grouping& s, const float* scale, const float* shift, const float* x,
                float* y) {
  const std::size_t count = s.channels * s.positions;
  for (std::size_t g = 0; g < s.groups; ++g) {
    const Moments m = moments_of(x + g * count * lanes, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (g * count + i) * lanes;
      const std::size_t channel = g * s.channels + i / s.positions;
      store(y + at,
            (load<Sixteen>(x + at) - m.mean) * m.per_deviation * scale[channel] + shift[channel]);
    }
  }
}

// With h = (x - mean)/deviation and d = dy · scale: dx = (d - mean(d) - h mean(d h)) / deviation.
SOTTO_EACH_PROCESSOR
void group_norm_slope(const Grouping& s, const float* scale, const float* x, const float* dy,
                      float* dx) {
  const std::size_t count = s.channels * s.positions;
  const float share = 1 / static_cast<float>(count);
  for (std::size_t g = 0; g < s.groups; ++g) {
    const Moments m = moments_of(x + g * count * lanes, count);
    Sixteen sum{};
    Sixteen with{};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (g * count + i) * lanes;
      const Sixteen d = load<Sixteen>(dy + at) * scale[g * s.channels + i / s.positions];
      sum += d;
      with += d * ((load<Sixteen>(x + at) - m.mean) * m.per_deviation);
    }
    sum *= share;
    with *= share;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (g * count + i) * lanes;
      const Sixteen d = load<Sixteen>(dy + at) * scale[g * s.channels + i / s.positions];
      const Sixteen h = (load<Sixteen>(x + at) - m.mean) * m.per_deviation;
      store(dx + at, (d - sum - h * with) * m.per_deviation);
    }
  }
}

SOTTO_EACH_PROCESSOR
void group_norm_gradient(const Grouping& s, const float* x, const float* dy, float* gradient,
                         bool more) {
  const std::size_t count = s.channels * s.positions;
  const std::size_t channels = s.groups * s.channels;
  for (std::size_t g = 0; g < s.groups; ++g) {
    const Moments m = moments_of(x + g * count * lanes, count);
    for (std::size_t c = 0; c < s.channels; ++c) {
      const std::size_t channel = g * s.channels + c;
      float* to_scale = gradient + channel * lanes;
      float* to_shift = gradient + (channels + channel) * lanes;
      Sixteen scale = more ? load<Sixteen>(to_scale) : Sixteen{};
      Sixteen shift = more ? load<Sixteen>(to_shift) : Sixteen{};
      for (std::size_t i = 0; i < s.positions; ++i) {
        const std::size_t at = (channel * s.positions + i) * lanes;
        const auto d = load<Sixteen>(dy + at);
        scale += d * ((load<Sixteen>(x + at) - m.mean) * m.per_deviation);
        shift += d;
      }
      store(to_scale, scale);
      store(to_shift, shift);
    }
  }
}

SOTTO_EACH_PROCESSOR
void sum_positions(const float* slope, std::size_t outputs, std::size_t positions, float* gradient,
                   bool more) {
  for (std::size_t o = 0; o < outputs; ++o) {
    Sixteen sum = more ? load<Sixteen>(gradient + o * lanes) : Sixteen{};
    for (std::size_t i = 0; i < positions; ++i)
      sum += load<Sixteen>(slope + (o * positions + i) * lanes);
    store(gradient + o * lanes, sum);
  }
}

}  // namespace sotto::learning_detail
