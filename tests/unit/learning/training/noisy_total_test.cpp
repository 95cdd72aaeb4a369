// An exact sum and exact noise: on the noise's grid, around the sum, one by one and many at a time.
#include "learning/training/noisy_total.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sotto::learning_detail {
namespace {

// 20000 draws each: mean within 5.5 standard errors, variance within 5.5 of its own; 12 cases, false alarm 1e-6.
TEST(NoisyTotals, AreAroundTheTotalOnTheGridOfTheNoise) {
  const RoundedNoise noise(NoiseKind::gaussian, 3);
  const std::size_t count = 20000;
  for (const std::int64_t total : {std::int64_t{0}, std::int64_t{-1234567890123}, std::int64_t{987654321098765}}) {
    for (const int exponent : {-40, -19}) {
      std::vector<double> noisy(count);
      noisy_totals(std::vector<std::int64_t>(count, total), exponent, noise, noisy);
      for (const bool single : {false, true}) {
        const double truth = std::ldexp(static_cast<double>(total), exponent);
        double sum = 0;
        double squares = 0;
        for (const double many : noisy) {
          const double x = single ? noisy_total(total, exponent, noise) : many;
          const double steps = std::ldexp(x, -noise.grid());
          ASSERT_EQ(steps, std::floor(steps));
          sum += x - truth;
          squares += (x - truth) * (x - truth);
        }
        const auto n = static_cast<double>(count);
        EXPECT_NEAR(sum / n, 0, 5.5 * 3 / std::sqrt(n));
        EXPECT_NEAR(squares / n, 9, 5.5 * 9 * std::sqrt(2 / n));
      }
    }
  }
  std::vector<double> one(1);
  EXPECT_THROW(noisy_totals(std::vector<std::int64_t>{1}, -200, noise, one), InvalidValue);
  EXPECT_THROW(noisy_totals(std::vector<std::int64_t>{1}, -18, noise, one), InvalidValue);
}

TEST(NoisyTotal, KeepsEveryBitOfATotalBeyondTheDoubles) {
  // 2^62 + 512 is no double: rounded before the noise it would be 2^62, and the mean of what is released 512 less
  const int exponent = -40;
  const RoundedNoise noise = noise_on_sums(std::ldexp(300.0, exponent), {&exponent, 1});
  const std::int64_t total = (std::int64_t{1} << 62U) + 512;
  constexpr int draws = 10000;
  for (const std::int64_t sign : {1, -1}) {
    std::vector<double> many(draws);
    noisy_totals(std::vector<std::int64_t>(draws, sign * total), exponent, noise, many);
    for (const bool single : {false, true}) {
      double mean = 0;
      for (const double one : many) {
        mean += static_cast<double>(sign) * std::ldexp(single ? noisy_total(sign * total, exponent, noise) : one, -exponent) - 0x1p62;
      }
      EXPECT_NEAR(mean / draws, 512, 60);  // a deviation of 512/√draws = 5.1: fails by chance with probability below 1e-30
    }
  }
}

TEST(NoisyTotal, HasANoiseGridAThousandTimesCoarserThanTheSums) {
  for (const double scale : {0x1p-60, 0x1p-20, 1.0, 0x1p10}) {
    for (const int exponent : {-50, -32, -5}) {
      EXPECT_GE(noise_on_sums(scale, {&exponent, 1}).grid(), exponent + 10);
      EXPECT_GE(noise_on_sums(scale, {&exponent, 1}).grid(), RoundedNoise::grid_for(scale));
    }
  }
}

}  // namespace
}  // namespace sotto::learning_detail
