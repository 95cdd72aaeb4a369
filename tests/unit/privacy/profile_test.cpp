// The inverse of a profile: both sides, closed forms, and profiles without an inverse.
#include "privacy/api/profile.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/discrete.hpp"
#include "privacy/api/exponential.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/laplace.hpp"
#include "privacy/api/pure.hpp"

namespace sotto {
namespace {

using oracle::infinity;

// Checks that the upper result suffices and the double below it is not certain to, and that the
// lower result is certain to be too small.
void check_inverse(const Profile& profile, double delta, double width) {
  const double upper = epsilon_of(profile, delta, Side::upper);
  const double lower = epsilon_of(profile, delta, Side::lower);
  ASSERT_TRUE(std::isfinite(upper));
  EXPECT_LE(lower, upper);
  if (upper < profile.worst_loss) {
    EXPECT_LE(profile.delta(upper).upper(), delta);
  }
  if (upper > 0) {
    EXPECT_GT(profile.delta(next_down(upper)).upper(), delta);
  }
  if (lower > 0) {
    EXPECT_GT(profile.delta(lower).lower(), delta);
  }
  EXPECT_LE(upper - lower, width * upper) << "delta " << delta;
}

TEST(EpsilonOf, BracketsTheGaussianInverse) {
  for (const double mu : {1e-3, 0.1, 1.0, 5.0, 40.0}) {
    for (const double delta : {0.9, 0.1, 1e-5, 1e-30, 1e-200, 1e-290})
      check_inverse(gaussian_profile(mu), delta, 1e-13);
  }
}

TEST(EpsilonOf, BracketsTheInverseOfBoundedLosses) {
  for (const double x : {1e-6, 0.1, 1.0, 20.0, 300.0}) {
    for (const double delta : {0.9, 0.1, 1e-5, 1e-12}) {
      check_inverse(laplace_profile(x), delta, 1e-12);
      check_inverse(pure_profile(x), delta, 1e-12);
      check_inverse(exponential_profile(x), delta, 1e-12);
    }
  }
}

TEST(EpsilonOf, BracketsTheInverseOfDiscreteNoise) {
  for (const double delta : {0.1, 1e-3, 1e-9}) {
    check_inverse(discrete_laplace_profile(3.5, 7, Side::upper), delta, 1e-12);
    check_inverse(discrete_gaussian_profile(2, 3), delta, 1e-12);
  }
}

// δ = 1 - e^((ε-x)/2) has the inverse ε = x + 2 log(1-δ).
TEST(EpsilonOf, IsTheClosedFormForLaplace) {
  for (const double delta : {0.3, 1e-3, 1e-9}) {
    const Real exact = 2 + 2 * log1p(-Real(delta));
    EXPECT_TRUE(certainly_at_most(exact, epsilon_of(laplace_profile(2), delta, Side::upper)));
    EXPECT_TRUE(certainly_at_most(epsilon_of(laplace_profile(2), delta, Side::lower), exact));
  }
}

TEST(EpsilonOf, IsZeroWhereDeltaIsLargeEnough) {
  EXPECT_EQ(epsilon_of(laplace_profile(0.1), 0.5, Side::upper), 0);
  EXPECT_EQ(epsilon_of(laplace_profile(0.1), 0.5, Side::lower), 0);
}

TEST(EpsilonOf, IsTheWorstLossAtDeltaZero) {
  EXPECT_EQ(epsilon_of(laplace_profile(0.7), 0, Side::upper), 0.7);
  EXPECT_EQ(epsilon_of(laplace_profile(0.7), 0, Side::lower), 0.7);
  EXPECT_EQ(epsilon_of(gaussian_profile(0.7), 0, Side::upper), infinity);
}

TEST(EpsilonOf, IsInfiniteIfNoEpsilonSuffices) {
  const Profile catastrophe{[](double) { return Real(0.25); }, infinity};
  EXPECT_EQ(epsilon_of(catastrophe, 0.2, Side::upper), infinity);
  EXPECT_GT(epsilon_of(catastrophe, 0.2, Side::lower), 1e299);
  EXPECT_EQ(epsilon_of(catastrophe, 0.25, Side::upper), 0);
}

// No ε suffices below the limit of a profile, and this takes no evaluation.
TEST(EpsilonOf, IsInfiniteBelowTheProbabilityOfFailure) {
  int calls = 0;
  const Profile failing{[&](double e) { return ++calls, Real(1e-3) + exp(-Real(e)); }, infinity,
                        1e-3};
  EXPECT_EQ(epsilon_of(failing, 0.9e-3, Side::upper), infinity);
  EXPECT_EQ(epsilon_of(failing, 0.9e-3, Side::lower), infinity);
  EXPECT_EQ(calls, 0);
  EXPECT_NEAR(epsilon_of(failing, 2e-3, Side::upper), std::log(1000), 1e-12);
  const Profile roughly{failing.delta, infinity, Real(1e-3).widened(1e-4)};
  EXPECT_EQ(epsilon_of(roughly, 1.05e-3, Side::upper), infinity);
  EXPECT_NEAR(epsilon_of(roughly, 1.05e-3, Side::lower), -std::log(5e-5), 1e-9);
}

TEST(EpsilonOf, AnUnknownDeltaDoesNotSuffice) {
  const Profile nothing{[](double) { return Real::unknown(); }, infinity};
  EXPECT_EQ(epsilon_of(nothing, 0.2, Side::upper), infinity);
  EXPECT_EQ(epsilon_of(nothing, 0.2, Side::lower), 0);
}

// For a profile with wide balls, each side uses its end of the ball.
TEST(EpsilonOf, UsesTheRequestedEndOfTheEnclosure) {
  const Profile rough{[](double e) { return exp(-Real(e)).widened(1e-3); }, infinity};
  const double upper = epsilon_of(rough, 0.1, Side::upper);
  const double lower = epsilon_of(rough, 0.1, Side::lower);
  EXPECT_NEAR(upper, -std::log(0.099), 1e-12);
  EXPECT_NEAR(lower, -std::log(0.101), 1e-12);
  EXPECT_LT(lower, -std::log(0.1));
  EXPECT_GT(upper, -std::log(0.1));
}

}  // namespace
}  // namespace sotto
