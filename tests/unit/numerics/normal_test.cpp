// The normal distribution against an oracle of many digits, at points and over balls.
#include "numerics/api/normal.hpp"

#include <gtest/gtest.h>

#include <random>

#include "../../oracle/oracle.hpp"

namespace sotto {
namespace {

using oracle::Row;

using Unary = Real (*)(const Real&);

void check_unary(const char* name, Unary f) {
  oracle::check(oracle::rows("numerics", "function", name),
                [f](const Row& row) { return f(row.number("x")); });
}

TEST(Normal, MillsRatioEnclosesTheOracle) { check_unary("mills_ratio", mills_ratio); }
TEST(Normal, TailEnclosesTheOracle) { check_unary("normal_tail", normal_tail); }
TEST(Normal, CdfEnclosesTheOracle) { check_unary("normal_cdf", normal_cdf); }
TEST(Normal, DensityEnclosesTheOracle) { check_unary("normal_density", normal_density); }

TEST(Normal, EveryFunctionOfABallHoldsItsMembers) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  for (const Unary f :
       {Unary(normal_density), Unary(mills_ratio), Unary(normal_tail), Unary(normal_cdf)}) {
    for (int i = 0; i < 300; ++i) {
      const double centre = 18 * unit(random) - 8;
      const double radius = std::exp(-60 * unit(random));
      const Real ball = f(Real(centre).widened(radius));
      for (const double t : {-1.0, 0.5, 1.0}) {
        const Real member = f(Real(centre) + Real(radius * t));
        ASSERT_TRUE(oracle::encloses(ball, member))
            << centre << " ± " << radius << "\n  " << oracle::show(ball) << "\n  "
            << oracle::show(member);
      }
    }
  }
}

TEST(Normal, QuantileBracketsEveryProbability) {
  for (const double p :
       {1e-320, 1e-300, 1e-100, 1e-10, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-10, 1 - 0x1p-53}) {
    const double low = normal_quantile(p, Side::lower);
    const double high = normal_quantile(p, Side::upper);
    EXPECT_LE(low, high) << p;
    EXPECT_LE(normal_cdf(low).upper(), p);
    if (high < 40) {
      EXPECT_GE(normal_cdf(high).lower(), p);
    }
    if (p > 1e-300) {
      EXPECT_LE(high - low, 1e-13 * (1 + std::fabs(high))) << p;
    }
    // the doubles next to the results are not certain
    EXPECT_LT(normal_cdf(next_down(high)).lower(), p);
    EXPECT_GT(normal_cdf(next_up(low)).upper(), p);
  }
}

}  // namespace
}  // namespace sotto
