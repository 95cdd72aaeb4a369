// Exact sums with exact noise: on the grid of the noise, around the sum, one total at a time and
// many at once.
#include "mechanisms/api/noisy_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace sotto {
namespace {

// 20000 draws each: mean within 5.5 standard errors, variance within 5.5 of its own; 12 cases,
// false alarm 1e-6.
TEST(NoisySum, IsAroundTheTotalOnTheGridOfTheNoise) {
  const std::vector<int> exponents{-40, -19};
  const NoisySum noise(GaussianNoise(3, 1), exponents);
  const std::size_t count = 20000;
  for (const std::int64_t total :
       {std::int64_t{0}, std::int64_t{-1234567890123}, std::int64_t{987654321098765}}) {
    for (const std::size_t layer : {0U, 1U}) {
      std::vector<double> noisy(count);
      noise.release(layer, std::vector<std::int64_t>(count, total), noisy);
      for (const bool single : {false, true}) {
        const double truth = std::ldexp(static_cast<double>(total), exponents[layer]);
        double sum = 0;
        double squares = 0;
        for (const double many : noisy) {
          const double x = single ? noise.release(layer, total) : many;
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
}

TEST(NoisySum, ALayerThatIsTooFineForTheNoiseIsRefused) {
  const NoisySum noise(GaussianNoise(3, 1), {-200});
  std::vector<double> one(1);
  EXPECT_THROW(noise.release(0, std::vector<std::int64_t>{1}, one), InvalidValue);
  EXPECT_THROW((void)noise.release(0, 1), InvalidValue);
}

TEST(NoisySum, KeepsEveryBitOfATotalBeyondTheDoubles) {
  // 2^62 + 512 is no double: rounded before the noise it would be 2^62, and the mean of what is
  // released 512 less
  const int exponent = -40;
  const NoisySum noise(GaussianNoise(300, std::ldexp(1.0, exponent)), {exponent});
  const std::int64_t total = (std::int64_t{1} << 62U) + 512;
  constexpr int draws = 10000;
  for (const std::int64_t sign : {1, -1}) {
    std::vector<double> many(draws);
    noise.release(0, std::vector<std::int64_t>(draws, sign * total), many);
    for (const bool single : {false, true}) {
      double mean = 0;
      for (const double one : many) {
        mean += static_cast<double>(sign) *
                    std::ldexp(single ? noise.release(0, sign * total) : one, -exponent) -
                0x1p62;
      }
      EXPECT_NEAR(
          mean / draws, 512,
          60);  // a deviation of 512/√draws = 5.1: fails by chance with probability below 1e-30
    }
  }
}

TEST(NoisySum, HasAGridAThousandTimesCoarserThanTheSums) {
  for (const double scale : {0x1p-60, 0x1p-20, 1.0, 0x1p10}) {
    for (const int exponent : {-50, -32, -5}) {
      EXPECT_GE(NoisySum(GaussianNoise(1, scale), {exponent}).grid(), exponent + 10);
      EXPECT_GE(NoisySum(GaussianNoise(1, scale), {-60, exponent}).grid(), exponent + 10);
      EXPECT_GE(NoisySum(GaussianNoise(1, scale), {exponent}).grid(), grid_for_scale(scale));
    }
  }
}

}  // namespace
}  // namespace sotto
