// Loops of networks over tiles of rows: correlations, gradients, exact outer products, activations.
#include "learning/kernels/network_kernels.hpp"

#include <algorithm>

#include "learning/kernels/vectors.hpp"

namespace sotto::learning_detail {
namespace {

// Computes `panel` outputs at N neighbouring positions.
template <int N>
[[gnu::always_inline]] inline void correlate_block(const Correlation& s, const float* in,
                                                   const float* weights, const float* bias,
                                                   float* out, std::size_t valid) {
  Sixteen sums[panel][N];
#pragma GCC unroll 8
  for (std::size_t o = 0; o < panel; ++o) {
#pragma GCC unroll 3
    for (int n = 0; n < N; ++n) sums[o][n] = all_of(bias[o]);
  }
  for (std::size_t tap = 0; tap < s.tap_count; ++tap) {
    const float* place = in + s.taps[tap];
    Sixteen x[N];
#pragma GCC unroll 3
    for (int n = 0; n < N; ++n) x[n] = load<Sixteen>(place + n * s.in_column);
#pragma GCC unroll 8
    for (std::size_t o = 0; o < panel; ++o) {
      const Sixteen w = all_of(weights[tap * panel + o]);
#pragma GCC unroll 3
      for (int n = 0; n < N; ++n) sums[o][n] += w * x[n];
    }
  }
  if (valid == panel) {
#pragma GCC unroll 8
    for (std::size_t o = 0; o < panel; ++o) {
#pragma GCC unroll 3
      for (int n = 0; n < N; ++n)
        store(out + static_cast<std::ptrdiff_t>(o) * s.out_output + n * s.out_column, sums[o][n]);
    }
    return;
  }
  for (std::size_t o = 0; o < valid; ++o) {
    for (int n = 0; n < N; ++n)
      store(out + static_cast<std::ptrdiff_t>(o) * s.out_output + n * s.out_column, sums[o][n]);
  }
}

// Sums the products of the slopes of O outputs with T taps over all positions.
template <int O, int T>
[[gnu::always_inline]] inline void gradient_block(const LaneGradient& s, const float* in,
                                                  const float* slope, const std::ptrdiff_t* taps,
                                                  float* gradient, bool more) {
  Sixteen sums[O][T];
#pragma GCC unroll 8
  for (int o = 0; o < O; ++o) {
#pragma GCC unroll 3
    for (int t = 0; t < T; ++t) {
      const float* place =
          gradient +
          (static_cast<std::size_t>(o) * s.tap_count + static_cast<std::size_t>(t)) * lanes;
      sums[o][t] = more ? load<Sixteen>(place) : Sixteen{};
    }
  }
  for (std::size_t y = 0; y < s.rows; ++y) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      const float* place = in + static_cast<std::ptrdiff_t>(y) * s.in_row +
                           static_cast<std::ptrdiff_t>(x) * s.in_column;
      Sixteen values[T];
#pragma GCC unroll 3
      for (int t = 0; t < T; ++t) values[t] = load<Sixteen>(place + taps[t]);
#pragma GCC unroll 8
      for (int o = 0; o < O; ++o) {
        const auto d = load<Sixteen>(slope + static_cast<std::size_t>(o) * s.slope_output +
                                     (y * s.columns + x) * lanes);
#pragma GCC unroll 3
        for (int t = 0; t < T; ++t) sums[o][t] += d * values[t];
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < O; ++o) {
#pragma GCC unroll 3
    for (int t = 0; t < T; ++t) {
      store(gradient +
                (static_cast<std::size_t>(o) * s.tap_count + static_cast<std::size_t>(t)) * lanes,
            sums[o][t]);
    }
  }
}

template <int O>
[[gnu::always_inline]] inline void gradient_of_outputs(const LaneGradient& s, const float* in,
                                                       const float* slope, float* gradient,
                                                       bool more) {
  std::size_t tap = 0;
  for (; tap + 3 <= s.tap_count; tap += 3)
    gradient_block<O, 3>(s, in, slope, s.taps + tap, gradient + tap * lanes, more);
  for (; tap < s.tap_count; ++tap)
    gradient_block<O, 1>(s, in, slope, s.taps + tap, gradient + tap * lanes, more);
}

// Sums the products of `panel` outputs with three vectors of columns, over the rows in order.
template <class Vector, class Number>
[[gnu::always_inline]] inline void product_block(const Number* columns, const Number* coefficients,
                                                 std::size_t rows, Number* sum, std::size_t width,
                                                 std::size_t valid, std::size_t valid_columns) {
  constexpr std::size_t in_vector = sizeof(Vector) / sizeof(Number);
  Vector sums[panel][3];
#pragma GCC unroll 8
  for (std::size_t o = 0; o < panel; ++o) {
#pragma GCC unroll 3
    for (std::size_t v = 0; v < 3; ++v) sums[o][v] = Vector{};
  }
  for (std::size_t row = 0; row < rows; ++row) {
    Vector x[3];
#pragma GCC unroll 3
    for (std::size_t v = 0; v < 3; ++v) x[v] = load<Vector>(columns + (3 * row + v) * in_vector);
#pragma GCC unroll 8
    for (std::size_t o = 0; o < panel; ++o) {
      const Vector a = all_of(coefficients[o * book_rows + row]);
#pragma GCC unroll 3
      for (std::size_t v = 0; v < 3; ++v) sums[o][v] += a * x[v];
    }
  }
  if (valid == panel && valid_columns == 3 * in_vector) {
#pragma GCC unroll 8
    for (std::size_t o = 0; o < panel; ++o) {
#pragma GCC unroll 3
      for (std::size_t v = 0; v < 3; ++v) {
        Number* place = sum + o * width + v * in_vector;
        store(place, load<Vector>(place) + sums[o][v]);
      }
    }
    return;
  }
  Number all[panel][3 * in_vector];
  std::memcpy(all, sums, sizeof all);
  for (std::size_t o = 0; o < valid; ++o) {
    for (std::size_t j = 0; j < valid_columns; ++j) sum[o * width + j] += all[o][j];
  }
}

// Processes three vectors of columns at a time: codes are converted once, and stay in the
// first-level cache for all outputs.
template <class Vector, class Number, class Codes>
[[gnu::always_inline]] inline void products_of_panels(const OuterProducts& s,
                                                      const Number* coefficients, Number* sum) {
  constexpr std::size_t in_vector = sizeof(Vector) / sizeof(Number);
  constexpr std::size_t step = 3 * in_vector;
  const std::size_t readable = (s.width + 15) / 16 * 16;
  alignas(64) Number columns[book_rows * step];
  for (std::size_t j = 0; j < s.width; j += step) {
    for (std::size_t row = 0; row < s.rows; ++row) {
      for (std::size_t v = 0; v < 3; ++v) {
        const std::size_t at = j + v * in_vector;
        Vector x{};
        if (at + in_vector <= readable)
          x = __builtin_convertvector(load<Codes>(s.codes[row] + at), Vector);
        store(columns + row * step + v * in_vector, x);
      }
    }
    for (std::size_t o = 0; o < s.outputs; o += panel) {
      product_block<Vector, Number>(columns, coefficients + o * book_rows, s.rows,
                                    sum + o * s.width + j, s.width, std::min(panel, s.outputs - o),
                                    std::min(step, s.width - j));
    }
  }
}

// Returns e^x for x <= 0 with a relative error of at most 2^-22; 0 below -87.
[[gnu::always_inline]] inline Sixteen exp_below_zero(Sixteen x) {
  constexpr float lowest = -87.0F;
  constexpr float log2_of_e = 1.44269504F;
  constexpr float ln2_high =
      0.693359375F;  // few bits, so that its product with a small integer is exact
  constexpr float ln2_low = -2.12194440e-4F;
  constexpr float shift = 12582912.0F;  // 1.5 · 2^23: adding it rounds to a whole number
  x = x > lowest ? x : all_of(lowest);
  const Sixteen whole = (x * log2_of_e + shift) - shift;
  const Sixteen r = (x - whole * ln2_high) - whole * ln2_low;
  // the series of e^r, |r| <= ln(2)/2
  Sixteen p = r * (1.0F / 5040) + (1.0F / 720);
  p = p * r + (1.0F / 120);
  p = p * r + (1.0F / 24);
  p = p * r + (1.0F / 6);
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const SixteenWhole power = (__builtin_convertvector(whole, SixteenWhole) + 127) << 23;
  return p * load<Sixteen>(&power);
}

}  // namespace

SOTTO_EACH_PROCESSOR
void correlate(const Correlation& s, const float* in, float* out) {
  for (std::size_t o = 0; o < s.outputs; o += panel) {
    const float* weights = s.weights + o * s.tap_count;
    const std::size_t valid = std::min(panel, s.outputs - o);
    for (std::size_t y = 0; y < s.rows; ++y) {
      const float* from = in + static_cast<std::ptrdiff_t>(y) * s.in_row;
      float* to = out + static_cast<std::ptrdiff_t>(o) * s.out_output +
                  static_cast<std::ptrdiff_t>(y) * s.out_row;
      std::size_t left = s.columns;
      // two independent sums of two, so that additions overlap
      for (; left >= 5 || left == 3; left -= 3, from += 3 * s.in_column, to += 3 * s.out_column) {
        correlate_block<3>(s, from, weights, s.bias + o, to, valid);
      }
      for (; left >= 2; left -= 2, from += 2 * s.in_column, to += 2 * s.out_column)
        correlate_block<2>(s, from, weights, s.bias + o, to, valid);
      if (left == 1) correlate_block<1>(s, from, weights, s.bias + o, to, valid);
    }
  }
}

SOTTO_EACH_PROCESSOR
void gradient_of_lanes(const LaneGradient& s, const float* in, const float* slope, float* gradient,
                       bool more) {
  std::size_t o = 0;
  for (; o + panel <= s.outputs; o += panel) {
    gradient_of_outputs<8>(s, in, slope + o * s.slope_output, gradient + o * s.tap_count * lanes,
                           more);
  }
  for (; o < s.outputs; ++o)
    gradient_of_outputs<1>(s, in, slope + o * s.slope_output, gradient + o * s.tap_count * lanes,
                           more);
}

SOTTO_EACH_PROCESSOR
void add_products(const OuterProducts& shape, const double* coefficients, double* sum) {
  products_of_panels<Eight, double, EightShorts>(shape, coefficients, sum);
}

SOTTO_EACH_PROCESSOR
void add_products(const OuterProducts& shape, const float* coefficients, float* sum) {
  products_of_panels<Sixteen, float, SixteenCodes>(shape, coefficients, sum);
}

SOTTO_EACH_PROCESSOR
void add_coefficients(const double* coefficients, std::size_t rows, std::size_t outputs,
                      double scale, double* sum) {
  for (std::size_t o = 0; o < outputs; ++o) {
    const double* from = coefficients + o * book_rows;
    Eight sums{};
    std::size_t row = 0;
    for (; row + 8 <= rows; row += 8) sums += load<Eight>(from + row);
    double all =
        ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; row < rows; ++row) all += from[row];
    sum[o] += all * scale;
  }
}

SOTTO_EACH_PROCESSOR
void spread(const std::int16_t* const* codes, std::size_t width, std::size_t rows, float step,
            float* tile) {
  for (std::size_t t = 0; t < rows; t += lanes) {
    for (std::size_t j = 0; j < width; j += lanes) {
      float block[lanes][lanes];
      for (std::size_t i = 0; i < lanes; ++i) {
        store(block[i],
              __builtin_convertvector(load<SixteenCodes>(codes[t + i] + j), Sixteen) * step);
      }
      const std::size_t valid = std::min(lanes, width - j);
      for (std::size_t k = 0; k < valid; ++k) {
        float* to = tile + (j + k) * rows + t;
        for (std::size_t i = 0; i < lanes; ++i) to[i] = block[i][k];
      }
    }
  }
}

SOTTO_EACH_PROCESSOR
void gather_codes(const float* tile, std::size_t width, std::size_t rows, float per_step,
                  std::int16_t* codes, std::size_t stride) {
  for (std::size_t t = 0; t < rows; t += lanes) {
    for (std::size_t j = 0; j < width; j += lanes) {
      float block[lanes][lanes] = {};
      const std::size_t valid = std::min(lanes, width - j);
      for (std::size_t k = 0; k < valid; ++k)
        store(block[k], load<Sixteen>(tile + (j + k) * rows + t) * per_step);
      for (std::size_t i = 0; i < lanes; ++i) {
        Sixteen row;
        for (std::size_t k = 0; k < lanes; ++k) row[k] = block[k][i];
        store(codes + (t + i) * stride + j, __builtin_convertvector(row, SixteenCodes));
      }
    }
  }
}

SOTTO_EACH_PROCESSOR
void squares_of_rows(const float* tile, std::size_t count, std::size_t rows, float* squares) {
  for (std::size_t t = 0; t < rows; t += lanes) {
    Sixteen total{};
    // Sum short blocks first, so that rounding errors accumulate slowly.
    for (std::size_t from = 0; from < count; from += 512) {
      const std::size_t end = std::min(count, from + 512);
      Sixteen sums[4] = {};
      std::size_t i = from;
      for (; i + 4 <= end; i += 4) {
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
          const auto x = load<Sixteen>(tile + (i + k) * rows + t);
          sums[k] += x * x;
        }
      }
      for (; i < end; ++i) {
        const auto x = load<Sixteen>(tile + i * rows + t);
        sums[0] += x * x;
      }
      total += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    store(squares + t, total);
  }
}

SOTTO_EACH_PROCESSOR
void round_rows(const float* tile, std::size_t count, std::size_t rows, const float* factors,
                float limit, double* coefficients, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < rows; t += 8) {
      const EightFloats scaled =
          load<EightFloats>(tile + i * rows + t) * load<EightFloats>(factors + t);
      const EightFloats below = scaled < limit ? scaled : EightFloats{};  // NaN becomes 0 too
      const EightFloats safe = below > -limit ? below : EightFloats{};
      using EightWhole [[gnu::vector_size(32)]] = std::int32_t;
      store(coefficients + i * stride + t,
            __builtin_convertvector(__builtin_convertvector(safe, EightWhole), Eight));
    }
  }
}

SOTTO_EACH_PROCESSOR
void widen_rows(const float* tile, std::size_t count, std::size_t rows, double scale,
                double* coefficients, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < rows; t += 8) {
      store(coefficients + i * stride + t,
            __builtin_convertvector(load<EightFloats>(tile + i * rows + t), Eight) * scale);
    }
  }
}

SOTTO_EACH_PROCESSOR
void add_rounded(const float* tile, std::size_t count, std::size_t rows, const float* factors,
                 float limit, std::int32_t* sums) {
  for (std::size_t i = 0; i < count; ++i) {
    auto sum = load<SixteenWhole>(sums + i * lanes);
    for (std::size_t t = 0; t < rows; t += lanes) {
      const Sixteen scaled = load<Sixteen>(tile + i * rows + t) * load<Sixteen>(factors + t);
      const Sixteen below = scaled < limit ? scaled : Sixteen{};  // NaN becomes 0 too
      const Sixteen safe = below > -limit ? below : Sixteen{};
      sum += __builtin_convertvector(safe, SixteenWhole);
    }
    store(sums + i * lanes, sum);
  }
}

// Uses tanh|x| = (1 - e^(-2|x|)) / (1 + e^(-2|x|)), with an error of at most 2^-22.
SOTTO_EACH_PROCESSOR
void tanh_of(const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto v = load<Sixteen>(x + i);
    const Sixteen size = v < 0.0F ? -v : v;
    const Sixteen e = exp_below_zero(-2.0F * size);
    const Sixteen t = (1.0F - e) / (1.0F + e);
    store(y + i, v < 0.0F ? -t : t);
  }
}

SOTTO_EACH_PROCESSOR
void tanh_slope(const float* y, const float* dy, float* dx, std::size_t count) {
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto v = load<Sixteen>(y + i);
    store(dx + i, load<Sixteen>(dy + i) * (1.0F - v * v));
  }
}

SOTTO_EACH_PROCESSOR
void relu_of(const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto v = load<Sixteen>(x + i);
    store(y + i, v > 0.0F ? v : Sixteen{});
  }
}

SOTTO_EACH_PROCESSOR
void relu_slope(const float* y, const float* dy, float* dx, std::size_t count) {
  for (std::size_t i = 0; i < count; i += lanes) {
    store(dx + i, load<Sixteen>(y + i) > 0.0F ? load<Sixteen>(dy + i) : Sixteen{});
  }
}

SOTTO_EACH_PROCESSOR
void round_to_grid(const float* x, float* y, std::size_t count, float step, float limit) {
  constexpr float shift = 12582912.0F;  // 1.5 · 2^23: adding it rounds to a whole number
  const float per_step = 1 / step;
  for (std::size_t i = 0; i < count; i += lanes) {
    Sixteen v = load<Sixteen>(x + i) * per_step;
    v = v < limit ? v : all_of(limit);
    v = v > -limit ? v : all_of(-limit);
    store(y + i, ((v + shift) - shift) * step);
  }
}

SOTTO_EACH_PROCESSOR
void round_slope(const float* y, const float* dy, float* dx, std::size_t count, float bound) {
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto v = load<Sixteen>(y + i);
    const Sixteen size = v < 0.0F ? -v : v;
    store(dx + i, size < bound ? load<Sixteen>(dy + i) : Sixteen{});
  }
}

}  // namespace sotto::learning_detail
