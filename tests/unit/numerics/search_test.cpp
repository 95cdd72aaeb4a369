// Searches over doubles and whole numbers: the results, and what was evaluated.
#include "numerics/api/search.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace sotto {
namespace {

double random_double(std::mt19937_64& random) {
  for (;;) {
    const double x = std::bit_cast<double>(random());
    if (std::isfinite(x)) return x;
  }
}

TEST(FirstTrue, FindsTheSmallestDoubleAboveARandomThreshold) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    double low = random_double(random);
    double high = random_double(random);
    double threshold = random_double(random);
    if (low > high) std::swap(low, high);
    if (threshold < low) std::swap(low, threshold);
    if (threshold > high) std::swap(high, threshold);
    int evaluations = 0;
    const double result = first_true(low, high, [&](double x) {
      ++evaluations;
      EXPECT_TRUE(low <= x && x <= high);
      return x >= threshold;
    });
    ASSERT_EQ(result, threshold);
    ASSERT_LE(evaluations, 64);
  }
}

TEST(FirstTrue, FindsNegativeZeroPositiveAndSubnormalThresholds) {
  for (const double t : {-1e300, -1.0, -1e-300, -5e-324, 0.0, 5e-324, 1e-310, 1.0, 1e300}) {
    EXPECT_EQ(first_true(-1.5e300, 1.5e300, [t](double x) { return x >= t; }), t);
  }
}

TEST(FirstTrue, TheEndsCanBeResults) {
  EXPECT_EQ(first_true(-3, 5, [](double) { return true; }), -3);
  EXPECT_EQ(first_true(-3, 5, [](double) { return false; }), 5);
  EXPECT_EQ(first_true(-3, 5, [](double x) { return x >= 5; }), 5);
  EXPECT_EQ(first_true(2, 2, [](double) { return false; }), 2);
  EXPECT_EQ(first_true(-5, -3, [](double x) { return x >= -4; }), -4);
}

TEST(FirstTrue, EveryResultBelowTheTopWasEvaluated) {
  for (const double t : {-2.5, 0.1, 4.0}) {
    double last_true = std::numeric_limits<double>::quiet_NaN();
    const double result = first_true(-3, 5, [&](double x) {
      if (x >= t) last_true = x;
      return x >= t;
    });
    EXPECT_EQ(result, last_true);
  }
}

TEST(FirstTrueCount, FindsTheFirstWholeNumber) {
  for (const std::int64_t t : {-1000, -1, 0, 1, 77, 1000}) {
    EXPECT_EQ(first_true_count(-1000, 1000, [t](std::int64_t n) { return n >= t; }), t);
  }
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(first_true_count(least, most, [](std::int64_t n) { return n >= 12345; }), 12345);
  EXPECT_EQ(first_true_count(least, most, [](std::int64_t) { return false; }), most);
  EXPECT_EQ(first_true_count(least, most, [](std::int64_t) { return true; }), least);
}

TEST(LeastPoint, ComesNearTheMinimum) {
  EXPECT_NEAR(least_point(-10, 10, [](double x) { return (x - 3) * (x - 3); }), 3, 1e-6);
  EXPECT_NEAR(least_point(-10, 10, [](double x) { return std::fabs(x + 7.5); }), -7.5, 1e-6);
  EXPECT_NEAR(least_point(0, 1, [](double x) { return x; }), 0, 1e-6);
  EXPECT_NEAR(least_point(0, 1, [](double x) { return -x; }), 1, 1e-6);
}

TEST(LeastPoint, AvoidsInfinityAndNanTowardsTheTop) {
  const auto f = [](double beyond) {
    return [beyond](double x) { return x > 4 ? beyond : (x - 3) * (x - 3); };
  };
  EXPECT_NEAR(least_point(-10, 1000, f(INFINITY)), 3, 1e-6);
  EXPECT_NEAR(least_point(-10, 1000, f(NAN)), 3, 1e-6);
}

}  // namespace
}  // namespace sotto
