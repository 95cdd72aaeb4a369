// Every answer ends within the default work limit, and is then valid and useful. Work is counted,
// never timed.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "accounting/api/pld.hpp"
#include "accounting/api/privacy_loss_distribution.hpp"
#include "core/api/work.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double last_straw = 1.02;  // the last thing counted may go beyond the limit

struct Limited {
  Answer answer;
  double spent;
};

Limited limited(const std::string& plan, double delta) {
  const WorkLimit all{Allowance{}};
  Answer answer = epsilon(parse(plan), Delta(delta));
  return {std::move(answer), all.spent()};
}

void expect_within(const std::string& plan, double delta, double least, double most) {
  const Limited one = limited(plan, delta);
  EXPECT_LE(one.spent, last_straw * allowance_of({}).work) << plan.substr(0, 80);
  EXPECT_LE(one.answer.value.lower, most) << plan.substr(0, 80);
  EXPECT_GE(one.answer.value.upper, least) << plan.substr(0, 80);
  EXPECT_LE(one.answer.value.upper, 4 * most) << plan.substr(0, 80);
}

std::string schedule(int phases) {
  std::mt19937_64 bits(1);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(bits() >> 11), -53);
  };
  std::string plan;
  for (int i = 0; i < phases; ++i) {
    const std::string k = std::to_string(1 + static_cast<int>(bits() % 7));
    plan += (i == 0 ? "" : " + ") + k + " * poisson(" + with_decimals(uniform(0.001, 0.002), 6) +
            ", gaussian(" + with_decimals(uniform(1, 1.03), 6) + "))";
  }
  return plan;
}

// These once took twenty seconds and 1.6 GB; δ(0) of the third plan is below δ.
TEST(Limits, MuchNoiseIsQuickAndNarrow) {
  for (const std::string plan :
       {"101 * poisson(0.02, gaussian(700))", "101 * poisson(0.02, gaussian(1000))",
        "10 * poisson(0.02, gaussian(1000))", "5000 * poisson(0.02, gaussian(1000))"}) {
    const Limited one = limited(plan, 1e-5);
    EXPECT_LE(one.spent, 1e8) << plan;
    EXPECT_FALSE(one.answer.cut) << plan;
    EXPECT_GT(one.answer.value.lower, 0) << plan;
    EXPECT_LE(one.answer.value.upper - one.answer.value.lower,
              1e-9 * one.answer.value.upper + 1e-12)
        << plan;
  }
  EXPECT_EQ(limited("101 * poisson(0.02, gaussian(10000))", 1e-5).answer.value.upper, 0);
}

// With so much noise the steps are as good as Gaussian: μ = q √k √(e^(1/σ²) - 1), within a part in
// a hundred.
TEST(Limits, MuchNoiseCostsTheGaussianLimit) {
  const double mu = 0.02 * std::sqrt(101.0) * std::sqrt(std::expm1(1e-6));
  const double limit = epsilon(gdp(mu), Delta(1e-5)).value.upper;
  EXPECT_NEAR(limited("101 * poisson(0.02, gaussian(1000))", 1e-5).answer.value.upper / limit, 1,
              1e-2);
}

// This once took 140 seconds, for ε of one unit at many δ. The total of one unit is a lower bound
// for five.
TEST(Limits, AGroupEnds) {
  const std::string inside =
      "8874 * poisson(0.0011, gaussian(0.523)) + 8216 * poisson(0.000129, gaussian(0.523))";
  const Limited one = limited("group(5, " + inside + ")", 1e-5);
  EXPECT_LE(one.spent, last_straw * allowance_of({}).work);
  EXPECT_GE(one.answer.value.upper, limited(inside, 1e-5).answer.value.lower);
}

TEST(Limits, ManyKindsOfLaplaceEnd) {
  std::string plan;
  for (int i = 0; i < 300; ++i)
    plan += (i == 0 ? "laplace(" : " + laplace(") + with_decimals(10 + 0.1 * i, 6) + ")";
  expect_within(plan, 1e-5, 3.6433, 3.6434);
}

// The cost of a schedule lies between the costs with all phases like the cheapest and like the most
// expensive.
TEST(Limits, SchedulesEndBetweenTheirExtremes) {
  for (const int phases : {100, 1000}) {
    const std::string plan = schedule(phases);
    double steps = 0;
    for (const LossStep& step : loss_of(parse(plan), Side::upper).removed) steps += step.count;
    const double least = epsilon(steps * poisson(0.001, gaussian(1.03)), Delta(1e-5)).value.lower;
    const double most = epsilon(steps * poisson(0.002, gaussian(1)), Delta(1e-5)).value.upper;
    expect_within(plan, 1e-5, least, most);
    const Bound value = limited(plan, 1e-5).answer.value;
    EXPECT_GT(value.lower, 0.3 * value.upper) << phases;  // of some use
  }
}

// Plans with many kinds of steps merge similar ones. The cost is known if all steps are equal
// except for their last digits.
TEST(Limits, MergedKindsBoundTheirSteps) {
  std::string plan;
  for (int i = 0; i < 40; ++i) {
    plan += (i == 0 ? "10 * poisson(0.0010000" : " + 10 * poisson(0.0010000") +
            std::to_string(10 + i) + ", gaussian(1))";
  }
  const Bound merged = limited(plan, 1e-5).answer.value;
  const Bound one = epsilon(400 * poisson(0.00100003, gaussian(1)), Delta(1e-5)).value;
  EXPECT_LE(merged.lower, one.upper * (1 + 1e-4));
  EXPECT_GE(merged.upper, one.lower * (1 - 1e-4));
  EXPECT_LE(merged.upper - merged.lower, 1e-3 * merged.upper);
}

TEST(Limits, RareFamiliesEnd) {
  for (const std::string plan :
       {"37 * arsinh(0.0103, 31.1)", "1 * arsinh(0.00431, 812) + 3 * gaussian(20)",
        "without_replacement(13, 1500, gaussian(0.31))",
        "51 * without_replacement(200, 40000, laplace(0.6))",
        "7 * poisson(0.2, gaussian(0.4) + laplace(0.7) + pure(0.3))"}) {
    const Limited one = limited(plan, 1e-7);
    EXPECT_LE(one.spent, last_straw * allowance_of({}).work) << plan;
    EXPECT_TRUE(std::isfinite(one.answer.value.upper)) << plan;
    EXPECT_LE(one.answer.value.lower, one.answer.value.upper) << plan;
  }
}

TEST(Limits, EveryCommandEnds) {
  const Plan plan = parse(schedule(60) + " + arsinh(0.0103, 31.1)");
  const double most = last_straw * allowance_of({}).work;
  const auto spent = [](auto ask) {
    const WorkLimit all{Allowance{}};
    ask();
    return all.spent();
  };
  EXPECT_LE(spent([&] { (void)delta(plan, Epsilon(0.5)); }), most);
  EXPECT_LE(spent([&] { (void)compare(plan, Delta(1e-5)); }), most);
  EXPECT_LE(spent([&] { (void)divergence(plan, Order(3.5)); }), most);
  EXPECT_LE(spent([&] {
              const Tradeoff tradeoff(plan);
              for (const double fpr : {0.001, 0.01, 0.1}) (void)tradeoff.true_positive_rate(fpr);
            }),
            most);
  EXPECT_LE(spent([&] {
              const PrivacyLossDistribution law(plan);
              for (const double at : {0.1, 0.5}) (void)law.tail(Epsilon(at));
            }),
            most);
  EXPECT_LE(spent([&] { (void)with_noise_waste(compare(plan, Delta(1e-5)), plan, Delta(1e-5)); }),
            2 * most);
}

TEST(Limits, ACalibrationEndsAndMeetsItsTarget) {
  const WorkLimit all{Allowance{}};
  const Calibration result = calibrate(parse("3 * poisson(0.001, gaussian(?)) + 5 * "
                                             "poisson(0.0013, gaussian(1.1*?)) + 2 * laplace(20)"),
                                       Epsilon(0.5), Delta(1e-6));
  EXPECT_LE(all.spent(), 4 * last_straw * allowance_of({}).work);
  EXPECT_LE(result.cost.value.upper, 0.5);
}

// With any remaining work, a bracket holds the result of much more work.
TEST(Limits, ABracketAtTheWorkLimitHoldsTheTruth) {
  for (const std::string plan :
       {"400 * poisson(0.0015, gaussian(1.01))", "30 * laplace(7)", "50 * discrete_gaussian(3)",
        "20 * poisson(0.1, laplace(2))", "1000 * pure(0.01) + 7 * approx(0.05, 1e-9)",
        "10 * without_replacement(20, 400, gaussian(1))"}) {
    const PlanLoss loss = loss_of(parse(plan), Side::upper);
    const Bound full = composed_epsilon(loss, {1e-5, 1e-5});
    const Bound delta_there = composed_delta(loss, {0.3, 0.3});
    for (double work = 1e3; work < 1e9; work *= 4) {
      const WorkLimit limit(work);
      const Bound cut = composed_epsilon(loss, {1e-5, 1e-5});
      EXPECT_LE(cut.lower, full.upper) << plan << " with " << work;
      EXPECT_GE(cut.upper, full.lower) << plan << " with " << work;
      const WorkLimit again(work);
      const Bound delta_cut = composed_delta(loss, {0.3, 0.3});
      EXPECT_LE(delta_cut.lower, delta_there.upper) << plan << " with " << work;
      EXPECT_GE(delta_cut.upper, delta_there.lower) << plan << " with " << work;
    }
  }
}

TEST(Limits, TheSameQuestionGetsTheSameAnswer) {
  const std::string plan = schedule(60);
  const Bound first = limited(plan, 1e-5).answer.value;
  const Bound second = limited(plan, 1e-5).answer.value;
  EXPECT_EQ(first.lower, second.lower);
  EXPECT_EQ(first.upper, second.upper);
}

TEST(Limits, AnAnswerAtTheWorkLimitIsMarked) {
  const Answer cut = limited(schedule(60), 1e-5).answer;
  EXPECT_TRUE(cut.cut);
  EXPECT_FALSE(epsilon(100 * gaussian(10), Delta(1e-5)).cut);
  EXPECT_FALSE(epsilon(parse("10000 * poisson(0.01, gaussian(1))"), Delta(1e-5)).cut);
}

TEST(Limits, PrecisionAndTimeAllowMore) {
  EXPECT_GT(allowance_of({.precision = 1e-9}).work, allowance_of({}).work);
  EXPECT_TRUE(allowance_of({.seconds = 3}).seconds.has_value());
  EXPECT_THROW((void)allowance_of({.seconds = 0}), InvalidValue);
  EXPECT_THROW((void)allowance_of({.seconds = -1}), InvalidValue);
}

std::string root_of(const std::string& plan) {
  const Answer answer = epsilon(parse(plan), Delta(1e-5), {.by = Method::pld});
  return answer.derivation.theorem + " [" + answer.derivation.reference + "]";
}

// Each bound names its theorem with a reference.
TEST(Certificates, NameTheirTheorem) {
  const auto says = [](const std::string& plan, const std::string& theorem,
                       const std::string& reference) {
    const std::string root = root_of(plan);
    EXPECT_NE(root.find(theorem), std::string::npos) << plan << ": " << root;
    EXPECT_NE(root.find("[" + reference + "]"), std::string::npos) << plan << ": " << root;
  };
  says("gaussian(1)", "closed form", "Balle2018b");
  says("10000 * poisson(0.01, gaussian(1))",
       "inversion integral of the moment generating function through its saddle point",
       "Alghamdi2023");
  says("5000 * pure(0.01)", "lattice", "Koskela2020");
  says("3 * poisson(0.1, laplace(2))", "discretised pessimistically", "Doroshenko2022");
  says("100 * pure(0.01) + 50 * pure(0.02)", "discretised pessimistically", "Doroshenko2022");
}

}  // namespace
}  // namespace sotto
