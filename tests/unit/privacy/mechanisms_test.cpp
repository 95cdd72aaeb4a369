// Guarantees of the mechanisms against an oracle: Gaussian, Laplace, pure, randomized response,
// exponential.
#include <gtest/gtest.h>

#include <cmath>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/exponential.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/laplace.hpp"
#include "privacy/api/pure.hpp"
#include "privacy/api/randomized_response.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using oracle::infinity;
using oracle::Row;

void check_line(const char* line, const oracle::Function& f) {
  oracle::check(oracle::rows("conversions", "line", line), f);
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const OutsideConditions& error) {
    return error.what();
  }
  return "";
}

// --- Gaussian ---

TEST(Gaussian, DeltaEnclosesTheOracle) {
  oracle::check(oracle::table("gaussian_delta"), [](const Row& row) {
    return gaussian_delta(row.number("epsilon"), row.number("mu"));
  });
}

TEST(Gaussian, ProfileIsDeltaWithoutAWorstLoss) {
  const Profile profile = gaussian_profile(0.7);
  EXPECT_EQ(profile.delta(1.3).bound(), gaussian_delta(1.3, 0.7).bound());
  EXPECT_EQ(profile.worst_loss, infinity);
}

TEST(Gaussian, DeltaBelowTheSmallestDoubleIsNotZero) {
  EXPECT_GT(gaussian_delta(39.5, 1).upper(), 0);
  EXPECT_GT(gaussian_delta(1e6, 1).upper(), 0);
  EXPECT_LE(gaussian_delta(1e6, 1).lower(), 0);
}

TEST(Gaussian, RenyiAndRhoEncloseTheOracle) {
  check_line("gaussian_renyi", [](const Row& row) {
    return gaussian_renyi(row.number("first"), row.number("third"));
  });
  check_line("gaussian_rho", [](const Row& row) { return gaussian_rho(row.number("first")); });
}

TEST(Gaussian, RenyiOfInfiniteOrderIsInfinite) {
  EXPECT_EQ(gaussian_renyi(1, infinity).upper(), infinity);
}

TEST(Gaussian, RenyiOfABallHoldsItsMembers) {
  const Real ball = gaussian_renyi(Real(0.5).widened(0.01), 7.5);
  EXPECT_TRUE(oracle::encloses(ball, gaussian_renyi(0.49, 7.5)));
  EXPECT_TRUE(oracle::encloses(ball, gaussian_renyi(0.51, 7.5)));
}

TEST(Gaussian, CalibrationsEncloseTheOracle) {
  check_line("gaussian_sigma_for_rho",
             [](const Row& row) { return gaussian_sigma_for_rho(row.number("first")); });
  check_line("gaussian_sigma_for_renyi", [](const Row& row) {
    return gaussian_sigma_for_renyi(row.number("third"), row.number("first"));
  });
  check_line("gaussian_classical_sigma", [](const Row& row) {
    return gaussian_classical_sigma(row.number("first"), row.number("third"));
  });
  check_line("gaussian_classical_epsilon", [](const Row& row) {
    return gaussian_classical_epsilon(row.number("first"), row.number("third"));
  });
}

TEST(Gaussian, TheClassicalTheoremIsRefusedAboveEpsilonOne) {
  EXPECT_NO_THROW(gaussian_classical_sigma(1, 1e-5));
  EXPECT_NE(message_of([] { gaussian_classical_sigma(next_up(1), 1e-5); }).find("epsilon <= 1"),
            std::string::npos);
  EXPECT_NE(message_of([] { gaussian_classical_sigma(10, 1e-5); }).find("epsilon <= 1"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              gaussian_classical_sigma(Real(1).widened(1e-9), 1e-5);
            }).find("epsilon <= 1"),
            std::string::npos);
  EXPECT_NE(message_of([] { gaussian_classical_epsilon(1, 1e-5); }).find("epsilon <= 1"),
            std::string::npos);
  EXPECT_NO_THROW(gaussian_classical_epsilon(0.2, 1e-5));
}

// The classical theorem is right where it applies, and would be wrong at ε = 10.
TEST(Gaussian, TheClassicalSigmaIsSufficientUpToOne) {
  for (const double epsilon : {0.01, 0.3, 1.0}) {
    for (const double delta : {1e-2, 1e-5, 1e-10}) {
      const double mu = (1 / gaussian_classical_sigma(epsilon, delta)).upper();
      EXPECT_LT(gaussian_delta(epsilon, mu).upper(), delta);
    }
  }
  const Real mu = 10 / sqrt(2 * log(Real(1.25) / Real(1e-5)));
  EXPECT_NEAR(gaussian_delta(10, mu.estimate()).upper(), 2.27e-5, 5e-8);
}

TEST(Gaussian, ExactSigmaIsSufficientAndTheDoubleBelowIsNot) {
  for (const double epsilon : {0.0, 0.01, 1.0, 10.0, 100.0}) {
    for (const double delta : {0.5, 1e-2, 1e-5, 1e-12, 1e-100}) {
      if (epsilon == 0 && delta < 1e-20) continue;
      const double upper = gaussian_exact_sigma(epsilon, delta, Side::upper);
      const double lower = gaussian_exact_sigma(epsilon, delta, Side::lower);
      EXPECT_LE(gaussian_delta(epsilon, (1 / Real(upper)).upper()).upper(), delta);
      EXPECT_GT(gaussian_delta(epsilon, (1 / Real(lower)).lower()).lower(), delta);
      EXPECT_GT(gaussian_delta(epsilon, (1 / Real(next_down(upper))).upper()).upper(), delta);
      EXPECT_LT(lower, upper);
      EXPECT_LE(upper - lower, 1e-12 * upper) << epsilon << " " << delta;
    }
  }
}

TEST(Gaussian, ExactSigmaRefusesInvalidTargets) {
  EXPECT_THROW(gaussian_exact_sigma(-1, 1e-5, Side::upper), InvalidValue);
  EXPECT_THROW(gaussian_exact_sigma(NAN, 1e-5, Side::upper), InvalidValue);
  EXPECT_THROW(gaussian_exact_sigma(1, 0, Side::upper), InvalidValue);
  EXPECT_THROW(gaussian_exact_sigma(1, 1, Side::upper), InvalidValue);
}

// At ε = 0, δ is at least 0.39 μ for small μ, so that no σ in the range of the search suffices for
// δ = 1e-310, and none may be returned.
TEST(Gaussian, ExactSigmaReturnsOnlyEvaluatedBounds) {
  for (const double delta : {1e-40, 1e-310}) {
    try {
      const double sigma = gaussian_exact_sigma(0, delta, Side::upper);
      if (std::isfinite(sigma)) {
        EXPECT_LE(0.39 / sigma, delta) << "sigma " << sigma;
      }
    } catch (const std::exception&) {
      SUCCEED();
    }
  }
}

// --- Laplace ---

TEST(Laplace, DeltaEnclosesTheOracle) {
  oracle::check(oracle::table("laplace_delta"), [](const Row& row) {
    return laplace_delta(row.number("epsilon"), row.number("x"));
  });
}

TEST(Laplace, RenyiEnclosesTheOracle) {
  oracle::check(oracle::table("laplace_renyi"),
                [](const Row& row) { return laplace_renyi(row.number("x"), row.number("order")); });
}

TEST(Laplace, RenyiAtInfinityIsEpsilon) {
  EXPECT_EQ(laplace_renyi(0.3, infinity).bound(), (Bound{0.3, 0.3}));
}
TEST(Laplace, RenyiAtOneIsRho) {
  EXPECT_EQ(laplace_renyi(0.3, 1).bound(), laplace_rho(0.3).bound());
}
TEST(Laplace, RhoEnclosesTheOracle) {
  check_line("laplace_rho", [](const Row& row) { return laplace_rho(row.number("first")); });
}
TEST(Laplace, WorstLossIsX) { EXPECT_EQ(laplace_profile(0.3).worst_loss, 0.3); }
TEST(Laplace, RenyiOfABallHoldsItsMembers) {
  for (const double order : {1.0, 1.5, 8.0, 1000.0}) {
    const Real ball = laplace_renyi(Real(0.5).widened(0.01), order);
    EXPECT_TRUE(oracle::encloses(ball, laplace_renyi(0.49, order)));
    EXPECT_TRUE(oracle::encloses(ball, laplace_renyi(0.51, order)));
  }
}

// --- any pure mechanism ---

TEST(Pure, DeltaEnclosesTheOracle) {
  oracle::check(oracle::table("pure_delta"), [](const Row& row) {
    return pure_delta(row.number("epsilon"), row.number("epsilon0"));
  });
}

TEST(Pure, RenyiEnclosesTheOracle) {
  oracle::check(oracle::table("pure_renyi"), [](const Row& row) {
    return pure_renyi(row.number("epsilon"), row.number("order"));
  });
}

TEST(Pure, RhoEnclosesTheOracle) {
  check_line("pure_rho", [](const Row& row) { return pure_rho(row.number("first")); });
  check_line("pure_rho_classic",
             [](const Row& row) { return pure_rho_classic(row.number("first")); });
}

TEST(Pure, RenyiIsAtMostEpsilonAndAtMostTheConcentratedBound) {
  for (const double epsilon : {1e-3, 0.1, 1.0, 5.0}) {
    for (const double order : {1.1, 2.0, 10.0, 1e4}) {
      EXPECT_LE(pure_renyi(epsilon, order).upper(), epsilon);
      EXPECT_LE(pure_renyi(epsilon, order).upper(),
                (Real(order) * pure_rho_classic(epsilon)).lower());
      EXPECT_LE(pure_renyi(epsilon, order).upper(), (Real(order) * pure_rho(epsilon)).lower());
      EXPECT_LE(laplace_renyi(epsilon, order).upper(), pure_renyi(epsilon, order).lower());
    }
  }
}

TEST(Pure, WorstLossIsEpsilon) { EXPECT_EQ(pure_profile(0.3).worst_loss, 0.3); }
TEST(Pure, DeltaIsAtLeastThatOfLaplace) {
  for (const double e : {0.0, 0.2, 0.9})
    EXPECT_GT(pure_delta(e, 1).lower(), laplace_delta(e, 1).upper());
}

// --- randomized response ---

ResponseProbabilities response_of(const Row& row) {
  return response_probabilities(row.number("p"), row.count("k"));
}

TEST(Response, DeltaEnclosesTheOracle) {
  oracle::check(
      oracle::table("response_delta"),
      [](const Row& row) { return response_delta(row.number("epsilon"), response_of(row)); },
      {.relative = 1e-12, .absolute = 1e-28});  // p - e^ε r cancels near the end of the profile
}

TEST(Response, RenyiEnclosesTheOracle) {
  oracle::check(
      oracle::table("response_renyi"),
      [](const Row& row) { return response_renyi(response_of(row), row.number("order")); },
      {.relative = 1e-12, .absolute = 1e-28});  // p = r up to a rounding of p
}

TEST(Response, EpsilonIsTheLogOfTheRatioInEitherDirection) {
  EXPECT_TRUE(oracle::encloses(response_epsilon(response_probabilities(0.75, 2)), log(Real(3))));
  EXPECT_TRUE(oracle::encloses(response_epsilon(response_probabilities(0.25, 2)), log(Real(3))));
  EXPECT_TRUE(oracle::encloses(response_epsilon(response_probabilities(0.25, 3)), log(Real(1.5))));
  EXPECT_TRUE(oracle::encloses(response_epsilon(response_probabilities(0.5, 3)), log(Real(2))));
  EXPECT_EQ(response_epsilon(response_probabilities(0.5, 2)).upper(), 0);
}

TEST(Response, OfEpsilonIsThePureMechanism) {
  const ResponseProbabilities response = response_probabilities(0.75, 2);
  const double epsilon = std::log(3.0);
  for (const double order : {1.0, 1.5, 4.0, 50.0})
    EXPECT_NEAR(response_renyi(response, order).estimate(), pure_renyi(epsilon, order).estimate(),
                1e-14);
  for (const double e : {0.0, 0.5, 1.0})
    EXPECT_NEAR(response_delta(e, response).estimate(), pure_delta(e, epsilon).estimate(), 1e-14);
}

// With a truth of probability 10^-306, the exact δ at ε = 701 is 1 - e^701 · 1e-306 = 0.9724.
TEST(Response, DeltaIsRightWhereTheExponentialOverflows) {
  const ResponseProbabilities response = response_probabilities(1e-306, 2);
  EXPECT_GE(response_delta(701, response).upper(), 0.972);
  EXPECT_LE(response_delta(701, response).lower(), 0.973);
  EXPECT_LE(response_delta(720, response).lower(), 0);
}

// The user's p may differ from its double: the ball of its reading must widen the result.
TEST(Response, TheBallOfPWidensTheResult) {
  const ResponseProbabilities wide = response_probabilities(Real::reading(0.6), 3);
  for (const double p : {next_down(0.6), next_up(0.6)}) {
    const Real member = (Real(p) + Real(0.6)) / 2;
    const ResponseProbabilities narrow = response_probabilities(member, 3);
    EXPECT_TRUE(oracle::encloses(response_epsilon(wide), response_epsilon(narrow)));
    EXPECT_TRUE(oracle::encloses(response_delta(0.5, wide), response_delta(0.5, narrow)));
    EXPECT_TRUE(oracle::encloses(response_renyi(wide, 2.5), response_renyi(narrow, 2.5)));
    EXPECT_TRUE(oracle::encloses(response_renyi(wide, 1), response_renyi(narrow, 1)));
  }
}

// --- the exponential mechanism ---

TEST(Exponential, DeltaIsTheMaximumOverTheTwoLosses) {
  oracle::check(oracle::table("exponential_delta"), [](const Row& row) {
    return exponential_delta(row.number("epsilon"), row.number("epsilon0"));
  });
}

TEST(Exponential, RenyiEnclosesTheOracle) {
  oracle::check(oracle::table("exponential_renyi"), [](const Row& row) {
    return exponential_renyi(row.number("epsilon"), row.number("order"));
  });
}

TEST(Exponential, RhoEnclosesTheOracle) {
  check_line("exponential_rho",
             [](const Row& row) { return exponential_rho(row.number("first")); });
}

TEST(Exponential, WorstLossIsEpsilonAndTheProfileIsBelowThePureOne) {
  EXPECT_EQ(exponential_profile(0.3).worst_loss, 0.3);
  for (const double e : {0.0, 0.2, 0.9})
    EXPECT_LT(exponential_delta(e, 1).upper(), pure_delta(e, 1).lower());
}

}  // namespace
}  // namespace sotto
