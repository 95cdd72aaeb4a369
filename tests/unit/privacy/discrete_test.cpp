// Discrete noise: exact profiles and divergences against sums over the mass function.
#include "privacy/api/discrete.hpp"

#include <gtest/gtest.h>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/laplace.hpp"
#include "privacy/api/pure.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using oracle::infinity;
using oracle::Row;

TEST(DiscreteLaplace, DeltaIsTheSumOverTheMassFunction) {
  oracle::check(oracle::rows("discrete_delta", "noise", "laplace"), [](const Row& row) {
    return discrete_laplace_delta(row.number("epsilon"), row.number("scale"),
                                  row.count("sensitivity"));
  });
}

TEST(DiscreteLaplace, RenyiIsTheSumOverTheMassFunction) {
  oracle::check(oracle::table("discrete_laplace_renyi"), [](const Row& row) {
    return discrete_laplace_renyi(row.number("b"), row.count("sensitivity"), row.number("order"));
  });
}

TEST(DiscreteLaplace, AtSensitivityOneItIsRandomizedResponse) {
  for (const double e : {0.0, 0.03, 0.07})
    EXPECT_NEAR(discrete_laplace_delta(e, 10, 1).estimate(), pure_delta(e, 0.1).estimate(), 1e-16);
  for (const double order : {1.0, 2.0, 30.0})
    EXPECT_NEAR(discrete_laplace_renyi(10, 1, order).estimate(), pure_renyi(0.1, order).estimate(),
                1e-16);
}

TEST(DiscreteLaplace, ApproachesTheContinuousOneOnAFineGrid) {
  for (const double e : {0.0, 0.3, 0.9})
    EXPECT_NEAR(discrete_laplace_delta(e, 1e6, 1000000).estimate(), laplace_delta(e, 1).estimate(),
                1e-6);
  for (const double order : {1.0, 2.5, 30.0})
    EXPECT_NEAR(discrete_laplace_renyi(1e6, 1000000, order).estimate(),
                laplace_renyi(1, order).estimate(), 1e-6);
}

TEST(DiscreteLaplace, WorstLossIsRoundedToTheRequestedSide) {
  const Profile upper = discrete_laplace_profile(3, 1, Side::upper);
  const Profile lower = discrete_laplace_profile(3, 1, Side::lower);
  EXPECT_TRUE(certainly_less(Real(1) / 3, upper.worst_loss));
  EXPECT_TRUE(certainly_less(lower.worst_loss, Real(1) / 3));
  EXPECT_EQ(next_up(lower.worst_loss), upper.worst_loss);
  EXPECT_EQ(upper.delta(0.1).bound(), discrete_laplace_delta(0.1, 3, 1).bound());
}

// If the boundary of the best set lies between two whole numbers, the better of both is taken.
TEST(DiscreteLaplace, DeltaIsTheMaximumOverEveryThreshold) {
  const double b = 2.5;
  const Real t = exp(-1 / Real(b));
  const auto cdf = [&](std::int64_t m) {
    const Real tail = exp(-Real(static_cast<double>(m < 0 ? -m : m + 1)) / Real(b)) / (1 + t);
    return m < 0 ? tail : 1 - tail;
  };
  for (const std::int64_t shift : {1, 2, 3, 8}) {
    for (double e = 0; e < static_cast<double>(shift) / b; e += 0.05) {
      Real best = 0;
      for (std::int64_t m = -20; m < 40; ++m)
        best = max(best, cdf(m) - exp(Real(e)) * cdf(m - shift));
      const Real delta = discrete_laplace_delta(e, b, shift);
      EXPECT_LE(std::fabs(delta.estimate() - best.estimate()), 1e-15) << shift << " " << e;
    }
  }
}

TEST(DiscreteGaussian, DeltaIsTheSumOverTheMassFunction) {
  double sigma = 0;
  std::int64_t sensitivity = 0;
  Profile profile;
  oracle::check(oracle::rows("discrete_delta", "noise", "gaussian"), [&](const Row& row) {
    if (row.number("scale") != sigma || row.count("sensitivity") != sensitivity) {
      sigma = row.number("scale");
      sensitivity = row.count("sensitivity");
      profile = discrete_gaussian_profile(sigma, sensitivity);
    }
    return profile.delta(row.number("epsilon"));
  });
}

// Beyond the table the result is an enclosure.
TEST(DiscreteGaussian, DeltaIsEnclosedWhereTheSumEnds) {
  const Profile profile = discrete_gaussian_profile(60, 1);
  for (const Row& row : oracle::rows("discrete_delta", "noise", "far gaussian")) {
    const Real x = profile.delta(row.number("epsilon"));
    EXPECT_TRUE(oracle::encloses(x, row.value())) << row.show() << "\n  got " << oracle::show(x);
    EXPECT_LT(x.upper(), 1e-300);
  }
}

TEST(DiscreteGaussian, DiffersFromTheContinuousOneOnACoarseGrid) {
  const Real coarse = discrete_gaussian_profile(1, 1).delta(1);
  EXPECT_NEAR(coarse.estimate(), 0.1414, 5e-5);
  EXPECT_NEAR(gaussian_delta(1, 1).estimate(), 0.1269, 5e-5);
}

TEST(DiscreteGaussian, ApproachesTheContinuousOneOnAFineGrid) {
  const Profile fine = discrete_gaussian_profile(2000, 2000);
  for (const double e : {0.0, 1.0, 3.0})
    EXPECT_NEAR(fine.delta(e).estimate() / gaussian_delta(e, 1).estimate(), 1, 1e-3);
  EXPECT_LT(fine.delta(1).radius(), 1e-15);
}

TEST(DiscreteGaussian, ABallOfSigmaHoldsItsMembers) {
  const Profile wide = discrete_gaussian_profile(Real(2.5).widened(1e-6), 2);
  for (const double e : {0.0, 0.4, 2.0, 6.0}) {
    for (const double sigma : {2.5 - 0.99e-6, 2.5, 2.5 + 0.99e-6}) {
      EXPECT_TRUE(oracle::encloses(wide.delta(e), discrete_gaussian_profile(sigma, 2).delta(e)))
          << e << " " << sigma;
    }
  }
}

// For Δ = 40 σ the result is near ε = 800 + 40 · 4.2, where e^ε overflows.
TEST(DiscreteGaussian, ALargeShiftHasAFiniteEpsilon) {
  const double upper = epsilon_of(discrete_gaussian_profile(1, 40), 1e-5, Side::upper);
  EXPECT_GT(upper, 900);
  EXPECT_LT(upper, 1050);
}

TEST(DiscreteGaussian, HasNoWorstLoss) {
  EXPECT_EQ(discrete_gaussian_profile(1, 1).worst_loss, infinity);
}

TEST(DiscreteGaussian, LargeSigmaIsRefusedWithAnAlternative) {
  EXPECT_NO_THROW(discrete_gaussian_profile(10, 1));
  try {
    discrete_gaussian_profile(10001, 1);
    FAIL();
  } catch (const OutsideConditions& error) {
    EXPECT_NE(std::string(error.what()).find("10000"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("rdp"), std::string::npos);
  }
}

}  // namespace
}  // namespace sotto
