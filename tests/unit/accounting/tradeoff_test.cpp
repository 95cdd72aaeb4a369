// Trade-off functions and privacy loss distributions: against closed forms, or bounds against each
// other.
#include "sotto/accounting/tradeoff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "accounting/api/privacy_loss_distribution.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

const std::vector<double> rates{1e-8, 1e-5, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999};

// G_μ: Φ(μ + Φ^-1(α)) [Dong2022].
double gaussian_power(double mu, double alpha) {
  const double quantile =
      (normal_quantile(alpha, Side::lower) + normal_quantile(alpha, Side::upper)) / 2;
  return normal_cdf(mu + Real(quantile)).estimate();
}

// Laplace noise, x = Δ/b: e^x α, then 1 - e^-x/(4α), then 1 - e^-x (1 - α).
double laplace_power(double x, double alpha) {
  if (alpha <= std::exp(-x) / 2) return std::exp(x) * alpha;
  return alpha <= 0.5 ? 1 - std::exp(-x) / (4 * alpha) : 1 - std::exp(-x) * (1 - alpha);
}

void expect_holds(const Bound& bound, double exact, double width, const std::string& where) {
  EXPECT_LE(bound.lower, exact * (1 + 1e-14)) << where;
  EXPECT_GE(bound.upper, exact * (1 - 1e-14)) << where;
  EXPECT_LE(bound.upper - bound.lower, width * exact + 1e-15) << where;
}

TEST(Tradeoff, HoldsTheGaussianCurve) {
  for (const double mu : {1e-6, 0.1, 1.0, 3.0}) {
    const Tradeoff tradeoff(gdp(mu));
    for (const double alpha : rates)
      expect_holds(tradeoff.true_positive_rate(alpha), gaussian_power(mu, alpha), 4e-9,
                   "mu " + std::to_string(mu) + ", fpr " + std::to_string(alpha));
    const double exact = (1 - 2 * normal_tail(Real(mu) / 2)).estimate();
    EXPECT_NEAR(tradeoff.advantage().lower, exact, 1e-15);
    EXPECT_NEAR(tradeoff.advantage().upper, exact, 1e-15);
  }
}

TEST(Tradeoff, HoldsTheLaplaceCurve) {
  for (const double x : {0.01, 0.5, 1.0, 4.0}) {
    const Tradeoff tradeoff(laplace(1, x));
    for (const double alpha : rates)
      expect_holds(tradeoff.true_positive_rate(alpha), laplace_power(x, alpha), 4e-9,
                   "x " + std::to_string(x) + ", fpr " + std::to_string(alpha));
  }
}

TEST(Tradeoff, HoldsTheCurveOfAtoms) {
  const Tradeoff response(parse("randomized_response(0.75)"));
  const Tradeoff approximate(parse("approx(1, 0.0625)"));
  for (const double alpha : rates) {
    expect_holds(response.true_positive_rate(alpha), std::min(3 * alpha, 1 - (1 - alpha) / 3), 1e-9,
                 "response");
    const double exact =
        std::min({0.0625 + std::exp(1.0) * alpha, 1 - std::exp(-1.0) * (1 - 0.0625 - alpha), 1.0});
    expect_holds(approximate.true_positive_rate(alpha), exact, 1e-9,
                 "approx at " + std::to_string(alpha));
    EXPECT_NEAR(true_positive_rate(1, Delta(0.0625), alpha), exact, 1e-15);
    EXPECT_GE(true_positive_rate(1, Delta(0.0625), alpha), exact * (1 - 1e-15));
  }
  EXPECT_NEAR(approximate.advantage().upper, advantage(1, Delta(0.0625)), 1e-15);
}

TEST(Tradeoff, TheRatesAtZeroAndOneAreExact) {
  const Tradeoff catastrophe_curve(parse("catastrophe(1, 0.001)"));
  expect_holds(catastrophe_curve.true_positive_rate(0), 0.001, 1e-12,
               "all is revealed with probability 0.001");
  EXPECT_EQ(catastrophe_curve.true_positive_rate(1), (Bound{1, 1}));
  EXPECT_LT(Tradeoff(gaussian(1)).true_positive_rate(0).upper, 1e-300);
  EXPECT_THROW((void)catastrophe_curve.true_positive_rate(1.5), InvalidValue);
  EXPECT_THROW((void)catastrophe_curve.true_positive_rate(std::nan("")), InvalidValue);
}

// ((1-q)Q + qP, Q): the likelihood ratio grows with the output, so a threshold test is the best one
// in both directions.
TEST(Tradeoff, HoldsTheSampledGaussianInBothOrders) {
  const double q = 0.1;
  const Tradeoff tradeoff(parse("poisson(0.1, gaussian(1))"));
  for (const double alpha : {1e-5, 0.001, 0.01, 0.1, 0.5, 0.9}) {
    const double removed = (1 - q) * alpha + q * gaussian_power(1, alpha);
    // Reversed: reject small outputs, which have probability α under the mixture.
    double low = -40;
    double high = 40;
    for (int i = 0; i < 200; ++i) {
      const double t = (low + high) / 2;
      const double mixed = (1 - q) * normal_cdf(t).estimate() + q * normal_cdf(t - 1).estimate();
      (mixed < alpha ? low : high) = t;
    }
    expect_holds(tradeoff.true_positive_rate(alpha), std::max(removed, normal_cdf(low).estimate()),
                 1e-8, "fpr " + std::to_string(alpha));
  }
}

TEST(Tradeoff, BracketsPrivateLearning) {
  const Plan plan = parse("10000 * poisson(0.01, gaussian(1))");
  const Tradeoff tradeoff(plan);
  Bound before{0, 0};
  for (const double alpha : rates) {
    const Bound tpr = tradeoff.true_positive_rate(alpha);
    EXPECT_LE(tpr.lower, tpr.upper);
    EXPECT_LE(tpr.upper - tpr.lower, 1e-8 * tpr.upper) << alpha;
    EXPECT_GE(tpr.lower, std::max(alpha * (1 - 1e-15), before.lower));
    EXPECT_LE(tpr.upper, std::min(1.0, (alpha + tradeoff.advantage().upper) * (1 + 1e-12)));
    // Each (ε, δ) that the plan satisfies allows at least this rate.
    for (const double delta : {1e-9, 1e-5, 1e-2}) {
      EXPECT_LE(tpr.lower,
                true_positive_rate(epsilon(plan, Delta(delta)).value.upper, Delta(delta), alpha));
    }
    before = tpr;
  }
  // 10000 steps at rate 0.01 with σ = 1 are about 1.31-GDP by the central limit.
  EXPECT_NEAR(tradeoff.true_positive_rate(0.01).upper, gaussian_power(1.31, 0.01), 0.01);
}

TEST(Tradeoff, StatedGuaranteesAllowTheRatesOfTheirMechanisms) {
  // N(0, 1) against N(μ, 1) is μ²/2-zCDP; a bound for all of zCDP cannot be below its curve.
  const Tradeoff concentrated(parse("zcdp(0.5)"));
  const Tradeoff renyi(parse("rdp(4, 2)"));
  for (const double alpha : rates) {
    const double exact = gaussian_power(1, alpha);
    const Bound tpr = concentrated.true_positive_rate(alpha);
    EXPECT_GE(tpr.upper, exact * (1 - 1e-12));
    EXPECT_LE(tpr.upper, std::min(1.0, 2 * exact));
    EXPECT_LE(tpr.lower, exact * (1 + 1e-12));
    EXPECT_GE(tpr.lower, exact * (1 - 1e-8));
    EXPECT_GE(renyi.true_positive_rate(alpha).upper, exact * (1 - 1e-12));
    EXPECT_TRUE(std::isinf(renyi.true_positive_rate(alpha).lower));
  }
}

TEST(Tradeoff, WithoutAnAttainedPairThereIsNoLowerEnd) {
  for (const char* plan : {"10 * without_replacement(256, 60000, gaussian(1.1))", "exponential(1)",
                           "group(2, poisson(0.1, gaussian(1)))"}) {
    const Bound tpr = Tradeoff(parse(plan)).true_positive_rate(0.01);
    EXPECT_TRUE(std::isinf(tpr.lower)) << plan;
    EXPECT_LT(tpr.upper, 0.1) << plan;
    EXPECT_GT(tpr.upper, 0.01) << plan;
  }
}

TEST(Tradeoff, AGroupIsTheCurveAppliedTwice) {
  const Tradeoff one(parse("poisson(0.1, gaussian(1))"));
  const Tradeoff two(parse("group(2, poisson(0.1, gaussian(1)))"));
  const double once = one.true_positive_rate(0.01).upper;
  EXPECT_NEAR(two.true_positive_rate(0.01).upper, one.true_positive_rate(once).upper, 1e-9);
}

TEST(Tradeoff, PartsInParallelReachTheirWorst) {
  const Tradeoff both(parse("parallel(laplace(2), gaussian(1))"));
  for (const double alpha : {0.001, 0.1, 0.5}) {
    EXPECT_GE(both.true_positive_rate(alpha).lower, gaussian_power(1, alpha) * (1 - 1e-8));
    EXPECT_GE(both.true_positive_rate(alpha).upper,
              std::max(gaussian_power(1, alpha), laplace_power(0.5, alpha)) * (1 - 1e-12));
  }
}

TEST(Tradeoff, TheBestGuessWeighsThePrior) {
  const Tradeoff tradeoff(gaussian(1));
  expect_holds(tradeoff.success(), normal_cdf(0.5).estimate(), 1e-12, "even");
  // accuse where 0.1 e^(y - 1/2) > 0.9 with y ~ N(1, 1) or N(0, 1)
  const double t = std::log(9) + 0.5;
  const double exact = 0.1 * normal_tail(t - 1).estimate() + 0.9 * normal_cdf(t).estimate();
  expect_holds(tradeoff.success(0.1), exact, 1e-12, "0.1");
  expect_holds(tradeoff.success(0.9), exact, 1e-12, "0.9");
  EXPECT_THROW((void)tradeoff.success(1), InvalidValue);
}

TEST(PrivacyLossDistribution, HoldsTheGaussianDistribution) {
  const PrivacyLossDistribution law(gaussian(1));
  EXPECT_TRUE(law.of_pair());
  for (const double epsilon : {0.0, 0.5, 1.0, 3.0}) {  // L ~ N(1/2, 1)
    expect_holds(law.tail(Epsilon(epsilon)), normal_tail(Real(epsilon) - 0.5).estimate(), 1e-5,
                 std::to_string(epsilon));
  }
  EXPECT_NEAR(law.tail(Epsilon(1)).upper, 0.309, 5e-4);  // where δ is 0.127
  EXPECT_NEAR(law.delta(Epsilon(1)).upper, 0.127, 1e-4);
}

TEST(PrivacyLossDistribution, HoldsTheLaplaceDistribution) {
  const PrivacyLossDistribution law(
      laplace(1));  // L = 1 with probability 1/2; above ε the noise is below (1 - ε)/2
  for (const double epsilon : {0.0, 0.25, 0.9}) {
    expect_holds(law.tail(Epsilon(epsilon)), 1 - std::exp(-(1 - epsilon) / 2) / 2, 1e-5,
                 std::to_string(epsilon));
  }
  EXPECT_LE(law.tail(Epsilon(1)).lower, 0);
  EXPECT_NEAR(law.tail(Epsilon(1)).upper, 0.5, 1e-5);  // holds the atom
  EXPECT_EQ(law.tail(Epsilon(1.5)), (Bound{0, 0}));
}

TEST(PrivacyLossDistribution, HoldsTheDistributionOfAtoms) {
  const PrivacyLossDistribution law(
      parse("2 * randomized_response(0.75)"));  // 2 log 3 with 9/16, 0 with 6/16
  const double largest = 2 * std::log(3);
  expect_holds(law.tail(Epsilon(0.5 * largest)), 0.5625, 1e-5, "between");
  EXPECT_LE(law.tail(Epsilon(0)).lower, 0.5625);
  EXPECT_NEAR(law.tail(Epsilon(0)).upper, 0.9375, 1e-5);
  EXPECT_NEAR(law.tail(Epsilon(1.01 * largest)).upper, 0, 1e-12);
}

TEST(PrivacyLossDistribution, WithoutAPairItIsABoundForAll) {
  const PrivacyLossDistribution law(parse("zcdp(0.5)"));
  EXPECT_FALSE(law.of_pair());
  for (const double epsilon : {0.5, 1.0, 3.0}) {
    EXPECT_TRUE(std::isinf(law.tail(Epsilon(epsilon)).lower));
    EXPECT_GE(law.tail(Epsilon(epsilon)).upper, normal_tail(Real(epsilon) - 0.5).lower());
  }
  EXPECT_LT(law.tail(Epsilon(3)).upper, 0.1);
}

}  // namespace
}  // namespace sotto
