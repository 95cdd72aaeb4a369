// Numbers that overflow, underflow or become NaN never give a cost that is too small: an answer is
// correct, looser, infinite, or refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "accounting/api/relation.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/filter.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The upper bound; infinite if no method has one.
double epsilon_above(const std::string& plan, double delta = 1e-5, Method by = Method::tight) {
  try {
    return epsilon(parse(plan), Delta(delta), {.by = by}).value.upper;
  } catch (const OutsideConditions&) {
    return infinity;
  }
}

struct Case {
  std::string plan;
  double truth;  // ε at 1e-5 is at least this
};

// Noise whose squared scale overflows, alone and under every operator. Each cost was once far below
// the truth.
TEST(Overflow, EpsilonIsNeverBelowTheTruthIfALossOverflows) {
  const std::vector<Case> cases{
      {"5 * parallel(gaussian(1e-160), gaussian(3))", 1e300},
      {"5 * parallel(gaussian(1e-160), laplace(3))", 1e300},
      {"5 * parallel(gaussian(1, sensitivity=1e200), laplace(3))", 1e300},
      {"5 * parallel(gdp(1e300), gaussian(3))", 1e300},
      {"5 * parallel(ring_sum(1e-300), gaussian(3))", 1e300},
      {"5 * parallel(aggregated_gaussian(1e-300, 10), gaussian(3))", 1e300},
      {"5 * parallel(gopa_complete(1e-300, 1, 10), gaussian(3))", 1e300},
      {"5 * parallel(walk_sgd(1e-300, 20), gaussian(3))", 1e300},
      {"walk_sgd(1e-200, 20)", 1e300},
      {"walk_sgd(1, 20, sensitivity=1e200)", 1e300},
      {"7 * walk_sgd(1e-200, 20)", 1e300},
      {"poisson(0.01, walk_sgd(1e-200, 20))", 1e300},
      {"walk_sum(1e-160, 20)", 1e300},
      {"7 * walk_sum(1, 20, sensitivity=1e155)", 1e300},
      {"gopa_random(1e-160, 3, 10000, 9000, 1000, 1e-7)", 1e300},
      {"gopa_random(1, 1e-200, 10000, 9000, 1000, 1e-7)", 0.008},
      {"gopa_random(1, 1e200, 10000, 9000, 1000, 1e-7)", 0.008},
      {"3 * without_replacement(1, 100, staircase(710))", 700},
      {"3 * without_replacement(1, 100, staircase(1500))", 1400},
      {"3 * (pure(2000) + gaussian(3))", 1999},
      {"ring_histogram(1e-17, 10, 1000)", 34},
      {"randomized_response(0.9999999999999999, 2) + laplace(2)", 36.7},
  };
  for (const auto& [plan, truth] : cases) EXPECT_GE(epsilon_above(plan), truth) << plan;
}

TEST(Overflow, NoMethodIsBelowTheTruth) {
  for (const std::string plan :
       {"walk_sgd(1e-200, 20)", "5 * parallel(gaussian(1e-160), gaussian(3))",
        "gopa_random(1e-160, 3, 10000, 9000, 1000, 1e-7)",
        "3 * without_replacement(1, 100, staircase(710))"}) {
    for (const Method by : all_methods)
      EXPECT_GE(epsilon_above(plan, 1e-5, by), 700) << plan << " by " << name(by);
    for (const Method by : closed_form_methods)
      EXPECT_GE(epsilon_above(plan, 1e-5, by), 700) << plan << " by " << name(by);
  }
}

TEST(Overflow, DeltaAndDivergenceAgree) {
  for (const std::string text :
       {"walk_sgd(1e-200, 20)", "5 * parallel(gaussian(1e-160), gaussian(3))",
        "walk_sum(1e-160, 20)"}) {
    const Plan plan = parse(text);
    // With probability at least 1/400 the coalition sees a contribution with almost no noise.
    try {
      EXPECT_GE(delta(plan, Epsilon(30)).value.upper, 0.002) << text;
    } catch (const OutsideConditions&) {
    }
    try {
      EXPECT_GE(divergence(plan, Order(2)).value.upper, 1e300) << text;
    } catch (const OutsideConditions&) {
    }
    try {
      EXPECT_GE(Tradeoff(plan).true_positive_rate(1e-9).upper, 0.002) << text;
    } catch (const OutsideConditions&) {
    }
  }
}

// A step with ε = 1e-300 does not change the bracket of a Laplace step.
TEST(Overflow, ANegligibleStepHasANegligibleCost) {
  const Bound alone = epsilon(parse("laplace(2)"), Delta(1e-5)).value;
  for (const std::string small :
       {"exponential(1e-300)", "exponential(5e-324)", "laplace(1e300)", "pure(1e-310)",
        "gaussian(1e200)", "staircase(1e-200)", "walk_sgd(1e200, 20)", "discrete_laplace(1e200)",
        "gopa_connected(1e200, 1e200, 10)", "poisson(0.01, laplace(1e300))", "zcdp(1e-320)"}) {
    Bound both{};
    ASSERT_NO_THROW(both = epsilon(parse(small + " + laplace(2)"), Delta(1e-5)).value) << small;
    EXPECT_GE(both.upper, alone.lower) << small;
    EXPECT_LE(both.lower, alone.upper) << small;
    if (small == "zcdp(1e-320)") continue;  // knows no pair: by rdp, which is wider
    EXPECT_LE(both.upper, alone.upper * (1 + 1e-4)) << small;
  }
  ASSERT_NO_THROW((void)epsilon(parse("3 * (exponential(1e-300) + pure(0.3))"), Delta(1e-5)));
}

// Noise whose squared scale overflows does not cost more than smaller noise.
TEST(Overflow, HugeNoiseHasAFiniteCost) {
  for (const std::string plan :
       {"aggregated_gaussian(1.7e308, 10)", "gopa_complete(1e200, 3, 100)",
        "gopa_complete(1, 1e200, 100)", "gopa_complete(1, 1e-310, 100)",
        "gopa_connected(1, 1e200, 100)", "gaussian(1e308)", "7 * gaussian(1e200)"}) {
    EXPECT_LT(epsilon_above(plan), 5) << plan;
  }
  // a μ whose ball reaches 0 has a profile all the same
  const Answer answer =
      delta(parse("1000 * gaussian(1, sensitivity=1e-300)"), Epsilon(0.5), {.by = Method::pld});
  EXPECT_LE(answer.value.upper, 1e-300);
}

// Everything is revealed, so no currency has a finite cost, and a filter refuses the event.
TEST(Overflow, AFilterRefusesAnInfiniteCost) {
  const std::vector<std::pair<std::string, Budget>> budgets{
      {"epsilon", ApproximateBudget{1, 1e-5}},
      {"zcdp", ZcdpBudget{1, 1e-5}},
      {"renyi", RenyiBudget{4, 1, 1e-5}},
      {"gdp", GdpBudget{1, 0}},
      {"gdp with slack", GdpBudget{0.3, 1e-5}}};
  for (const std::string text :
       {"1000 * walk_sgd(1e-200, 20) + laplace(1000)", "walk_sgd(1, 20, sensitivity=1e200)",
        "5 * parallel(gaussian(1e-160), gaussian(3))",
        "gopa_random(1e-160, 3, 10000, 9000, 1000, 1e-7)",
        "parallel(walk_sum(1e-200, 20), laplace(1000))"}) {
    const Plan event = parse(text);
    const Relation relation = relation_of(event, std::nullopt).relation;
    for (const auto& [name, budget] : budgets) {
      for (const bool at : {false, true}) {
        if (at && name != "epsilon" && name != "gdp with slack") continue;
        Filter filter(budget, relation);
        try {
          const Decision decision =
              filter.admit(event, at ? std::optional(Delta(1e-6)) : std::nullopt);
          EXPECT_FALSE(decision.admitted) << text << " in " << name;
        } catch (const OutsideConditions&) {  // no known finite cost
        }
        EXPECT_EQ(filter.spent(), (Charge{0, 0})) << text << " in " << name;
      }
    }
    const Filter committed(CommittedBudget{event}, relation);
    try {
      EXPECT_GE(committed.claim(Delta(1e-6)).epsilon, 1e300) << text;
    } catch (const OutsideConditions&) {
    }
  }
}

}  // namespace
}  // namespace sotto
