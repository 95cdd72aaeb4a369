// The choice of an abscissa, for a Gaussian step of μ = 1 with K(c) = c(c+1)/2, against minima by
// bisection.
#include "pld/saddle_point/abscissa.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {
namespace {

double root_of(const std::function<double(double)>& increasing, double low, double high) {
  for (int half = 0; half < 200; ++half) {
    const double middle = (low + high) / 2;
    (increasing(middle) < 0 ? low : high) = middle;
  }
  return low;
}

const std::vector<LossStep>& gaussian_step() {
  static const std::vector<LossStep> steps{{gaussian_loss(1), 1}};
  return steps;
}

TEST(Abscissa, SaddlePointMinimisesTheIntegrand) {
  for (const double epsilon : {0.5, 3.0, 20.0}) {
    // the derivative of c(c+1)/2 - cε - log c - log(1+c)
    const double exact =
        root_of([epsilon](double c) { return c + 0.5 - epsilon - 1 / c - 1 / (1 + c); }, 1e-3, 100);
    EXPECT_NEAR(saddle_point(gaussian_step(), epsilon), exact, 0.05 * exact) << epsilon;
  }
}

TEST(Abscissa, RenyiAbscissaMinimisesChernoffsEpsilon) {
  for (const double log_delta : {-5.0, -30.0}) {
    const auto epsilon_at = [log_delta](double c) {
      return (c * (c + 1) / 2 - log_delta + chernoff_factor(c)) / c;
    };
    double least = infinity;
    for (double c = 0.01; c < 100; c *= 1.001) least = std::min(least, epsilon_at(c));
    EXPECT_LE(epsilon_at(renyi_abscissa(gaussian_step(), log_delta)), 1.001 * least) << log_delta;
  }
}

TEST(Abscissa, SaddlePointEstimateIsNearLogDelta) {
  for (const double epsilon : {1.0, 3.0, 6.0}) {
    const double root = std::sqrt(2.0);
    const double exact = std::erfc((epsilon - 0.5) / root) / 2 -
                         std::exp(epsilon) * std::erfc((epsilon + 0.5) / root) / 2;
    const auto estimate =
        saddle_point_estimate(gaussian_step(), saddle_point(gaussian_step(), epsilon), epsilon);
    ASSERT_TRUE(estimate);
    EXPECT_NEAR(*estimate, std::log(exact), 0.2) << epsilon;
  }
}

TEST(Abscissa, StaysBelowThePole) {
  const std::vector<LossStep> steps{{arsinh_loss(3, Real(1) / 5), 1}};  // its pole is about 2.03
  EXPECT_LT(saddle_point(steps, 1e6), pole_of(steps));
  EXPECT_LT(renyi_abscissa(steps, -1e6), pole_of(steps));
}

TEST(Abscissa, LargestLossIsTheSumOfAllSteps) {
  EXPECT_NEAR(max_loss_of({{laplace_loss(Real(1) / 2), 3}, {laplace_loss(2), 1}}), 3.5, 1e-14);
  EXPECT_GE(max_loss_of({{laplace_loss(Real(1) / 2), 3}, {laplace_loss(2), 1}}), 3.5);
  EXPECT_TRUE(std::isinf(max_loss_of({{laplace_loss(1), 1}, {gaussian_loss(1), 1}})));
}

// mpmath, 40 digits: log of c^c/(1+c)^(1+c)
TEST(ChernoffFactor, IsRoundedUpFromTheClosedForm) {
  for (const auto& [c, log] :
       {std::pair{0.1, -0.335099707084161936}, std::pair{1.0, -1.38629436111989062},
        std::pair{3.0, -2.2493405784752334}, std::pair{50.0, -4.92195699753331142}}) {
    EXPECT_GE(chernoff_factor(c), log) << c;
    EXPECT_NEAR(chernoff_factor(c), log, 1e-14) << c;
  }
}

}  // namespace
}  // namespace sotto::pld_detail
