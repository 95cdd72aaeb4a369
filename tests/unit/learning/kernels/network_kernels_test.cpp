// The loops of networks: rounding toward zero makes nothing larger, sums of whole numbers are
// exact.
#include "learning/kernels/network_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sotto::learning_detail {
namespace {

constexpr std::size_t count = 57;

struct Tile {
  explicit Tile(unsigned seed, std::size_t some_rows)
      : rows(some_rows), numbers(count * rows), factors(rows) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> spread(-6, 6);
    std::uniform_real_distribution<float> logs(-3, 8);
    for (float& x : numbers) x = spread(engine);
    for (float& f : factors) f = std::exp(logs(engine));
    numbers[3] = std::numeric_limits<float>::quiet_NaN();
    numbers[rows] = std::numeric_limits<float>::infinity();
    numbers[2 * rows + 1] = -std::numeric_limits<float>::infinity();
    numbers[4 * rows + 2] = -std::numeric_limits<float>::max();
  }
  std::size_t rows;
  std::vector<float> numbers, factors;
};

double toward_zero(float x, float factor, float limit) {
  const float product = x * factor;
  return product < limit && product > -limit ? std::trunc(static_cast<double>(product)) : 0;
}

TEST(NetworkKernels, RoundingIsTowardZeroAndTooLargeNumbersBecomeZero) {
  for (const std::size_t rows : {lanes, 2 * lanes}) {
    const Tile tile(1, rows);
    const float limit = 5000;
    std::vector<double> coefficients(count * book_rows);
    round_rows(tile.numbers.data(), count, rows, tile.factors.data(), limit, coefficients.data(),
               book_rows);
    std::vector<std::int32_t> sums(count * lanes, 7);
    add_rounded(tile.numbers.data(), count, rows, tile.factors.data(), limit, sums.data());
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<double> expected(lanes, 7);
      for (std::size_t t = 0; t < rows; ++t) {
        const double whole = toward_zero(tile.numbers[i * rows + t], tile.factors[t], limit);
        EXPECT_EQ(coefficients[i * book_rows + t], whole);
        expected[t % lanes] += whole;
      }
      for (std::size_t lane = 0; lane < lanes; ++lane)
        EXPECT_EQ(sums[i * lanes + lane], expected[lane]);
    }
  }
}

TEST(NetworkKernels, GridsRoundToTheNearestAndSaturate) {
  const Tile tile(2, lanes);
  std::vector<float> rounded(tile.numbers.size());
  const float step = 0x1p-12F;
  round_to_grid(tile.numbers.data(), rounded.data(), rounded.size(), step, 20000);
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const float x = tile.numbers[i];
    if (x != x) {
      EXPECT_LE(std::abs(rounded[i]), 20000 * step);
      continue;
    }
    EXPECT_EQ(rounded[i], std::nearbyint(std::min(std::max(x / step, -20000.0F), 20000.0F)) * step);
  }
}

TEST(NetworkKernels, SumsOfOuterProductsAreExactAndCodesSurvive) {
  std::mt19937 engine(3);
  for (const std::size_t width : {1, 15, 16, 23, 24, 49, 100}) {
    for (const std::size_t outputs : {1, 8, 13}) {
      for (const std::size_t rows : {1, 31, 128}) {
        const std::size_t stride = (width + 15) / 16 * 16;
        std::vector<std::int16_t> codes(book_rows * stride);
        std::vector<const std::int16_t*> places;
        for (std::size_t r = 0; r < book_rows; ++r) {
          for (std::size_t j = 0; j < width; ++j)
            codes[r * stride + j] = static_cast<std::int16_t>(engine());
          places.push_back(codes.data() + r * stride);
        }
        std::vector<double> coefficients(16 * book_rows);
        for (std::size_t i = 0; i < outputs * book_rows; ++i)
          coefficients[i] = static_cast<double>(engine() % (1U << 21U)) - 0x1p20;
        std::vector<double> sum(outputs * width, 3);
        add_products({.codes = places.data(), .rows = rows, .width = width, .outputs = outputs},
                     coefficients.data(), sum.data());
        std::vector<double> biases(outputs, 5);
        add_coefficients(coefficients.data(), rows, outputs, 4, biases.data());
        for (std::size_t o = 0; o < outputs; ++o) {
          std::int64_t bias = 5;
          for (std::size_t r = 0; r < rows; ++r)
            bias += 4 * static_cast<std::int64_t>(coefficients[o * book_rows + r]);
          EXPECT_EQ(biases[o], static_cast<double>(bias));
          for (std::size_t j = 0; j < width; ++j) {
            std::int64_t expected = 3;
            for (std::size_t r = 0; r < rows; ++r)
              expected += static_cast<std::int64_t>(coefficients[o * book_rows + r]) *
                          codes[r * stride + j];
            ASSERT_EQ(sum[o * width + j], static_cast<double>(expected))
                << width << " " << outputs << " " << rows;
          }
        }
        std::vector<float> tile(width * 2 * lanes);
        spread(places.data(), width, 2 * lanes, 0x1p-12F, tile.data());
        std::vector<std::int16_t> back(2 * lanes * stride, 1);
        gather_codes(tile.data(), width, 2 * lanes, 0x1p12F, back.data(), stride);
        for (std::size_t r = 0; r < 2 * lanes; ++r) {
          for (std::size_t j = 0; j < stride; ++j)
            ASSERT_EQ(back[r * stride + j], codes[r * stride + j]);
        }
      }
    }
  }
}

TEST(NetworkKernels, SquaresOfRowsAreWithinTheStatedError) {
  std::mt19937 engine(4);
  std::uniform_real_distribution<float> spread(-1, 1);
  for (const std::size_t n : {1, 5, 511, 513, 9000}) {
    std::vector<float> tile(n * lanes);
    for (float& x : tile) x = spread(engine);
    std::vector<float> squares(lanes);
    squares_of_rows(tile.data(), n, lanes, squares.data());
    for (std::size_t t = 0; t < lanes; ++t) {
      double exact = 0;
      for (std::size_t i = 0; i < n; ++i)
        exact +=
            static_cast<double>(tile[i * lanes + t]) * static_cast<double>(tile[i * lanes + t]);
      EXPECT_NEAR(static_cast<double>(squares[t]), exact,
                  exact * (160 + static_cast<double>(n) / 256) * 0x1p-24);
    }
  }
}

TEST(NetworkKernels, TanhIsRight) {
  std::vector<float> x(4000 * lanes);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.001F * static_cast<float>(i) - 32;
  std::vector<float> y(x.size());
  tanh_of(x.data(), y.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], std::tanh(x[i]), 4e-7) << x[i];
}

}  // namespace
}  // namespace sotto::learning_detail
