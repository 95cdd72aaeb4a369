// Rounded doubles, logarithms of sums and tails, and log M with its error.
#include "pld/arithmetic/support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "sotto/core/errors.hpp"

namespace sotto::pld_detail {
namespace {

TEST(RoundedDouble, HasTheRelativeErrorOfItsBall) {
  EXPECT_EQ(RoundedDouble(Real(0)).value, 0);
  EXPECT_LE(RoundedDouble(Real(1) / 3).relative, 4 * unit);
  EXPECT_NEAR(RoundedDouble(Real::ball(2, 0, 1e-6)).relative, 5e-7, 1e-12);
}

TEST(RoundedDouble, RefusesWhatHasNoFirstOrderBound) {
  EXPECT_THROW(RoundedDouble(Real::ball(1, 0, 0.01)),
               OutsideConditions);  // a relative error above 2^-10
  EXPECT_THROW(RoundedDouble(Real::ball(0, 0, 1e-9)),
               OutsideConditions);  // a ball around 0 has none
  EXPECT_THROW(RoundedDouble(Real(std::numeric_limits<double>::infinity())), OutsideConditions);
}

TEST(RequireMasses, AcceptsAPartOnlyWhereTheRestIsAtZero) {
  EXPECT_NO_THROW(require_masses(1 + 1e-12, 1e-9, MassSum::whole));
  EXPECT_NO_THROW(require_masses(0.3, 1e-9, MassSum::part));
  EXPECT_THROW(require_masses(0.3, 1e-9, MassSum::whole), OutsideConditions);
  EXPECT_THROW(require_masses(1.1, 1e-9, MassSum::part), OutsideConditions);
  EXPECT_THROW(require_masses(std::nan(""), 1e-9, MassSum::part), OutsideConditions);
}

TEST(LogSum, AddsInLogSpace) {
  EXPECT_NEAR(log_sum(std::log(2.0), std::log(3.0)), std::log(5.0), 1e-15);
  EXPECT_EQ(log_sum(-infinity, -700), -700);
  EXPECT_EQ(log_sum(-infinity, -infinity), -infinity);
  EXPECT_NEAR(log_sum(1000, 1000), 1000 + std::log(2.0), 1e-12);
  EXPECT_TRUE(std::isnan(log_sum(std::nan(""), 1)));
  EXPECT_TRUE(std::isnan(log_sum(1, std::nan(""))));
}

TEST(LogExpm1, KeepsSmallAndLargeArguments) {
  EXPECT_NEAR(log_expm1(1e-20), std::log(1e-20), 1e-13);
  EXPECT_NEAR(log_expm1(std::log(3.0)), std::log(2.0), 1e-15);
  EXPECT_EQ(log_expm1(800), 800);
}

// mpmath, 40 digits: log P(Z > z)
TEST(LogNormalTail, IsAnUpperBoundWithinLogTwo) {
  for (const auto& [z, log] :
       {std::pair{0.5, -1.17591176159361861}, std::pair{1.0, -1.84102164500926351},
        std::pair{5.0, -15.0649983939887257}, std::pair{20.0, -203.917155371097264},
        std::pair{40.0, -804.608442013753788}}) {
    EXPECT_GE(log_normal_tail(z), log) << z;
    EXPECT_LE(log_normal_tail(z), log + 0.7) << z;
  }
  EXPECT_EQ(log_normal_tail(-1), 0);
}

TEST(LogOfExcess, KeepsAnExcessFarBelowARoundingOfOne) {
  const LogMgfValue value = log_of_excess({1e-25, -3e-26}, 1e-40);
  EXPECT_DOUBLE_EQ(value.log.re, 1e-25);
  EXPECT_DOUBLE_EQ(value.log.im, -3e-26);
  EXPECT_LT(value.error, 1e-38);
}

TEST(LogOfScaled, OnlyBoundsAValueBelowItsError) {
  const LogMgfValue bounded = log_of_scaled({1e-5, 0}, 100, 1e-4);
  EXPECT_TRUE(std::isinf(bounded.error));
  EXPECT_GE(bounded.log.re, 100 + std::log(1.1e-4));
  const LogMgfValue known = log_of_scaled({0, 0.5}, 100, 1e-14);
  EXPECT_NEAR(known.log.re, 100 + std::log(0.5), 1e-12);
  EXPECT_NEAR(known.log.im, pi / 2, 1e-15);
  EXPECT_GE(known.error, 2e-14);
}

}  // namespace
}  // namespace sotto::pld_detail
