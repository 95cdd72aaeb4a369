// The closed forms of the course material as methods, and basic composition at the plan's own δ.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "accounting/api/privacy_loss_distribution.hpp"
#include "accounting/api/renyi.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Bound cost(const std::string& plan, double at, Method by,
           std::optional<Order> order = std::nullopt) {
  return epsilon(parse(plan), Delta(at), {.by = by, .order = order}).value;
}
Bound failure(const std::string& plan, double at, Method by) {
  return delta(parse(plan), Epsilon(at), {.by = by}).value;
}
std::string refusal(const std::string& plan, double at, Method by) {
  try {
    cost(plan, at, by);
  } catch (const OutsideConditions& e) {
    return e.what();
  }
  return "";
}

// --- basic composition at its own δ ---

TEST(BasicComposition, TheStepsOwnDeltaSuffices) {
  EXPECT_EQ(cost("2 * approx(1, 1e-6)", 2e-6, Method::basic).upper, 2);
  EXPECT_EQ(cost("3 * approx(2, 1e-7)", 3e-7, Method::basic).upper, 6);
  EXPECT_NEAR(cost("approx(1, 1e-6) + approx(2, 3e-6)", 4e-6, Method::basic).upper, 3, 1e-12);
  EXPECT_EQ(cost("1000000 * approx(1, 1e-8)", 0.01, Method::basic).upper, 1e6);
}

TEST(BasicComposition, TheOwnDeltaIsTheChanceOfAnyFailure) {
  // 1 - (1 - 1e-6)^10 = 9.99995500012e-6, and half a unit in the last place of 0.5, ten times
  const Bound value = failure("10 * approx(0.5, 1e-6)", 5, Method::basic);
  EXPECT_GE(value.upper, 9.99995500012e-6);
  EXPECT_LE(value.upper, 9.99995500013e-6 + 1e-15);
  EXPECT_LE(failure("10 * approx(0.5, 1e-6)", 5, Method::pld).upper, value.upper);
  EXPECT_EQ(failure("10 * approx(0.5, 1e-6)", 4.9, Method::basic).upper, 1);
}

TEST(BasicComposition, LessThanTheOwnDeltaIsTooLittle) {
  // the exact chance is 1.9999990000000001e-6
  EXPECT_EQ(cost("2 * approx(1, 1e-6)", 1.999998e-6, Method::basic).upper, infinity);
  EXPECT_EQ(cost("2 * approx(1, 1e-6)", 1.99999900000001e-6, Method::basic).upper, 2);
  // The bound is attained by the pair that reveals everything with probability 1e-6 and is
  // randomized response otherwise.
  EXPECT_EQ(cost("2 * approx(1, 1e-6)", 1.999998e-6, Method::pld).lower, infinity);
}

TEST(BasicComposition, StepsThatNeedAShareGetTheRemainingDelta) {
  const double with = cost("2 * approx(1, 1e-6) + gaussian(4)", 1e-5, Method::basic).upper;
  EXPECT_NEAR(with,
              2 + cost("gaussian(4)", (1e-5 - 1.999999e-6) / (1 - 1.999999e-6), Method::pld).upper,
              1e-6);
  EXPECT_GE(with, cost("2 * approx(1, 1e-6) + gaussian(4)", 1e-5, Method::pld).lower);
}

// --- sampling without replacement, closed forms ---

double sampled_sum(double rate, int order, double sigma, bool one_order) {
  double sum = 0;
  double chosen = order * (order - 1) / 2.0;  // C(α, j)
  for (int j = 2; j <= order; ++j) {
    const double divergence = (one_order ? order : j) / (2 * sigma * sigma);
    sum += 2 * std::pow(rate, j) * chosen * std::exp((j - 1) * divergence);
    chosen *= static_cast<double>(order - j) / (j + 1);
  }
  return std::log1p(sum) / (order - 1);
}

TEST(SampledForms, AreTheFormulas) {
  const Plan plan = parse("without_replacement(100, 10000, gaussian(2))");
  for (const int order : {2, 3, 8, 20}) {
    const auto at = [&](WithoutReplacementBound line) {
      return RenyiAccountant(plan, Side::upper, line).at(order).upper();
    };
    EXPECT_NEAR(at(WithoutReplacementBound::every_order) / sampled_sum(0.01, order, 2, false), 1,
                1e-10)
        << order;
    EXPECT_NEAR(at(WithoutReplacementBound::one_order) / sampled_sum(0.01, order, 2, true), 1,
                1e-10)
        << order;
    EXPECT_LE(at(WithoutReplacementBound::best),
              at(WithoutReplacementBound::every_order) * (1 + 1e-12));
    EXPECT_LE(at(WithoutReplacementBound::every_order),
              at(WithoutReplacementBound::one_order) * (1 + 1e-12));
  }
}

TEST(SampledForms, UseTheClassicalConversion) {
  const double at_eight = 1000 * sampled_sum(0.01, 8, 2, false) + std::log(1e5) / 7;
  EXPECT_NEAR(cost("1000 * without_replacement(100, 10000, gaussian(2))", 1e-5, Method::rdp_simple,
                   Order(8))
                  .upper,
              at_eight, 1e-9);
  const double one = 1000 * sampled_sum(0.01, 8, 2, true) + std::log(1e5) / 7;
  EXPECT_NEAR(cost("1000 * without_replacement(100, 10000, gaussian(2))", 1e-5,
                   Method::rdp_one_order, Order(8))
                  .upper,
              one, 1e-9);
}

TEST(SampledForms, AreRefusedForOtherSampling) {
  for (const Method by : {Method::rdp_simple, Method::rdp_one_order}) {
    EXPECT_NE(refusal("poisson(0.01, gaussian(2))", 1e-5, by).find("Poisson"), std::string::npos);
    EXPECT_NE(refusal("gaussian(2)", 1e-5, by).find("does not sample"), std::string::npos);
  }
}

// --- the other closed forms ---

TEST(ClosedFormMethods, AreTheirFormulas) {
  const double l = std::log(1e5);
  EXPECT_NEAR(cost("100 * gaussian(50)", 1e-5, Method::moments_closed).upper,
              4 * std::sqrt(100 * l) / 50, 1e-12);
  EXPECT_NEAR(cost("100 * gaussian(50)", 1e-5, Method::moments_closed_epsilon).upper,
              4 * (std::sqrt(2 * std::log(1.25e5)) / 50) * std::sqrt(200 * l), 1e-11);
  EXPECT_NEAR(cost("zcdp(0.01)", 1e-5, Method::zcdp_simple).upper, 2 * std::sqrt(0.01 * l), 1e-13);
  EXPECT_NEAR(cost("tcdp(0.01, 200)", 1e-5, Method::tcdp_classic).upper,
              0.01 + 2 * std::sqrt(0.01 * l), 1e-13);
  EXPECT_NEAR(cost("tcdp(0.01, 5)", 1e-5, Method::tcdp_classic).upper, 0.05 + l / 4, 1e-12);
  EXPECT_NEAR(failure("tcdp(0.01, 5)", 1, Method::tcdp_classic).upper, std::exp(4 * (0.05 - 1)),
              1e-14);
  EXPECT_NEAR(failure("100 * gaussian(50)", 2, Method::moments_closed).upper, std::exp(-100.0 / 16),
              1e-14);
}

TEST(ClosedFormMethods, AreNeverBelowTheTruth) {
  for (const char* plan : {"100 * gaussian(50)", "gaussian(1) + gaussian(2)", "9 * gaussian(3)"}) {
    for (const Method by : {Method::moments_closed, Method::moments_closed_epsilon,
                            Method::zcdp_simple, Method::tcdp_classic}) {
      for (const double at : {1e-3, 1e-5, 1e-12}) {
        try {
          const Bound value = cost(plan, at, by);
          EXPECT_GE(value.upper, cost(plan, at, Method::pld).upper * (1 - 1e-9))
              << plan << " " << name(by) << " " << at;
        } catch (const OutsideConditions&) {
          EXPECT_EQ(by, Method::zcdp_simple) << plan << " " << name(by) << " " << at;
        }
      }
    }
  }
}

TEST(ClosedFormMethods, AreRefusedOutsideTheirConditions) {
  EXPECT_NE(refusal("400 * gaussian(1)", 1e-5, Method::moments_closed).find("at most 17.54"),
            std::string::npos);
  EXPECT_NE(refusal("100 * laplace(10)", 1e-5, Method::moments_closed).find("not a Gaussian"),
            std::string::npos);
  EXPECT_NE(refusal("zcdp(3)", 1e-5, Method::zcdp_simple).find("leaves out rho"),
            std::string::npos);
  EXPECT_NE(refusal("rdp(2, 1)", 1e-5, Method::tcdp_classic).find("no tCDP guarantee"),
            std::string::npos);
}

TEST(ClosedFormMethods, HaveDistinctNames) {
  for (const Method by : closed_form_methods) {
    EXPECT_EQ(method_named(name(by)), by);
    EXPECT_EQ(std::count(all_methods.begin(), all_methods.end(), by), 0);
  }
}

// --- The Rényi curve of arsinh noise, the tail of a loss, and an attacker at one order ---

TEST(ArsinhCurve, IsThatOfTheNoise) {
  // by quadrature of the densities: rho = 0.01, A = 20, order 2
  const Bound value = divergence(parse("arsinh(0.01, 20)"), Order(2)).value;
  EXPECT_NEAR(value.upper, 0.0229165, 5e-8);
  EXPECT_NEAR(value.lower, 0.0229165, 5e-8);
  EXPECT_LE(value.lower, value.upper);
  const std::string note = divergence(parse("arsinh(0.01, 20)"), Order(2)).notes.front();
  EXPECT_NE(note.find("0.32"), std::string::npos) << note;
}

TEST(ArsinhCurve, GoesBeyondTheTheoremsOrdersUpToThePole) {
  // ω = 2.5 by the theorem; infinite from 1/(1 - e^(-1/10)) = 10.508 on
  const Bound beyond = divergence(parse("arsinh(0.01, 20)"), Order(8)).value;
  EXPECT_LT(beyond.upper, 1);
  EXPECT_GT(beyond.lower, divergence(parse("arsinh(0.01, 20)"), Order(4)).value.upper);
  EXPECT_EQ(divergence(parse("arsinh(0.01, 20)"), Order(11)).value.upper, infinity);
}

TEST(LossTail, OfAZcdpGuaranteeIsItsOwnTailBound) {
  const PrivacyLossDistribution law(parse("zcdp(0.05)"));
  const Bound tail = law.tail(Epsilon(1));
  const double exact = std::exp(-0.95 * 0.95 / 0.2);
  EXPECT_GE(tail.upper, exact);
  EXPECT_LE(tail.upper, exact * (1 + 1e-9));
}

TEST(LossTail, OfAnApproximateGuaranteeHasNoRenyiBound) {
  const PrivacyLossDistribution law(parse("approx(0.5, 1e-3) + zcdp(0.05)"));
  EXPECT_GE(law.tail(Epsilon(3)).upper, 1e-3);
}

TEST(OneOrder, BoundsTheRateOfAnAttacker) {
  const RenyiRate fixed = renyi_true_positive_rate(parse("gaussian(1)"), 0.01, Order(2));
  EXPECT_EQ(fixed.order, 2);
  EXPECT_NEAR(fixed.rate, std::sqrt(std::exp(1.0) * 0.01), 1e-14);
  const RenyiRate best = renyi_true_positive_rate(parse("gaussian(1)"), 0.01);
  EXPECT_LT(best.rate, fixed.rate);
  EXPECT_GE(best.rate, Tradeoff(parse("gaussian(1)")).true_positive_rate(0.01).upper);
  EXPECT_EQ(renyi_true_positive_rate(parse("approx(1, 1e-6)"), 0.01).rate, 1);
}

}  // namespace
}  // namespace sotto
