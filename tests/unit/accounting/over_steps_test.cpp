// ε of a plan as a function of its steps.
#include "sotto/accounting/over_steps.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

TEST(OverSteps, CountsShrinkInProportionAndAreRoundedUp) {
  EXPECT_EQ(after_steps(parse("1000 * gaussian(30)"), 7), parse("7 * gaussian(30)"));
  const Plan sum = parse("laplace(10) + 100 * gaussian(30) + 50 * gaussian(20)");
  EXPECT_EQ(step_total(sum), 100);
  EXPECT_EQ(after_steps(sum, 1), parse("laplace(10) + 1 * gaussian(30) + 1 * gaussian(20)"));
  EXPECT_EQ(after_steps(sum, 51), parse("laplace(10) + 51 * gaussian(30) + 26 * gaussian(20)"));
  EXPECT_EQ(after_steps(sum, 100), sum);
  const Plan huge = parse("9007199254740992 * pure(0) + 9007199254740991 * pure(0)");
  EXPECT_EQ(after_steps(huge, step_total(huge)), huge);
}

TEST(OverSteps, CountsGrowFromOneToAll) {
  for (const Spacing spacing : {Spacing::logarithmic, Spacing::even}) {
    for (const std::int64_t most : {1, 2, 3, 49, 1000, 1000000}) {
      const std::vector<std::int64_t> counts = step_counts(most, 50, spacing);
      EXPECT_EQ(counts.front(), 1);
      EXPECT_EQ(counts.back(), most);
      EXPECT_LE(counts.size(), 50U);
      for (std::size_t i = 1; i < counts.size(); ++i) EXPECT_LT(counts[i - 1], counts[i]);
    }
  }
  EXPECT_EQ(step_counts(100, 3, Spacing::even), (std::vector<std::int64_t>{1, 51, 100}));
  EXPECT_EQ(step_counts(10000, 5), (std::vector<std::int64_t>{1, 10, 100, 1000, 10000}));
}

TEST(OverSteps, EachPointIsTheCostOfTheShorterPlan) {
  const Plan plan = parse("1000 * poisson(0.01, gaussian(1.1))");
  std::size_t calls = 0;
  const auto points = epsilon_over_steps(plan, Delta(1e-5), {1, 100, 1000}, {},
                                         [&](std::size_t done) { EXPECT_EQ(done, ++calls); });
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(calls, 3U);
  EXPECT_EQ(points[1].steps, 100);
  EXPECT_EQ(points[1].answer.value,
            epsilon(parse("100 * poisson(0.01, gaussian(1.1))"), Delta(1e-5)).value);
  EXPECT_EQ(points[2].answer.value, epsilon(plan, Delta(1e-5)).value);
  EXPECT_LT(points[0].answer.value.upper, points[1].answer.value.lower);
  EXPECT_LT(points[1].answer.value.upper, points[2].answer.value.lower);
}

TEST(OverSteps, APlanWithoutRepetitionIsRefused) {
  EXPECT_THROW(step_total(parse("gaussian(1)")), InvalidValue);
  EXPECT_THROW(step_total(parse("gaussian(1) + laplace(2)")), InvalidValue);
  EXPECT_THROW(step_total(parse("? * gaussian(1)")), InvalidValue);
  EXPECT_THROW(after_steps(parse("10 * gaussian(1)"), 0), InvalidValue);
  EXPECT_THROW(after_steps(parse("10 * gaussian(1)"), 11), InvalidValue);
  EXPECT_THROW(step_counts(10, 1), InvalidValue);
}

}  // namespace
}  // namespace sotto
