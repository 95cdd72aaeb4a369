// Calibration to an RDP, zCDP or tCDP target.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "accounting/api/concentrated.hpp"
#include "accounting/api/renyi.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

Calibration met(const std::string& plan, const DivergenceTarget& target,
                Method by = Method::tight) {
  return calibrate(parse(plan), target, {.by = by});
}

TEST(DivergenceTarget, GaussianNoiseIsTheTextbooksFormula) {
  // σ² = Δ² α/(2ε̄), σ² = Δ²/(2ρ)
  EXPECT_EQ(met("gaussian(?)", RenyiTarget{Order(8), 1}).value, 2);
  EXPECT_NEAR(met("100 * gaussian(?, sensitivity=3)", RenyiTarget{Order(8), 0.4}).value,
              std::sqrt(100 * 9 * 8 / 0.8), 1e-11);
  EXPECT_NEAR(met("gaussian(?)", ZcdpTarget{0.02}).value, 5, 1e-13);
  EXPECT_NEAR(met("gaussian(?)", TcdpTarget{0.02, 50}).value, 5, 1e-13);
}

TEST(DivergenceTarget, TheResultSufficesAndALittleLessDoesNot) {
  for (const char* plan : {"gaussian(?)", "10 * laplace(?)", "laplace(?) + 3 * gaussian(2*?)",
                           "poisson(0.1, gaussian(?))"}) {
    const Calibration result = met(plan, RenyiTarget{Order(4), 0.3});
    EXPECT_LE(RenyiAccountant(result.plan, Side::upper).at(4).upper(), 0.3) << plan;
    ASSERT_TRUE(result.insufficient) << plan;
    EXPECT_GT(RenyiAccountant(fill(parse(plan), *result.insufficient), Side::lower).at(4).lower(),
              0.3)
        << plan;
    EXPECT_NEAR(*result.insufficient / result.value, 1, 2e-6) << plan;
  }
  const Calibration zcdp = met("10 * laplace(?)", ZcdpTarget{0.1});
  EXPECT_LE(zcdp_of(zcdp.plan, RhoConversion::better).rho.upper(), 0.1);
  EXPECT_TRUE(zcdp.insufficient);
}

TEST(DivergenceTarget, CountsAreWhole) {
  // 16 Gaussians with σ = 4 have ρ = 1/2
  const Calibration result = met("? * gaussian(4)", ZcdpTarget{0.51});
  EXPECT_EQ(result.value, 16);
  EXPECT_EQ(result.insufficient, 17);
}

TEST(DivergenceTarget, ClosedFormsOfSamplingNeedMoreNoise) {
  const std::string plan = "without_replacement(100, 10000, gaussian(?))";
  const double best = met(plan, RenyiTarget{Order(8), 0.001}).value;
  const double simple = met(plan, RenyiTarget{Order(8), 0.001}, Method::rdp_simple).value;
  const double one = met(plan, RenyiTarget{Order(8), 0.001}, Method::rdp_one_order).value;
  EXPECT_LT(best, simple);
  EXPECT_LT(simple, one);
}

TEST(DivergenceTarget, BothNumbersOfArsinhNoiseFollowFromItsTheorem) {
  const Calibration result = met("arsinh(?, ?, sensitivity=3)", TcdpTarget{0.01, 200});
  const auto* noise = result.plan.as<Arsinh>();
  ASSERT_NE(noise, nullptr);
  EXPECT_NEAR(noise->rho.value(), 0.01 / 16, 1e-18);
  EXPECT_EQ(noise->a.value(), 4800);
  EXPECT_LE(tcdp_of(result.plan).rho.upper(), 0.01);
  EXPECT_GE(tcdp_of(result.plan).omega.lower(), 200);
  EXPECT_EQ(result.omega, 200);
  EXPECT_THROW(met("arsinh(?, ?)", TcdpTarget{0.0001, 2}),
               OutsideConditions);  // ω >= 1/(2 sqrt ρ) = 50
}

TEST(DivergenceTarget, OmegaIsPartOfATcdpTarget) {
  EXPECT_THROW(met("tcdp(?, 10)", TcdpTarget{1, 20}), OutsideConditions);
  EXPECT_NEAR(met("tcdp(?, 20)", TcdpTarget{1, 20}).value, 1, 1e-14);
  EXPECT_EQ(met("arsinh(0.01, ?)", TcdpTarget{0.17, 20}).value, 160);
}

TEST(DivergenceTarget, APlanWithoutADivergenceIsRefused) {
  EXPECT_THROW(met("approx(0.1, 1e-9) + gaussian(?)", ZcdpTarget{1}), OutsideConditions);
  EXPECT_THROW(met("poisson(0.1, gaussian(?))", ZcdpTarget{1}), OutsideConditions);
  EXPECT_THROW(met("gaussian(?)", ZcdpTarget{0}), InvalidValue);
  EXPECT_THROW(met("gaussian(?)", TcdpTarget{1, 1}), InvalidValue);
  EXPECT_THROW(met("gaussian(?)", RenyiTarget{Order(1), 1}), InvalidValue);
  EXPECT_THROW(met("gaussian(?)", RenyiTarget{Order(2), 1}, Method::basic), InvalidValue);
  EXPECT_THROW(met("gaussian(1)", ZcdpTarget{1}), InvalidValue);
}

}  // namespace
}  // namespace sotto
