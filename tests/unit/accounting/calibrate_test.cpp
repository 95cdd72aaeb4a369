// Calibration: the result suffices, and a slightly smaller number does not.
#include "sotto/accounting/calibrate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/work.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

Calibration calibration(const std::string& plan, double epsilon, double delta,
                        Method by = Method::tight) {
  return calibrate(parse(plan), Epsilon(epsilon), Delta(delta), {.by = by});
}

std::string refusal(const std::string& plan) {
  try {
    calibration(plan, 1, 1e-5);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(Calibrate, NoiseOfATrainingRunAgreesWithTheReference) {
  const Calibration noise = calibration("15000 * poisson(0.004, gaussian(?))", 1, 1e-5);
  const double truth = 1.9680024448839088423;  // bench/peers/truths.csv, question d
  EXPECT_GE(noise.value, truth);
  EXPECT_LE(noise.value, truth * (1 + 1e-9));
  ASSERT_TRUE(noise.insufficient);
  EXPECT_NEAR(*noise.insufficient / noise.value, 1 - 1e-9, 1e-15);
}

TEST(Calibrate, GaussiansAloneAreExactToTheLastDouble) {
  EXPECT_EQ(calibration("100 * gaussian(?)", 1, 1e-5).value, 37.30631634815943);
  EXPECT_EQ(calibration("gaussian(?) + gaussian(?)", 1, 1e-5).value,
            calibration("2 * gaussian(?)", 1, 1e-5).value);
}

struct Case {
  const char* plan;
  double epsilon, delta;
};

TEST(Calibrate, TheResultSufficesAndItsNeighbourIsProvenInsufficient) {
  for (const Case& c : std::vector<Case>{{"gaussian(?) + gaussian(2*?)", 1, 1e-5},
                                         {"gaussian(?/2)", 0.5, 1e-6},
                                         {"laplace(?) + gaussian(3 * ?)", 1, 1e-5},
                                         {"laplace(10) + 3 * gaussian(?)", 1, 1e-5},
                                         {"20 * discrete_gaussian(?)", 1, 1e-5},
                                         {"1000 * poisson(?, gaussian(1))", 1, 1e-5},
                                         {"50 * gaussian(30, sensitivity=?)", 1, 1e-5},
                                         {"100 * pure(?) + gdp(2*?)", 1, 1e-5},
                                         {"100 * approx(?, 1e-9)", 2, 1e-5},
                                         {"100 * laplace(?)", 1, 1e-5},
                                         {"20 * laplace(?, sensitivity=2)", 1, 0},
                                         {"? * gaussian(100)", 1, 1e-5},
                                         {"(3*?) * gaussian(100)", 1, 1e-5},
                                         {"? * poisson(0.01, gaussian(2))", 1, 1e-5},
                                         {"group(?, gaussian(10))", 1, 1e-5}}) {
    const Calibration result = calibration(c.plan, c.epsilon, c.delta);
    const Plan plan = parse(c.plan);
    EXPECT_EQ(result.plan, fill(plan, result.value)) << c.plan;
    EXPECT_LE(epsilon(result.plan, Delta(c.delta)).value.upper, c.epsilon) << c.plan;
    ASSERT_TRUE(result.insufficient) << c.plan;
    EXPECT_GT(epsilon(fill(plan, *result.insufficient), Delta(c.delta)).value.lower, c.epsilon)
        << c.plan;
    const double far = result.whole ? 1 : 1.001e-6 * result.value;
    EXPECT_LE(std::abs(*result.insufficient - result.value), far) << c.plan;
  }
}

TEST(Calibrate, AnyPrecisionMeetsTheTarget) {
  for (const double precision : {1e-2, 1e-5, 1e-11}) {
    const Question question{.precision = precision};
    const Calibration noise =
        calibrate(parse("15000 * poisson(0.004, gaussian(?))"), Epsilon(1), Delta(1e-5), question);
    EXPECT_LE(noise.cost.value.upper, 1) << precision;
    EXPECT_GE(noise.value, 1.9680024448839) << precision;
    EXPECT_LE(noise.value, 1.9680024448839 * (1 + precision)) << precision;
  }
}

TEST(Calibrate, ScalesOfOneNumberAgreeWithTheNumber) {
  EXPECT_NEAR(calibration("gaussian(2*?)", 1, 1e-5).value * 2,
              calibration("gaussian(?)", 1, 1e-5).value, 1e-12);
  EXPECT_EQ(calibration("(7*?) * gaussian(100)", 1, 1e-5).value, 102);  // 718 steps fit
  EXPECT_EQ(calibration("? * gaussian(100)", 1, 1e-5).value, 718);
}

TEST(Calibrate, EveryMethodMeetsTheTarget) {
  for (const Method by : {Method::rdp, Method::rdp_classic, Method::zcdp, Method::advanced,
                          Method::advanced_simple, Method::basic, Method::kov}) {
    const Calibration result = calibration("100 * gaussian(?)", 1, 1e-5, by);
    EXPECT_LE(result.cost.value.upper, 1);
    EXPECT_GE(result.cost.value.upper, 1 - 1e-12) << name(by);
    EXPECT_FALSE(result.insufficient) << name(by);
  }
}

TEST(Calibrate, PlansWithoutAPairAreCalibratedByTheBestOtherMethod) {
  EXPECT_NEAR(calibration("100 * zcdp(?)", 1, 1e-5).value, 0.000305569507876697, 1e-16);
  EXPECT_EQ(calibration("1000 * without_replacement(?, 60000, gaussian(1))", 1, 1e-5).whole, true);
  EXPECT_NEAR(calibration("tcdp(0.01, ?)", 1, 1e-5).cost.value.upper, 1, 1e-9);
}

TEST(Calibrate, HolesWithOppositeEffectsAreRefused) {
  EXPECT_NE(
      refusal("? * gaussian(?)").find("cheaper as sigma of gaussian but more expensive as steps"),
      std::string::npos);
  EXPECT_NE(refusal("gaussian(?, sensitivity=?)").find("more expensive as sensitivity of gaussian"),
            std::string::npos);
  EXPECT_NE(refusal("gaussian(1)").find("nothing to calibrate"), std::string::npos);
  EXPECT_NE(refusal("laplace(?) + randomized_response(?)").find("cannot solve for p"),
            std::string::npos);
  EXPECT_THROW(calibration("gaussian(1) + laplace(?)", 1, 1e-5), OutsideConditions);
  EXPECT_THROW(calibration("? * gaussian(1)", 1, 1e-5), OutsideConditions);
  EXPECT_THROW(calibration("gaussian(?)", 1, 0), OutsideConditions);
}

TEST(Calibrate, TheEndOfTheRangeIsReturnedIfEveryNumberSuffices) {
  EXPECT_EQ(calibration("poisson(?, gaussian(100))", 1, 1e-5).value, 1);
  EXPECT_EQ(calibration("poisson(4*?, gaussian(100))", 1, 1e-5).value, 0.25);
  EXPECT_EQ(calibration("without_replacement(?, 60, gaussian(100))", 1, 1e-5).value, 60);
}

// Plans whose ε needs much of the work limit: rarely sampled steps, samples without replacement,
// shuffled reports.
const std::vector<Case> dear_plans{{"25 * poisson(0.001, gaussian(?))", 1, 1e-5},
                                   {"25 * poisson(0.001, gaussian(?))", 8, 1e-6},
                                   {"25 * poisson(0.001, gaussian(?, 6))", 1, 1e-5},
                                   {"100 * poisson(0.001, gaussian(?))", 1, 1e-5},
                                   {"200 * poisson(0.0001, gaussian(?))", 1, 1e-6},
                                   {"60 * poisson(0.004, gaussian(?)) + laplace(20)", 2, 1e-6},
                                   {"25 * without_replacement(1, 1000, gaussian(?))", 1, 1e-5},
                                   {"5000 * poisson(0.0001, gaussian(?))", 1, 1e-6},
                                   {"shuffle(?, 1000)", 1, 1e-5},
                                   {"ring_histogram(?, 10, 1000)", 1, 1e-5}};

TEST(Calibrate, ForExpensivePlansAPartIn10000LessDoesNotSuffice) {
  for (const Case& c : dear_plans) {
    const Plan plan = parse(c.plan);
    const bool cheaper = holes_of(plan).front().effect == Effect::cheaper;
    double by_tight = 0;
    for (const Method by : {Method::tight, Method::pld}) {
      const WorkLimit all{Allowance{}};
      const Calibration result = calibration(c.plan, c.epsilon, c.delta, by);
      EXPECT_LE(all.spent(), 4.1 * allowance_of({}).work) << c.plan;
      EXPECT_LE(epsilon(result.plan, Delta(c.delta), {.by = by}).value.upper, c.epsilon) << c.plan;
      const double less = result.value * (cheaper ? 1 - 1e-4 : 1 + 1e-4);
      EXPECT_GT(epsilon(fill(plan, less), Delta(c.delta), {.by = by}).value.upper, c.epsilon)
          << c.plan << " at " << less;
      if (by == Method::tight) by_tight = result.value;
      EXPECT_NEAR(result.value / by_tight, 1, 1e-4) << c.plan;
    }
  }
}

TEST(Calibrate, ATargetBelowTheCostOfTheRestIsRefused) {
  const WorkLimit all{Allowance{}};
  try {
    calibration("412 * poisson(0.425, gaussian(?)) + 12 * laplace(2.73)", 0.2, 6.64e-12);
    FAIL() << "the Laplace noise alone costs more than 0.2";
  } catch (const OutsideConditions& e) {
    EXPECT_EQ(std::string(e.what()).find("allow more time"), std::string::npos) << e.what();
  }
  EXPECT_LE(all.spent(), 2 * allowance_of({}).work);
}

TEST(NoiseFactor, IsThatOfACalibratedPlan) {
  const double best = epsilon(parse("100 * gaussian(40)"), Delta(1e-5)).value.upper;
  for (const Method by : {Method::rdp, Method::zcdp_classic, Method::advanced, Method::basic}) {
    const auto factor =
        noise_factor(parse("100 * gaussian(40)"), Epsilon(best), Delta(1e-5), {.by = by});
    const double sigma = calibration("100 * gaussian(?)", best, 1e-5, by).value;
    ASSERT_TRUE(factor) << name(by);
    EXPECT_GE(*factor * 40, sigma * (1 - 1e-12)) << name(by);
    EXPECT_LE(*factor * 40, sigma * (1 + 2e-4)) << name(by);
  }
}

TEST(NoiseFactor, ScalesAllNoiseEquallyAndNothingElse) {
  EXPECT_EQ(*with_noise_holes(parse("3 * laplace(5) + poisson(0.1, gaussian(2, sensitivity=4))")),
            parse("3 * laplace(5*?) + poisson(0.1, gaussian(2*?, sensitivity=4))"));
  EXPECT_EQ(fill(*with_noise_holes(parse("discrete_laplace(0.1) + discrete_gaussian(7)")), 1),
            parse("discrete_laplace(0.1) + discrete_gaussian(7)"));
  EXPECT_FALSE(with_noise_holes(parse("gaussian(1) + pure(0.1)")));
  EXPECT_FALSE(noise_factor(parse("gaussian(1) + pure(0.1)"), Epsilon(1), Delta(1e-5)));
  EXPECT_FALSE(noise_factor(parse("gaussian(1)"), Epsilon(1), Delta(0)));
}

TEST(Waste, IsOneForTheBestAndMoreForOthers) {
  const Plan plan = parse("100 * laplace(20)");
  double least = 1e9;
  for (const Comparison& row : with_noise_waste(compare(plan, Delta(1e-5)), plan, Delta(1e-5))) {
    EXPECT_EQ(row.waste.has_value(), row.answer.has_value());
    if (!row.waste) continue;
    EXPECT_EQ(row.waste->epsilon, row.answer->value.upper / row.waste->best);
    ASSERT_TRUE(row.waste->noise) << name(row.method);
    EXPECT_EQ(*row.waste->noise == 1, row.waste->epsilon == 1);
    EXPECT_GE(*row.waste->noise, 1);
    least = std::min(least, row.waste->epsilon);
    if (row.method == Method::basic) {
      EXPECT_NEAR(*row.waste->noise, row.waste->epsilon, 5e-4);  // ε is as 1/b
    }
  }
  EXPECT_EQ(least, 1);
  for (const Comparison& row : compare(parse("pure(0)"), Delta(1e-5))) EXPECT_FALSE(row.waste);
}

}  // namespace
}  // namespace sotto
