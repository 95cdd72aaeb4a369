#include "audit/api/proportion.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/errors.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

TEST(Proportion, AgreesWithItsClosedForms) {
  // all of n: p^n = doubt; none: (1-p)^n = doubt
  EXPECT_NEAR(proportion_lower(10, 10, 0.025), std::pow(0.025, 0.1), 1e-10);
  EXPECT_NEAR(proportion_upper(0, 10, 0.025), 1 - std::pow(0.025, 0.1), 1e-10);
  EXPECT_EQ(proportion_lower(0, 10, 0.025), 0);
  EXPECT_NEAR(proportion_upper(10, 10, 0.025), 1, 1e-12);
  // quantiles of the beta distribution: 3 of 12 at 2.5 % a side
  EXPECT_NEAR(proportion_lower(3, 12, 0.025), 0.0548606, 1e-6);
  EXPECT_NEAR(proportion_upper(3, 12, 0.025), 0.5718585, 1e-6);
}

TEST(Proportion, IsWrongAtMostAsOftenAsItsDoubtAllows) {
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    int heads = 0;
    for (int i = 0; i < 200; ++i) heads += bernoulli(3, 10) ? 1 : 0;
    wrong += proportion_lower(heads, 200, 0.05) > 0.3 ? 1 : 0;
  }
  EXPECT_LT(wrong, 100 + 40);
  EXPECT_GT(wrong, 20);  // and not idle
}

TEST(Proportion, AcceptsLargeCounts) {
  EXPECT_NEAR(proportion_lower(500'000, 1'000'000, 0.025), 0.49902, 1e-5);
  EXPECT_NEAR(proportion_upper(500'000, 1'000'000, 0.025), 0.50098, 1e-5);
}

TEST(Proportion, RefusesNonsense) {
  EXPECT_THROW((void)proportion_lower(3, 2, 0.1), InvalidValue);
  EXPECT_THROW((void)proportion_lower(1, 2, 0), InvalidValue);
}

}  // namespace
}  // namespace sotto
