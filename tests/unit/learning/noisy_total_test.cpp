// An exact sum and exact noise: on the noise's grid, around the sum, one by one and many at a time.
#include "learning/noisy_total.hpp"

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
    for (const int exponent : {-40, 2}) {
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
}

}  // namespace
}  // namespace sotto::learning_detail
