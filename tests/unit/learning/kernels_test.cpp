// The loops over rows, against whole numbers and the standard library.
#include "learning/kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sotto/data/examples.hpp"

namespace sotto::learning_detail {
namespace {

std::vector<std::int16_t> random_codes(std::size_t count, std::mt19937& engine) {
  std::vector<std::int16_t> codes(count);
  for (std::int16_t& code : codes) {
    const auto word = engine() % 40000;
    code =
        word > 32768 ? (word % 2 == 0 ? feature_one : std::int16_t{-feature_one}) : static_cast<std::int16_t>(static_cast<int>(word) - feature_one);
  }
  return codes;
}

TEST(LinearKernels, SumsOfEightRowsAreTheWholeNumbers) {
  std::mt19937 engine(1);
  for (const std::size_t stride : {16, 32, 48, 112, 256}) {
    std::vector<double> packed(stride);
    std::vector<std::int64_t> whole(stride);
    double coefficients = 0;
    for (int round = 0; round < 100; ++round) {
      std::vector<std::vector<std::int16_t>> rows;
      std::array<const std::int16_t*, 8> places{};
      std::array<double, 8> a{};
      for (std::size_t i = 0; i < 8; ++i) {
        rows.push_back(random_codes(stride, engine));
        const auto size = static_cast<std::int64_t>(round == 0 ? 1U << 18U : engine() % ((1U << 18U) + 1));
        const std::int64_t signed_size = engine() % 2 == 0 ? size : -size;
        a[i] = static_cast<double>(signed_size);
        coefficients += a[i];
        for (std::size_t j = 0; j < stride; ++j) whole[j] += signed_size * rows[i][j];
      }
      for (std::size_t i = 0; i < 8; ++i) places[i] = rows[i].data();
      add_eight_rows(places.data(), a.data(), packed.data(), stride);
    }
    for (std::size_t j = 0; j < stride; ++j) {
      ASSERT_EQ(packed[packed_place(j, stride)] - coefficients * code_raise, static_cast<double>(whole[j])) << stride << " " << j;
    }
  }
}

TEST(LinearKernels, AProductTakesEachCodeWithItsWeight) {
  for (const std::size_t stride : {16, 32, 48, 112}) {
    for (std::size_t j = 0; j < stride; ++j) {
      std::vector<std::int16_t> row(stride);
      std::vector<float> weights(stride);
      std::vector<float> paired(stride);
      for (std::size_t i = 0; i < stride; ++i) weights[i] = static_cast<float>(i + 1);
      pair_up(weights.data(), stride, paired.data());
      row[j] = -3;
      const Products found = products(row.data(), paired.data(), stride);
      EXPECT_EQ(found.dot, -3 * static_cast<float>(j + 1));
      EXPECT_EQ(found.square, 9);
    }
  }
}

TEST(LinearKernels, LogisticSlopesAreNearTheTruthInEveryPlace) {
  std::mt19937_64 engine(2);
  std::vector<double> points{0, -0.0, 1e-300, 1e-9, 0.3466, 36, 37, 699, 700, 701, 1e9, 1e300, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 2000; ++i) points.push_back(std::ldexp(static_cast<double>(engine() >> 11U), -53) * (i % 2 == 0 ? 40 : 2));
  for (const double point : points) {
    for (const double z : {point, -point}) {
      for (const double sign : {-1.0, 1.0}) {
        std::array<double, 8> zs{};
        std::array<double, 8> signs{};
        std::array<double, 8> slopes{};
        zs.fill(z);
        signs.fill(sign);
        logistic_slopes(zs.data(), signs.data(), 8, slopes.data());
        const double x = -sign * z;
        const long double truth = -static_cast<long double>(sign) / (1 + std::exp(-static_cast<long double>(x)));
        for (const double slope : slopes) {
          ASSERT_EQ(slope, slopes[0]);
          if (x >= -700) {
            ASSERT_NEAR(slope, static_cast<double>(truth), 0x1p-46 * std::abs(static_cast<double>(truth))) << z;
          } else {
            ASSERT_LE(std::abs(slope), 1e-300) << z;
          }
        }
      }
    }
  }
  std::array<double, 8> bad{};
  std::array<double, 8> signs{};
  signs.fill(1);
  bad.fill(std::nan(""));
  std::array<double, 8> slopes{};
  logistic_slopes(bad.data(), signs.data(), 8, slopes.data());
  EXPECT_TRUE(std::isnan(slopes[3]));
}

// Whatever the slope, a coefficient times the row's length is at most the norm.
TEST(LinearKernels, CoefficientsKeepTheNorm) {
  std::mt19937_64 engine(3);
  for (int round = 0; round < 20000; ++round) {
    Rounding rounding{.automatic = round % 3 == 0,
                      .norm = std::ldexp(1 + static_cast<double>(engine() % 1000) / 1000, static_cast<int>(engine() % 20) - 10),
                      .stability = 0.01,
                      .per_step = 0x1p18,
                      .largest = 0x1p18,
                      .square_factor = std::ldexp(1 + 1e-5, -28),
                      .intercept = round % 2 == 0 ? 1.0 : 0.0};
    std::array<double, 8> slopes{};
    std::array<float, 8> squares{};
    for (std::size_t i = 0; i < 8; ++i) {
      slopes[i] = std::ldexp(static_cast<double>(engine() % 2001) / 1000 - 1, static_cast<int>(engine() % 30) - 15);
      squares[i] = static_cast<float>(engine() % (1U << 30U)) * static_cast<float>(engine() % 200);
    }
    slopes[0] = std::nan("");
    slopes[1] = std::numeric_limits<double>::infinity();
    squares[2] = 0;
    std::array<double, 8> found{};
    (void)coefficients(slopes.data(), squares.data(), 8, rounding, found.data());
    for (std::size_t i = 0; i < 8; ++i) {
      ASSERT_EQ(found[i], std::trunc(found[i]));
      ASSERT_LE(std::abs(found[i]), rounding.largest);
      const long double length = std::sqrt(static_cast<long double>(squares[i]) * 0x1p-28L + static_cast<long double>(rounding.intercept));
      ASSERT_LE(std::abs(static_cast<long double>(found[i])) * length, static_cast<long double>(rounding.norm) * rounding.per_step);
    }
  }
}

}  // namespace
}  // namespace sotto::learning_detail
