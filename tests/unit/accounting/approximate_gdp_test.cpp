// Approximate Gaussian DP: the certified μ is the least one, and its profile dominates at every ε
// and in both directions.
#include "accounting/api/approximate_gdp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../../support/number.hpp"
#include "accounting/api/pld.hpp"
#include "accounting/methods/gaussian_cover.hpp"
#include "core/api/work.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/laplace.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/filter.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A bracket of d + (1-d) δ_μ(ε).
Bound right_side(double epsilon, double mu, double slack) {
  const Real value =
      mu == 0 ? Real(slack) : Real(slack) + (1 - Real(slack)) * gaussian_delta(epsilon, mu);
  return value.bound();
}

struct Row {
  std::string plan;
  double slack, mu, touch;
};

std::vector<Row> oracle() {
  std::ifstream in(std::string(SOTTO_SOURCE_DIR) + "/tests/oracle/covers.csv");
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Row row;
    std::string number;
    std::getline(fields, row.plan, ';');
    for (double* value : {&row.slack, &row.mu, &row.touch}) {
      std::getline(fields, number, ';');
      *value = number_in(number);
    }
    rows.push_back(row);
  }
  return rows;
}

// --- Against independent computations ---

TEST(ApproximateGdp, IsTheOraclesLeastMuAndNeverBelowIt) {
  const std::vector<Row> rows = oracle();
  ASSERT_GE(rows.size(), 13U);
  for (const Row& row : rows) {
    const ApproximateGDP result = approximate_gdp_of(parse(row.plan), row.slack);
    EXPECT_GE(result.mu, row.mu * (1 - 1e-10)) << row.plan << " at " << row.slack;
    EXPECT_LE(result.mu, row.mu * (1 + 1e-5)) << row.plan << " at " << row.slack;
    EXPECT_NEAR(result.touch, row.touch, 0.01 * row.touch + 0.01) << row.plan;
    EXPECT_EQ(result.slack, row.slack);
  }
}

TEST(ApproximateGdp, LongTrainingsCostAlmostTheirTightTotal) {
  struct Seen {
    const char* plan;
    double slack, epsilon;
  };
  for (const Seen& seen : {Seen{"10000 * poisson(0.01, gaussian(1))", 1e-6, 6.1914},
                           Seen{"10000 * poisson(0.01, gaussian(1))", 1e-7, 6.2038},
                           Seen{"10000 * poisson(0.01, gaussian(1))", 1e-8, 6.2389},
                           Seen{"3500 * poisson(0.00427, gaussian(1.1))", 1e-6, 1.1326},
                           Seen{"3500 * poisson(0.00427, gaussian(1.1))", 1e-7, 1.1374},
                           Seen{"3500 * poisson(0.00427, gaussian(1.1))", 1e-8, 1.1478}}) {
    const double mu = approximate_gdp_of(parse(seen.plan), seen.slack).mu;
    const double claimed = Filter(GdpBudget{mu, seen.slack}).claim(Delta(1e-5)).epsilon;
    EXPECT_NEAR(claimed, seen.epsilon, 1e-4) << seen.plan << " at " << seen.slack;
    EXPECT_GT(claimed, epsilon(parse(seen.plan), Delta(1e-5)).value.upper);
  }
}

// With a tenth of δ set aside: Gaussian noise and one sampled event within 1 % of the tight total,
// ten whole trainings within 5 %.
TEST(ApproximateGdp, TheDefaultSlackCostsAPercentAndTenTrainingsFive) {
  const double delta = 1e-5;
  const auto claimed = [&](double squared_mu) {
    return Filter(GdpBudget{std::sqrt(squared_mu), delta / 10}).claim(Delta(delta)).epsilon;
  };
  const auto tight = [&](const std::string& plan) {
    return epsilon(parse(plan), Delta(delta)).value.upper;
  };
  const auto square_of = [](const char* plan, double slack) {
    const double mu = approximate_gdp_of(parse(plan), slack).mu;
    return mu * mu;
  };
  EXPECT_LE(claimed(100 * square_of("gaussian(20)", 0)), 1.01 * tight("100 * gaussian(20)"));
  const char* const training = "10000 * poisson(0.01, gaussian(1))";
  EXPECT_LE(claimed(square_of(training, delta / 10)), 1.01 * tight(training));
  EXPECT_LE(claimed(10 * square_of(training, delta / 100)),
            1.05 * tight("100000 * poisson(0.01, gaussian(1))"));
}

// --- Domination at many ε ---

const char* const events[] = {"poisson(0.05, gaussian(1.5))",
                              "300 * poisson(0.02, gaussian(0.8))",
                              "20 * poisson(0.1, laplace(1)) + gaussian(10)",
                              "100 * without_replacement(50, 1000, gaussian(2))",
                              "laplace(2) + 3 * gaussian(4)",
                              "10 * randomized_response(0.6)",
                              "exponential(1) + gaussian(5) + approx(0, 1e-9)",
                              "approx(0.3, 1e-8) + 50 * poisson(0.01, gaussian(1))",
                              "5 * discrete_gaussian(4)"};

TEST(ApproximateGdp, DominatesOnAFineGridInBothDirections) {
  for (const char* text : events) {
    const PlanLoss loss = loss_of(parse(text), Side::upper);
    for (const double slack : {1e-5, 3e-8}) {
      const ApproximateGDP result = approximate_gdp_of(parse(text), slack);
      ASSERT_EQ(result.slack, slack) << text;
      const double end = 1.5 * composed_epsilon(loss, {slack, slack}).upper;
      for (const auto* steps : {&loss.removed, &loss.added}) {
        if (steps->empty()) continue;
        PlanLoss one;
        one.removed = *steps;
        one.failure = loss.failure;
        for (int i = 0; i <= 24; ++i) {
          const double at = end * i / 24 * (1 + 1e-3 * i);
          // The lower end must not exceed the right side; the upper end exceeds it by its width at
          // most.
          const Bracket delta = composed_delta(one, {at, at}, {.smooth = 1e-9, .atoms = 1e-5});
          EXPECT_LE(delta.lower, right_side(at, result.mu, slack).upper)
              << text << " at eps " << at << " slack " << slack;
          EXPECT_LE(delta.upper, right_side(at, result.mu, slack).upper * (1 + 1e-3))
              << text << " at eps " << at << " slack " << slack;
        }
      }
    }
  }
}

// Mutation check: a μ that is smaller by a thousandth is no cover, since the event attains more at
// the touching point.
TEST(ApproximateGdp, AMuThatIsAThousandthSmallerIsNoCover) {
  for (const char* text : events) {
    if (mentions(text, "without") || mentions(text, "approx(0.3") || mentions(text, "exponential"))
      continue;  // dominated, not reached
    const ApproximateGDP result = approximate_gdp_of(parse(text), 1e-7);
    const double reached = delta(parse(text), Epsilon(result.touch)).value.lower;
    EXPECT_GT(reached, right_side(result.touch, 0.999 * result.mu, result.slack).upper) << text;
    EXPECT_LE(reached, right_side(result.touch, result.mu, result.slack).upper) << text;
  }
}

TEST(ApproximateGdp, LessSlackNeverCostsLess) {
  for (const char* text : {"300 * poisson(0.02, gaussian(0.8))", "laplace(2) + 3 * gaussian(4)",
                           "10 * randomized_response(0.6)"}) {
    double last = 0;
    for (const double slack : {1e-3, 1e-5, 1e-7, 1e-9, 1e-12}) {
      const double mu = approximate_gdp_of(parse(text), slack).mu;
      EXPECT_GE(mu, last * (1 - 2e-5)) << text << " at " << slack;
      last = mu;
    }
  }
}

// --- Covers of profiles ---

ProfileAbove laplace_above(double x, const std::function<double(double)>& above) {
  return {.delta = above, .epsilon = [x](double) { return x; }, .worst = x};
}

// With few nodes the chords lie far above the profile, and μ must cover the chords.
TEST(GaussianCover, CoversTheChordsBetweenNodes) {
  const double x = 3;
  const auto exact = [x](double epsilon) { return laplace_delta(epsilon, x).upper(); };
  double few_mu = 0;
  {
    const WorkLimit limit(Allowance{.work = 1e6});
    const auto few = gaussian_cover(laplace_above(x,
                                                  [&](double epsilon) {
                                                    spend(9.9e4);
                                                    return exact(epsilon);
                                                  }),
                                    1e-7);
    ASSERT_TRUE(few.has_value());
    EXPECT_LT(few->nodes, 40U);
    few_mu = few->mu;
  }
  const auto many = gaussian_cover(laplace_above(x, exact), 1e-7);
  ASSERT_TRUE(many.has_value());
  EXPECT_GE(few_mu, many->mu);
  for (int i = 0; i <= 3000; ++i) {
    const double at = x * i / 3000;
    EXPECT_LE(laplace_delta(at, x).lower(), right_side(at, few_mu, 1e-7).upper) << at;
    EXPECT_LE(laplace_delta(at, x).lower(), right_side(at, many->mu, 1e-7).upper) << at;
  }
}

// The upper bounds at the nodes need not be convex or decreasing.
TEST(GaussianCover, HoldsForUnevenUpperBounds) {
  const double x = 2;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> more(1, 1.02);
  const auto cover = gaussian_cover(
      laplace_above(x,
                    [&](double epsilon) {
                      return std::min(1.0, more(random) * laplace_delta(epsilon, x).upper());
                    }),
      1e-6);
  ASSERT_TRUE(cover.has_value());
  for (int i = 0; i <= 3000; ++i)
    EXPECT_LE(laplace_delta(x * i / 3000, x).lower(),
              right_side(x * i / 3000, cover->mu, 1e-6).upper);
  const auto exact = gaussian_cover(
      laplace_above(x, [&](double epsilon) { return laplace_delta(epsilon, x).upper(); }), 1e-6);
  EXPECT_LT(cover->mu, 1.05 * exact->mu);
  EXPECT_GE(cover->mu, exact->mu * (1 - 1e-6));
}

TEST(GaussianCover, AProfileWithinTheSlackHasMuZero) {
  const ProfileAbove little{.delta = [](double) { return 1e-9; },
                            .epsilon = [](double) { return 0.0; },
                            .worst = infinity};
  EXPECT_EQ(gaussian_cover(little, 1e-8)->mu, 0);
  EXPECT_FALSE(gaussian_cover(little, 0).has_value());
  EXPECT_FALSE(gaussian_cover(little, 1e-10).has_value() && gaussian_cover(little, 1e-10)->mu == 0);
}

// A line in e^ε that touches the right side of μ = 1 at one ε and is far below it elsewhere: its
// two ends alone need a smaller μ.
TEST(GaussianCover, NeedsMoreThanTheNodesAlone) {
  const double slack = 1e-4;
  const double touch = 1.3;
  const double fall = (1 - slack) * 0.5 * std::erfc((touch + 0.5) / std::sqrt(2.0));
  const auto line = [&](double epsilon) {
    return right_side(touch, 1, slack).lower - fall * (std::exp(epsilon) - std::exp(touch));
  };
  const double end = std::log(std::exp(touch) + (line(touch) - slack) / fall);
  const std::vector<accounting_detail::ProfileNode> ends{{0, line(0)}, {end, slack}};
  EXPECT_TRUE(accounting_detail::is_cover(ends, 1 + 1e-9, slack));
  EXPECT_FALSE(accounting_detail::is_cover(ends, 1 - 1e-9, slack));
  EXPECT_LT(line(0), right_side(0, 0.95, slack).lower);
  EXPECT_LT(line(end), right_side(end, 0.95, slack).lower);
  const auto above = [&](double epsilon) {
    return epsilon > end ? slack : line(epsilon) * (1 + 1e-12);
  };
  const auto result = gaussian_cover(
      {.delta = above, .epsilon = [&](double) { return end; }, .worst = infinity}, slack);
  ASSERT_TRUE(result.has_value());
  EXPECT_GE(result->mu, 1 - 1e-10);
  EXPECT_LE(result->mu, 1 + 3e-6);
  EXPECT_NEAR(result->touch, touch, 0.01);
}

TEST(GaussianCover, IsCheckedAtBothEndsOfEveryChordAndBeyondTheLast) {
  const double slack = 1e-6;
  const auto at = [&](double epsilon, double share) {
    return right_side(epsilon, 1, slack).lower * share;
  };
  const auto is_cover = [&](double first, double second, double last) {
    return accounting_detail::is_cover({{0, at(0, first)}, {0.5, at(0.5, second)}, {3, last}}, 1,
                                       slack);
  };
  // low enough for the chords between them
  EXPECT_TRUE(is_cover(0.5, 1e-2, slack));
  EXPECT_FALSE(is_cover(1 + 1e-9, 1e-2, slack));
  EXPECT_FALSE(is_cover(0.5, 1 + 1e-9, slack));
  EXPECT_FALSE(is_cover(0.5, 1e-2, slack * (1 + 1e-9)));
  EXPECT_FALSE(accounting_detail::is_cover({{0.1, 1e-3}, {20, slack}}, 1,
                                           slack));  // nothing is known from 0 on
  EXPECT_FALSE(accounting_detail::is_cover({}, 1, slack));
}

// --- Kinds of events ---

TEST(ApproximateGdp, GaussiansCostExactlyTheirMuAndNoSlack) {
  for (const double slack : {0.0, 1e-9, 1e-3}) {
    const ApproximateGDP one = approximate_gdp_of(parse("gaussian(2)"), slack);
    EXPECT_TRUE(one.exact);
    EXPECT_EQ(one.slack, 0);
    EXPECT_NEAR(one.mu, 0.5, 1e-15);
    EXPECT_GE(one.mu, 0.5);
    EXPECT_NEAR(approximate_gdp_of(parse("3 * gaussian(4) + gdp(0.5)"), slack).mu,
                std::sqrt(3.0 / 16 + 0.25), 1e-15);
  }
}

TEST(ApproximateGdp, KeySelectionCostsItsMuAndItsOwnDelta) {
  const ApproximateGDP result =
      approximate_gdp_of(parse("gaussian(3, 2) + approx(0, 2e-8) + approx(0, 1e-8)"), 1e-7);
  EXPECT_TRUE(result.exact);
  EXPECT_NEAR(result.mu, 2.0 / 3, 1e-14);
  EXPECT_NEAR(result.slack, 3e-8, 1e-15);
  EXPECT_GE(result.slack, 3e-8 - 2e-16);
  EXPECT_THROW((void)approximate_gdp_of(parse("gaussian(3, 2) + approx(0, 2e-8)"), 1e-8),
               OutsideConditions);
}

TEST(ApproximateGdp, AnEventsOwnDeltaLiesInsideTheSlack) {
  const Plan event = parse("approx(0.5, 1e-7)");
  EXPECT_THROW((void)approximate_gdp_of(event, 9e-8), OutsideConditions);
  const ApproximateGDP just =
      approximate_gdp_of(event, 1e-7);  // the same number is the same δ, whatever its reading
  EXPECT_GE(just.slack, 1e-7);
  EXPECT_LE(just.slack, 1e-7 * (1 + 1e-15));
  EXPECT_NEAR(just.mu, approximate_gdp_of(parse("pure(0.5)"), 0).mu, 1e-6);
  EXPECT_NEAR(
      approximate_gdp_of(parse("100 * poisson(0.01, gaussian(1)) + approx(0, 1e-8)"), 2e-8).mu,
      approximate_gdp_of(parse("100 * poisson(0.01, gaussian(1))"), 1e-8).mu, 1e-5);
}

TEST(ApproximateGdp, WithoutSlackOnlyABoundedLossSuffices) {
  // ε-DP is 2Φ⁻¹(e^ε/(1+e^ε))-GDP
  const double mu = approximate_gdp_of(parse("pure(1)"), 0).mu;
  EXPECT_NEAR(gaussian_delta(0, mu).estimate(), std::tanh(0.5), 1e-6);
  EXPECT_THROW((void)approximate_gdp_of(parse("poisson(0.1, gaussian(1))"), 0), OutsideConditions);
  EXPECT_THROW((void)approximate_gdp_of(parse("zcdp(0.1)"), 0), OutsideConditions);
}

TEST(ApproximateGdp, GuaranteesWithoutAPairAreCoveredByTheirBestBound) {
  for (const char* text : {"zcdp(0.1)", "tcdp(0.01, 100)", "rdp(8, 0.1)"}) {
    const ApproximateGDP result = approximate_gdp_of(parse(text), 1e-6);
    for (const double at : {0.0, 0.3, 1.0, 1.5, 2.0}) {
      EXPECT_GE(right_side(at, result.mu, 1e-6).upper, delta(parse(text), Epsilon(at)).value.lower)
          << text << " at " << at;
    }
    EXPECT_GE(result.mu, text == std::string("zcdp(0.1)") ? std::sqrt(0.2) : 0)
        << text;  // a Gaussian satisfies zcdp(0.1)
    EXPECT_LT(result.mu, 1) << text;
  }
}

TEST(ApproximateGdp, TheDerivationSaysWhereTheProfilesTouch) {
  const ApproximateGDP result =
      approximate_gdp_of(parse("300 * poisson(0.02, gaussian(0.8))"), 1e-7);
  std::string conditions;
  for (const Condition& condition : result.derivation.conditions) conditions += condition + "\n";
  EXPECT_TRUE(mentions(conditions, "touch at ε = ")) << conditions;
  EXPECT_TRUE(mentions(result.derivation.guarantee, "-approximate "))
      << result.derivation.guarantee;
  EXPECT_EQ(result.derivation.premises.size(), 1U);
}

// --- As a method ---

TEST(ByGdp, IsAnUpperBoundForPlansThatAreNotGaussian) {
  for (const char* text : events) {
    const Plan plan = parse(text);
    const Answer answer = epsilon(plan, Delta(1e-5), {.by = Method::gdp});
    EXPECT_GE(answer.value.upper, epsilon(plan, Delta(1e-5)).value.lower) << text;
    EXPECT_EQ(answer.by, Method::gdp);
    ASSERT_FALSE(answer.notes.empty()) << text;
    EXPECT_TRUE(mentions(answer.notes.front(), "mu = ") && mentions(answer.notes.front(), "slack"))
        << answer.notes.front();
    // It equals the claim of a budget with this μ and slack.
    const double slack = mentions(text, "approx(0.3") ? 0 : 1e-6;
    if (slack > 0 && !mentions(text, "approx")) {
      const double mu = approximate_gdp_of(plan, slack).mu;
      EXPECT_NEAR(answer.value.upper, Filter(GdpBudget{mu, slack}).claim(Delta(1e-5)).epsilon,
                  1e-5 * answer.value.upper)
          << text;
    }
    for (const double at : {0.1, 1.0}) {
      const double bound = delta(plan, Epsilon(at), {.by = Method::gdp}).value.upper;
      const double tight = delta(plan, Epsilon(at)).value.lower;
      EXPECT_GE(bound, tight) << text << " at " << at;
    }
  }
  EXPECT_EQ(epsilon(parse("3 * gaussian(4)"), Delta(1e-6), {.by = Method::gdp}).notes.size(), 0U);
}

// --- Budgets ---

TEST(GdpBudgetMu, ClaimsAtMostTheRequestedEpsilonAndLittleLess) {
  for (const double epsilon : {0.1, 1.0, 3.0, 10.0}) {
    for (const double delta : {1e-10, 1e-6, 1e-3}) {
      for (const double share : {0.0, 0.1, 0.9}) {
        const double slack = share * delta;
        const GdpBudget budget{gdp_budget_mu(epsilon, delta, slack), slack};
        const double claimed = Filter(budget).claim(Delta(delta)).epsilon;
        EXPECT_LE(claimed, epsilon);
        EXPECT_GT(claimed, epsilon * (1 - 2e-5));
      }
    }
  }
  EXPECT_THROW((void)gdp_budget_mu(1, 1e-6, 1e-6), InvalidValue);
  EXPECT_THROW((void)gdp_budget_mu(1, 0, 0), InvalidValue);
  EXPECT_THROW((void)gdp_budget_mu(0, 1e-6, 0), InvalidValue);
}

}  // namespace
}  // namespace sotto
