// The theorems on arsinh noise: their guarantees, and their conditions one by one.
#include "privacy/api/arsinh.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const OutsideConditions& error) {
    return error.what();
  }
  return "nothing was refused";
}

void expect_refusal(const std::function<void()>& f, const std::string& condition) {
  const std::string message = refusal(f);
  EXPECT_NE(message.find(condition), std::string::npos) << message;
}

TEST(Arsinh, GivesSixteenRhoAndAnEighthOfTheRatio) {
  const TruncatedConcentratedDP tcdp = arsinh_tcdp(0.25, 40, 2);
  EXPECT_EQ(tcdp.rho.bound(), (Bound{4, 4}));
  EXPECT_EQ(tcdp.omega.bound(), (Bound{2.5, 2.5}));
}

// In each test one condition fails and the others hold.
TEST(Arsinh, RefusesRhoOfOneAndMore) {
  expect_refusal([] { arsinh_tcdp(1, 40, 2); }, "1 < 1/sqrt(rho)");
  expect_refusal([] { arsinh_tcdp(4, 40, 2); }, "1 < 1/sqrt(rho)");
  expect_refusal([] { arsinh_tcdp(Real(0.999).widened(0.01), 40, 2); }, "1 < 1/sqrt(rho)");
  EXPECT_NO_THROW(arsinh_tcdp(0.999, 40, 2));
}

TEST(Arsinh, RefusesARatioBelowOneOverTheRootOfRho) {
  expect_refusal([] { arsinh_tcdp(0x1p-14, 127, 1); }, "1/sqrt(rho) <= A/sensitivity");
  EXPECT_NO_THROW(arsinh_tcdp(0x1p-14, 128, 1));
  expect_refusal([] { arsinh_tcdp(0x1p-14, 128, 1.01); }, "1/sqrt(rho) <= A/sensitivity");
  expect_refusal([] { arsinh_tcdp(0, 128, 1); }, "1/sqrt(rho) <= A/sensitivity");
}

TEST(Arsinh, RefusesARatioOfEightAndLess) {
  expect_refusal([] { arsinh_tcdp(0.5, 8, 1); }, "A > 8 sensitivity");
  expect_refusal([] { arsinh_tcdp(0.5, 12, 2); }, "A > 8 sensitivity");
  EXPECT_NO_THROW(arsinh_tcdp(0.5, 8.001, 1));
}

TEST(ArsinhTarget, GivesTheParametersWhoseGuaranteeIsTheTarget) {
  const Real rho = 0.5;
  const Real omega = 3;
  const ArsinhParameters p = arsinh_for_target(rho, omega, 2);
  const TruncatedConcentratedDP back = arsinh_tcdp(p.rho, p.a, 2);
  EXPECT_TRUE(oracle::encloses(back.rho, rho));
  EXPECT_TRUE(oracle::encloses(back.omega, omega));
  // the noise has variance Δ²/(2ρ') = 8Δ²/ρ
  EXPECT_TRUE(oracle::encloses(square(Real(2)) / (2 * p.rho), 8 * square(Real(2)) / rho));
}

TEST(ArsinhTarget, RefusesEachConditionAlone) {
  expect_refusal([] { arsinh_for_target(16, 3, 1); }, "rho < 16");
  expect_refusal([] { arsinh_for_target(1, 1, 1); }, "omega > 1");
  expect_refusal([] { arsinh_for_target(1, 0.7, 1); }, "omega > 1");
  expect_refusal([] { arsinh_for_target(0.01, 4.9, 1); }, "omega >= 1/(2 sqrt(rho))");
  EXPECT_NO_THROW(arsinh_for_target(0.01, 5.1, 1));
  EXPECT_NO_THROW(arsinh_for_target(0.25, 1.001, 1));
  EXPECT_NO_THROW(arsinh_for_target(0x1p-4, 2, 1));
}

TEST(Arsinh, TheExactLimitOfOrdersIsAboveThatOfTheTheorem) {
  for (const double a : {9.0, 100.0, 1e6}) {
    const Real limit = arsinh_order_limit(a, 1);
    EXPECT_GT(limit.lower(), a / 8);
    EXPECT_NEAR(limit.estimate(), 1 / (1 - std::exp(-2 / a)), 1e-9 * limit.estimate());
  }
}

}  // namespace
}  // namespace sotto
