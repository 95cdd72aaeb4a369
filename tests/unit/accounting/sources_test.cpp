// Numbers of the course material, confirmed or corrected.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "accounting/api/composition.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

double cost(const std::string& plan, Method by, double delta = 1e-5,
            std::optional<Order> order = std::nullopt) {
  return epsilon(parse(plan), Delta(delta), {.by = by, .order = order}).value.upper;
}
double noise(Method by, std::optional<Order> order = std::nullopt) {
  return calibrate(parse("100 * gaussian(?)"), Epsilon(1), Delta(1e-5), {.by = by, .order = order})
      .value;
}

TEST(Sources, SimpleAdvancedCompositionOf500UnitStepsIsRefused) {
  try {
    cost("500 * pure(1)", Method::advanced_simple);
    ADD_FAILURE() << "not refused";
  } catch (const OutsideConditions& e) {
    EXPECT_NE(std::string(e.what()).find("214.59"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("too small"), std::string::npos) << e.what();
  }
  EXPECT_NEAR(advanced_simple_formula({500, 1, 1e-5}).upper(), 214.59, 0.01);
  EXPECT_NEAR(cost("500 * pure(1)", Method::optimal), 311.8, 0.05);
}

TEST(Sources, TheSimpleFormInsideItsValidityMatchesTheFormula) {
  const double expected = 2 * 0.01 * std::sqrt(2 * 500 * std::log(1e5));
  EXPECT_NEAR(cost("500 * pure(0.01)", Method::advanced_simple), expected, 1e-12);
}

TEST(Sources, FiveHundredGaussianSteps) {
  EXPECT_NEAR(cost("500 * gaussian(200)", Method::zcdp_classic), 0.542741506572337, 1e-12);
  EXPECT_NEAR(cost("500 * gaussian(200)", Method::rdp_classic, 1e-5, Order(60)), 0.570134, 1e-6);
  const double exact = cost("500 * gaussian(200)", Method::tight);
  EXPECT_NEAR(exact, 0.384692354, 1e-9);
  for (const Comparison& row : compare(parse("500 * gaussian(200)"), Delta(1e-5))) {
    if (row.answer) {
      EXPECT_GE(row.answer->value.upper, exact);
    }
  }
  EXPECT_NEAR(cost("500 * gaussian(200)", Method::advanced_simple), 6.75, 0.01);
  EXPECT_NEAR(cost("500 * gaussian(200)", Method::advanced), 3.85, 0.01);
}

TEST(Sources, CalibratingAHundredGaussians) {
  EXPECT_NEAR(noise(Method::advanced_simple), 576.78, 0.01);
  const double order = target_order(1, Real(1e-5)).estimate();
  EXPECT_NEAR(noise(Method::rdp_classic, Order(order)), 49.016, 0.001);
  EXPECT_NEAR(noise(Method::tight), 37.306, 0.001);
}

TEST(Sources, CalibratedNoiseSufficesAndABitLessDoesNot) {
  const double sigma = noise(Method::tight);
  const auto at = [](double s) { return epsilon(100 * gaussian(s), Delta(1e-5)).value; };
  EXPECT_LE(at(sigma).upper, 1);
  EXPECT_GT(at(sigma * (1 - 1e-9)).lower, 1);
}

TEST(Sources, DiscreteLaplaceIsNotTheContinuousOne) {
  EXPECT_NEAR(cost("1000 * discrete_laplace(10)", Method::tight), 17.787, 0.001);
  EXPECT_NEAR(delta(parse("discrete_gaussian(1)"), Epsilon(1)).value.upper, 0.1414, 0.0001);
  EXPECT_NEAR(delta(parse("gaussian(1)"), Epsilon(1)).value.upper, 0.1269, 0.0001);
}

TEST(Sources, TheClassicalGaussianLineIsRefusedAboveOne) {
  EXPECT_THROW(gaussian_classical_sigma(10, 1e-5), OutsideConditions);
  // what it would claim at ε = 10 has a δ of 2.27e-5
  const double sigma = std::sqrt(2 * std::log(1.25e5)) / 10;
  EXPECT_NEAR(delta(gaussian(sigma), Epsilon(10)).value.upper, 2.27e-5, 0.01e-5);
}

TEST(Sources, ClosedFormMomentsAreNoBound) {
  // 4 sqrt(k log(1/δ))/σ at σ = 1, k = 400, δ = 1e-5 is 271.4; the truth is 284.4.
  EXPECT_NEAR(4 * std::sqrt(400 * std::log(1e5)), 271.4, 0.1);
  EXPECT_NEAR(epsilon(parse("400 * gaussian(1)"), Delta(1e-5)).value.lower, 284.4, 0.1);
}

TEST(Sources, WithProbabilityOneMinusDeltaIsNotTheDefinition) {
  EXPECT_NEAR(delta(parse("gaussian(1)"), Epsilon(1)).value.upper, 0.127, 0.001);
}

TEST(Sources, ThePlottedRenyiOrderTouchesZcdpWhereComputed) {
  // order 60 is the best classical one at k = log(1/δ) / (59² ρ) = 264.6; order 20 at 2551
  const double rho = 1 / (2 * 200.0 * 200.0);
  EXPECT_NEAR(std::log(1e5) / (59 * 59 * rho), 264.6, 0.1);
  EXPECT_NEAR(cost("265 * gaussian(200)", Method::rdp_classic, 1e-5, Order(60)),
              cost("265 * gaussian(200)", Method::zcdp_classic), 1e-6);
  EXPECT_NEAR(std::log(1e5) / (19 * 19 * rho), 2551, 1);
}

}  // namespace
}  // namespace sotto
