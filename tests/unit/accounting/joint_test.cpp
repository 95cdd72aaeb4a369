// Several mechanisms on one sample: one use against the amplified profile of the base, limits, and
// order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "accounting/api/pld.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// Brackets δ from above by dominating losses and from below by attained ones; none of the latter
// are known without replacement.
Bound epsilon_at(const std::string& plan, double delta) {
  const PlanLoss above = loss_of(parse(plan), Side::upper);
  const Bound bracket = composed_epsilon(above, {delta, delta});
  if (above.attained || !above.discretized) return bracket;
  const PlanLoss below = loss_of(parse(plan), Side::lower);
  return {below.removed.empty() ? 0 : composed_epsilon(below, {delta, delta}).lower, bracket.upper};
}
Bound delta_at(const std::string& plan, double epsilon) {
  const PlanLoss above = loss_of(parse(plan), Side::upper);
  const Bound bracket = composed_delta(above, {epsilon, epsilon});
  if (above.attained || !above.discretized) return bracket;
  const PlanLoss below = loss_of(parse(plan), Side::lower);
  return {below.removed.empty() ? 0 : composed_delta(below, {epsilon, epsilon}).lower,
          bracket.upper};
}

const std::vector<std::string> bodies{"gaussian(1) + laplace(2)", "gaussian(3) + laplace(1)",
                                      "gaussian(2) + 2 * laplace(4) + pure(0.5)",
                                      "gaussian(20) + laplace(1)", "gaussian(1) + 40 * pure(0.05)"};

// One use has s δ(log(1 + (e^ε - 1)/s)) when the record is removed, δ of the base, and b
// δ(log(as/b)), b = 1 - a(1-s), when it is added; without replacement the first of them. The base
// is not sampled, and its transforms have closed forms.
TEST(Joint, OneUseHasTheAmplifiedProfile) {
  for (const std::string& body : bodies) {
    for (const double s : {0.05, 0.5}) {
      for (const double epsilon : {0.05, 1.0}) {
        const Bound removed = delta_at(body, std::log1p(std::expm1(epsilon) / s));
        const double b = 1 - std::exp(epsilon) * (1 - s);
        const Bound added =
            b > 0 ? delta_at(body, std::log(std::exp(epsilon) * s / b)) : Bound{0, 0};
        const std::string rate = s == 0.05 ? "0.05" : "0.5";
        const Bound poisson = delta_at("poisson(" + rate + ", " + body + ")", epsilon);
        EXPECT_LE(poisson.lower, std::max(s * removed.upper, b * added.upper) * (1 + 1e-12))
            << body << " " << s << " " << epsilon;
        EXPECT_GE(poisson.upper, std::max(s * removed.lower, b * added.lower) * (1 - 1e-12))
            << body << " " << s << " " << epsilon;
        EXPECT_LE(poisson.upper - poisson.lower, 0.05 * poisson.upper + 1e-6)
            << body << " " << s << " " << epsilon;
        const Bound batch =
            delta_at("without_replacement(" + std::to_string(static_cast<int>(1000 * s)) +
                         ", 1000, " + body + ")",
                     epsilon);
        EXPECT_LE(batch.lower, s * removed.upper * (1 + 1e-12))
            << body << " " << s << " " << epsilon;
        EXPECT_GE(batch.upper, s * removed.lower * (1 - 1e-12))
            << body << " " << s << " " << epsilon;
        EXPECT_LE(batch.upper, 2 * s * removed.upper + 1e-6) << body << " " << s << " " << epsilon;
      }
    }
  }
}

TEST(Joint, HugeNoiseCostsLikeItsAbsence) {
  const std::vector<std::pair<std::string, std::string>> limits{
      {"1000 * poisson(0.01, gaussian(2) + laplace(1e9))", "1000 * poisson(0.01, gaussian(2))"},
      {"20 * poisson(0.2, gaussian(1000000) + laplace(1))", "20 * poisson(0.2, laplace(1))"},
      {"20 * poisson(0.2, laplace(1) + laplace(1e9))", "20 * poisson(0.2, laplace(1))"},
      {"50 * without_replacement(10, 1000, gaussian(1) + laplace(1e9))",
       "50 * without_replacement(10, 1000, gaussian(1))"},
      {"20 * without_replacement(200, 1000, gaussian(150) + laplace(1))",
       "20 * without_replacement(200, 1000, laplace(1))"}};
  for (const auto& [plan, limit] : limits) {
    const Bound more = epsilon_at(plan, 1e-5);
    const Bound less = epsilon_at(limit, 1e-5);
    EXPECT_GE(more.upper, less.lower * (1 - 1e-9)) << plan;
    EXPECT_LE(more.lower, less.upper * (1 + 1e-3)) << plan;
  }
}

TEST(Joint, SamplingNearlyEverythingCostsNearlyAll) {
  const Bound all = epsilon_at("10 * gaussian(2) + 10 * laplace(3)", 1e-5);
  const Bound most = epsilon_at("10 * poisson(0.999, gaussian(2) + laplace(3))", 1e-5);
  EXPECT_LE(most.lower, all.upper);
  EXPECT_GE(most.upper, 0.995 * all.lower);
}

TEST(Joint, MoreNoiseLessRateAndFewerStepsCostLess) {
  const std::vector<std::string> falling{
      "200 * poisson(0.05, gaussian(1) + laplace(2) + pure(0.25))",
      "200 * poisson(0.05, gaussian(1) + laplace(2))",
      "200 * poisson(0.05, gaussian(1.01) + laplace(2))",
      "200 * poisson(0.05, gaussian(1.01) + laplace(2.1))",
      "200 * poisson(0.049, gaussian(1.01) + laplace(2.1))",
      "199 * poisson(0.049, gaussian(1.01) + laplace(2.1))",
      "199 * poisson(0.049, gaussian(1.01))"};
  for (std::size_t i = 1; i < falling.size(); ++i) {
    EXPECT_LT(epsilon_at(falling[i], 1e-6).upper, epsilon_at(falling[i - 1], 1e-6).lower)
        << falling[i];
  }
}

TEST(Joint, PlansOfManyStepsAreKnownToFourDigits) {
  for (const char* plan : {"1000 * poisson(0.01, gaussian(2) + laplace(5))",
                           "300 * poisson(0.02, gaussian(4) + laplace(3) + laplace(6))",
                           "1000 * poisson(0.01, laplace(3) + laplace(2))",
                           "100 * poisson(0.1, gaussian(1) + 3 * laplace(5) + 2 * pure(0.1))"}) {
    const Bound epsilon = epsilon_at(plan, 1e-5);
    EXPECT_GT(epsilon.lower, 0) << plan;
    EXPECT_LE(epsilon.upper - epsilon.lower, 2e-4 * epsilon.upper) << plan;
  }
}

TEST(Joint, SeveralLaplaceStepsAreBracketed) {
  for (const char* plan : {"100 * poisson(0.05, 3 * laplace(3))",
                           "50 * poisson(0.1, 2 * laplace(4) + 2 * laplace(6))"}) {
    const Answer answer = epsilon(parse(plan), Delta(1e-5), {.by = Method::pld});
    EXPECT_GT(answer.value.lower, 0) << plan;
    EXPECT_LE(answer.value.upper, 1.05 * answer.value.lower) << plan;
  }
  // The plan's Gaussian costs less than the Gaussian that is added to smooth three Laplace steps,
  // and more than two steps.
  const Bound three = epsilon_at("100 * poisson(0.05, 3 * laplace(3) + gaussian(100))", 1e-5);
  EXPECT_GT(three.lower, epsilon_at("100 * poisson(0.05, 2 * laplace(3))", 1e-5).upper);
  EXPECT_GE(three.upper,
            epsilon(parse("100 * poisson(0.05, 3 * laplace(3))"), Delta(1e-5), {.by = Method::pld})
                .value.lower);
}

}  // namespace
}  // namespace sotto
