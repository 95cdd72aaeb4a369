// Slopes and coefficients of rows, against the standard library and the norm.
#include "learning/kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sotto::learning_detail {
namespace {

TEST(LinearKernels, LogisticSlopesAreNearTheTruthInEveryPlace) {
  std::mt19937_64 engine(2);
  std::vector<double> points{0,
                             -0.0,
                             1e-300,
                             1e-9,
                             0.3466,
                             36,
                             37,
                             699,
                             700,
                             701,
                             1e9,
                             1e300,
                             std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 2000; ++i)
    points.push_back(std::ldexp(static_cast<double>(engine() >> 11U), -53) * (i % 2 == 0 ? 40 : 2));
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
        const long double truth =
            -static_cast<long double>(sign) / (1 + std::exp(-static_cast<long double>(x)));
        for (const double slope : slopes) {
          ASSERT_EQ(slope, slopes[0]);
          if (x >= -700) {
            ASSERT_NEAR(slope, static_cast<double>(truth),
                        0x1p-46 * std::abs(static_cast<double>(truth)))
                << z;
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
                      .norm = std::ldexp(1 + static_cast<double>(engine() % 1000) / 1000,
                                         static_cast<int>(engine() % 20) - 10),
                      .stability = 0.01,
                      .per_step = 0x1p18,
                      .largest = 0x1p18,
                      .square_factor = 0x1p-28,
                      .intercept = round % 2 == 0 ? 1.0 : 0.0};
    std::array<double, 8> slopes{};
    std::array<double, 8> squares{};
    for (std::size_t i = 0; i < 8; ++i) {
      slopes[i] = std::ldexp(static_cast<double>(engine() % 2001) / 1000 - 1,
                             static_cast<int>(engine() % 30) - 15);
      squares[i] =
          static_cast<double>(engine() % (1U << 30U)) * static_cast<double>(engine() % 200);
    }
    slopes[0] = std::nan("");
    slopes[1] = std::numeric_limits<double>::infinity();
    squares[2] = 0;
    std::array<std::int32_t, 8> found{};
    (void)coefficients(slopes.data(), squares.data(), 8, rounding, found.data());
    EXPECT_EQ(found[0], 0);
    for (std::size_t i = 0; i < 8; ++i) {
      ASSERT_LE(std::abs(found[i]), rounding.largest);
      ASSERT_FALSE(static_cast<double>(found[i]) * slopes[i] < 0);
      const long double length = std::sqrt(static_cast<long double>(squares[i]) * 0x1p-28L +
                                           static_cast<long double>(rounding.intercept));
      const long double most = static_cast<long double>(rounding.norm) * rounding.per_step / length;
      ASSERT_LE(std::abs(static_cast<long double>(found[i])), most);
      // no more is lost than a step and a part of 2^-30, but by the largest whole number
      if (i < 2 || rounding.automatic) continue;
      const long double wanted = std::min(
          {most, std::abs(static_cast<long double>(slopes[i])) * rounding.per_step, 0x1p18L});
      ASSERT_GE(std::abs(static_cast<long double>(found[i])), wanted * (1 - 0x1p-30L) - 1);
    }
  }
}

TEST(LinearKernels, PartsOfACoefficientAreSmallAndGiveItBack) {
  std::vector<std::int32_t> numbers{-(1 << 18), 1 << 18, -512, 511, 512, -513, 0};
  for (std::int32_t a = -(1 << 18); a <= 1 << 18; a += 37) numbers.push_back(a);
  std::vector<std::int16_t> high(numbers.size());
  std::vector<std::int16_t> low(numbers.size());
  in_two_parts(numbers.data(), numbers.size(), high.data(), low.data());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(1024 * high[i] + low[i], numbers[i]);
    ASSERT_LE(std::abs(high[i]), 256);
    ASSERT_LE(std::abs(low[i]), 512);
  }
}

}  // namespace
}  // namespace sotto::learning_detail
