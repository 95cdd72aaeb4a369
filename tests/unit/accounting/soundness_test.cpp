// Regression tests of bounds that were once too small, or not proved.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double upper(const std::string& plan, double delta, Method by = Method::tight) {
  return epsilon(parse(plan), Delta(delta), {.by = by}).value.upper;
}
Bound renyi(const std::string& plan, double order) {
  return divergence(parse(plan), Order(order)).value;
}

TEST(Soundness, AGroupScalesTheRhoOfArsinhNoise) {
  // Slightly more than four times the divergence of one unit: the noise has lighter tails than
  // Gaussian noise.
  const double one = renyi("arsinh(0.01, 100)", 2).lower;
  EXPECT_GE(renyi("group(2, arsinh(0.01, 100))", 2).upper, 4 * one);
  EXPECT_LE(renyi("group(2, arsinh(0.01, 100))", 2).upper, 4.1 * one);
  EXPECT_GE(upper("group(2, arsinh(0.001, 400))", 1e-5, Method::tcdp),
            upper("arsinh(0.001, 400)", 1e-5, Method::tcdp) * 1.9);
}

TEST(Soundness, GroupsOfGroupsDoNotOverflow) {
  EXPECT_THROW(upper("group(968973220, group(19037413721, laplace(1)))", 0), InvalidValue);
  EXPECT_THROW(upper("9007199254740992 * 2 * pure(1)", 0), InvalidValue);
  EXPECT_THROW(upper("9007199254740992 * pure(1) + pure(1)", 1e-5, Method::basic), InvalidValue);
}

TEST(Soundness, TheTightenedBoundUsesTheUnroundedCurve) {
  // computed at 120 digits: 0.24991568…
  EXPECT_GE(renyi("without_replacement(727, 1000, gaussian(7.20282304386807))", 36).upper,
            0.2499156);
}

TEST(Soundness, EqualStepsAreEqualAtTheShareTheyGet) {
  const std::string plan = "gaussian(10) + 400 * approx(0.3968573776440836, 9.999999999999995e-07)";
  for (const Method by : {Method::optimal, Method::kov, Method::advanced})
    EXPECT_THROW(upper(plan, 1e-2, by), OutsideConditions);
  EXPECT_GE(upper(plan, 1e-2), 48.3);
}

TEST(Soundness, ASampledCatastropheHasNoDivergence) {
  EXPECT_THROW(upper("poisson(0.1, catastrophe(1, 1e-3))", 0, Method::rdp), OutsideConditions);
  EXPECT_THROW(upper("poisson(0.1, catastrophe(1, 1e-3) + approx(1, 1e-9))", 1e-5, Method::rdp),
               OutsideConditions);
  EXPECT_EQ(upper("poisson(0.1, catastrophe(1, 1e-3))", 0), infinity);
  EXPECT_EQ(upper("poisson(0.1, catastrophe(1, 1e-3))", 0.9e-4), infinity);
  EXPECT_LT(upper("poisson(0.1, catastrophe(1, 1e-3))", 1.1e-4), 0.2);
}

TEST(Soundness, TcdpSamplingNeedsTcdpItself) {
  EXPECT_THROW(upper("without_replacement(1, 1000, approx(0.1, 1e-9))", 1e-5, Method::tcdp),
               OutsideConditions);
  EXPECT_NO_THROW(
      upper("without_replacement(1, 1000, pure(0.1) + tcdp(0.001, 1e6))", 1e-5, Method::tcdp));
}

TEST(Soundness, NoChainOfPureStepsReachesTheDoubledRandomizedResponse) {
  EXPECT_EQ(renyi("group(2, pure(1))", 2).lower, -infinity);
  EXPECT_EQ(renyi("group(2, pure(1))", infinity).lower, 2);
  EXPECT_NEAR(renyi("group(2, laplace(1))", 2).lower, renyi("laplace(1, sensitivity=2)", 2).lower,
              1e-15);
  EXPECT_EQ(renyi("catastrophe(1, 0)", 2), renyi("laplace(1)", 2));
}

TEST(Soundness, ATinyDeltaIsNotZero) {
  for (const char* plan :
       {"gaussian(1)", "zcdp(0.01)", "discrete_gaussian(1)", "poisson(0.1, gaussian(1))"}) {
    EXPECT_GT(delta(parse(plan), Epsilon(60)).value.upper, 0) << plan;
  }
  EXPECT_GT(delta(parse("gaussian(1)"), Epsilon(1e6)).value.upper, 0);
}

TEST(Soundness, APlanThatRevealsNothingCostsNothing) {
  for (const char* plan : {"gdp(0)", "zcdp(0)", "tcdp(0, 2)", "rdp(2, 0)", "pure(0)",
                           "exponential(0)", "100 * (gdp(0) + pure(0))"}) {
    EXPECT_EQ(upper(plan, 0), 0) << plan;
    EXPECT_EQ(upper(plan, 1e-5), 0) << plan;
  }
}

TEST(Soundness, ACertainFailureLeavesNoDelta) {
  const std::string plan = "group(16, approx(0.01, 0.0579225) + discrete_gaussian(0.01))";
  for (const Method by : {Method::tight, Method::rdp, Method::rdp_classic, Method::moments,
                          Method::zcdp, Method::tcdp}) {
    EXPECT_EQ(upper(plan, 1e-30, by), infinity) << name(by);
  }
  for (const Method by : {Method::kov, Method::advanced, Method::optimal})
    EXPECT_EQ(upper("group(16, approx(0.01, 0.0579225))", 1e-3, by), infinity) << name(by);
}

TEST(Soundness, UnitsEnterASampleOneByOne) {
  EXPECT_THROW(upper("poisson(0.1, group(2, laplace(1)))", 0.07), OutsideConditions);
  EXPECT_THROW(upper("without_replacement(2, 10, group(3, laplace(1)))", 0.07), OutsideConditions);
  EXPECT_THROW(upper("poisson(0.1, 3 * parallel(group(2, laplace(1)), pure(1)))", 0.07),
               OutsideConditions);
  EXPECT_GT(upper("group(2, poisson(0.1, laplace(1)))", 0.07), 0);
  EXPECT_NO_THROW(upper("without_replacement(2, 10, group(2, poisson(0.1, laplace(1))))", 1e-5));
}

TEST(Soundness, HugeBallsAndTinyStepsNeitherCrashNorHang) {
  EXPECT_LE(delta(parse("pure(1e-25)"), Epsilon(0)).value.upper, 1);
  EXPECT_LE(delta(parse("2 * pure(3.98e-29)"), Epsilon(3.98e-29)).value.upper, 1);
  EXPECT_LE(delta(parse("without_replacement(1, 9007199254740992, laplace(1e9))"), Epsilon(0))
                .value.upper,
            1);
  EXPECT_LE(delta(parse("100000 * poisson(1e-6, pure(2.8e-25))"), Epsilon(0)).value.upper, 1);
  EXPECT_GE(upper("37438 * exponential(2.4547089157e-30)", 2.62e-160), 0);
  EXPECT_GE(renyi("poisson(0.1, gaussian(5))", 1e6).upper, 1);
  EXPECT_GE(renyi("poisson(0.1, gaussian(5))", 1e300).lower, 0);
}

TEST(Soundness, TruthProbabilitiesBelowOneHalfHaveTheirEpsilon) {
  EXPECT_NEAR(upper("randomized_response(1e-30)", 0), 30 * std::log(10.0), 1e-9);
  EXPECT_NEAR(upper("randomized_response(1e-300)", 0), 300 * std::log(10.0), 1e-9);
}

TEST(Soundness, BatchesInsideBatchesMustFit) {
  EXPECT_THROW(parse("without_replacement(1, 100, without_replacement(10, 1000, pure(1)))"),
               ParseError);
  EXPECT_NO_THROW(parse("without_replacement(10, 100, without_replacement(1, 10, pure(1)))"));
}

TEST(Soundness, LargeDiscreteGaussiansFallBackToRdp) {
  EXPECT_LT(upper("100000000 * discrete_gaussian(100000)", 1e-5), 1);
}

TEST(Soundness, TooManyTermsFallBackToRdp) {
  EXPECT_THROW(upper("1000000000000 * pure(0.000001)", 1e-5, Method::optimal), OutsideConditions);
  EXPECT_LT(upper("1000000000000 * pure(0.000001)", 1e-5), 6);
}

// A part whose loss exceeds the largest double is never left out of a total.
TEST(Soundness, LossesBeyondTheLargestDoubleAreCounted) {
  for (const char* text :
       {"gaussian(1e-155) + laplace(10)", "laplace(1e-300, sensitivity=1e300) + gaussian(1)",
        "laplace(1e-300, sensitivity=1e300) + laplace(1)",
        "poisson(0.1, laplace(1e-300, sensitivity=1e300)) + gaussian(1)", "gdp(1e300) + pure(1)",
        "poisson(0.1, gaussian(1e-155) + laplace(1))",
        "2 * parallel(laplace(1e-300, sensitivity=1e300), gaussian(1))",
        "poisson(0.1, gaussian(1e-155)) + gaussian(1)",
        "20346 * gaussian(1e-300, sensitivity=9.4e-149) + laplace(2e-191, sensitivity=1e-300)"}) {
    EXPECT_GT(epsilon(parse(text), Delta(1e-5)).value.upper, 1e100) << text;
  }
}

}  // namespace
}  // namespace sotto
