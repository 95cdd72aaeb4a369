// Scans costs over the full range of doubles of every parameter of every leaf: never below a simple
// attack, never less where there is less noise, never NaN. The leaves and their parameters are
// those of the plan language.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "accounting/api/relation.hpp"
#include "core/api/work.hpp"
#include "extreme_plans.hpp"
#include "privacy/api/gaussian.hpp"
#include "simple_attack.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/filter.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using testing::attacked_delta;
using testing::attacked_divergence;
using testing::attacked_epsilon;

// The work that one question may take: what is proved with less is wider, and holds too.
constexpr double little_work = 2e7;  // some 20 ms
constexpr double usual_work = std::numeric_limits<double>::infinity();
double allowed = little_work;

// A refusal is an answer; a Contradiction is not.
template <class Ask>
void ask(const Plan& plan, Ask question) {
  const WorkLimit limit(allowed);
  try {
    question();
  } catch (const OutOfWork&) {
  } catch (const OutsideConditions&) {
  } catch (const InvalidValue&) {
  } catch (const std::exception& error) {
    ADD_FAILURE() << print(plan) << ": " << error.what();
  }
}

std::optional<Bound> epsilon_bound(const Plan& plan, double delta) {
  std::optional<Bound> result;
  ask(plan, [&] {
    result = epsilon(plan, Delta(delta)).value;
    EXPECT_TRUE(result->upper >= 0 && result->lower <= result->upper)
        << print(plan) << ": [" << result->lower << ", " << result->upper << "]";
    EXPECT_GE(result->upper, attacked_epsilon(plan, delta)) << print(plan) << " at delta " << delta;
  });
  return result;
}

void check_delta(const Plan& plan, double epsilon) {
  ask(plan, [&] {
    const double upper = delta(plan, Epsilon(epsilon)).value.upper;
    EXPECT_TRUE(upper >= attacked_delta(plan, epsilon) && upper <= 1)
        << print(plan) << " at epsilon " << epsilon << ": " << upper;
  });
}

void check_divergence(const Plan& plan, double order) {
  ask(plan, [&] {
    EXPECT_GE(divergence(plan, Order(order)).value.upper, attacked_divergence(plan, order))
        << print(plan) << " of order " << order;
  });
}

void check_tradeoff(const Plan& plan) {
  ask(plan,
      [&] { EXPECT_GE(Tradeoff(plan).advantage().upper, attacked_delta(plan, 0)) << print(plan); });
}

void check_methods(const Plan& plan) {
  ask(plan, [&] {
    for (const Comparison& row : compare(plan, Delta(1e-5))) {
      if (!row.answer) continue;
      EXPECT_GE(row.answer->value.upper, attacked_epsilon(plan, 1e-5))
          << print(plan) << " by " << name(row.method);
    }
  });
}

// The divergence that an attack proves of what is left when so much is set aside.
double divergence_beside(const Plan& plan, double order, double aside) {
  testing::Wide most = 0;
  for (testing::Attack one : testing::simple_attacks(plan)) {
    one.power -= aside;
    if (one.power > 0 && std::isfinite(one.log_false_alarm))
      most = std::max(most, one.divergence(order));
  }
  return static_cast<double>(std::min(most * (1 - 1e-9L) - 1e-12L, testing::Wide(1e300)));
}

// A charge in each currency of a ledger.
void check_charges(const Plan& plan) {
  Relation relation = Relation::as_stated;
  ask(plan, [&] { relation = relation_of(plan, std::nullopt).relation; });
  const auto charge = [&](const Budget& budget, std::optional<Delta> at, auto check) {
    ask(plan, [&] {
      const Charge cost = Filter(budget, relation).admit(plan, at).cost;
      EXPECT_TRUE(std::isfinite(cost.amount) && std::isfinite(cost.delta)) << print(plan);
      check(cost);
    });
  };
  const auto by_epsilon = [&](const Charge& cost) {
    EXPECT_GE(cost.amount, attacked_epsilon(plan, cost.delta)) << print(plan) << " in epsilon";
  };
  charge(ApproximateBudget{1, 0.5}, std::nullopt, by_epsilon);
  charge(ApproximateBudget{1, 0.5}, Delta(1e-5), by_epsilon);
  charge(ZcdpBudget{1, 0.5}, std::nullopt, [&](const Charge& cost) {
    EXPECT_GE(cost.amount, divergence_beside(plan, 2, cost.delta) / 2) << print(plan) << " in rho";
  });
  charge(RenyiBudget{4, 1, 0.5}, std::nullopt, [&](const Charge& cost) {
    EXPECT_GE(cost.amount, divergence_beside(plan, 4, cost.delta))
        << print(plan) << " in Renyi divergence";
  });
  const auto by_mu = [&](const Charge& cost) {
    for (const double epsilon : {0.0, 3.0, 300.0}) {
      const double cover =
          cost.amount == 0 ? 0
                           : gaussian_delta(epsilon, std::sqrt(cost.amount) * (1 + 1e-12)).upper();
      EXPECT_GE(cost.delta + cover + 1e-12, attacked_delta(plan, epsilon))
          << print(plan) << " in mu^2 at epsilon " << epsilon;
    }
  };
  charge(GdpBudget{1, 0}, std::nullopt, by_mu);
  charge(GdpBudget{1, 1e-5}, std::nullopt, by_mu);
}

// Checks a series of falling noise levels: less noise never costs less than more noise provably
// costs.
void check_order(const std::vector<testing::Rung>& ladder,
                 const std::vector<std::optional<Bound>>& costs) {
  std::optional<std::size_t> dearest;  // among those with more noise
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    if (!costs[i]) continue;
    if (dearest) {
      EXPECT_GE(costs[i]->upper, costs[*dearest]->lower * (1 - 1e-9))
          << print(ladder[i].plan) << " has less noise than " << print(ladder[*dearest].plan);
    }
    if (!dearest || costs[i]->lower > costs[*dearest]->lower) dearest = i;
  }
}

// `every`: one rung in so many, others for every operator.
void scan(std::size_t every, const std::vector<std::size_t>& operators, void (*more)(const Plan&)) {
  std::size_t turn = 0;
  for (const std::size_t around : operators) {
    for (const std::vector<testing::Rung>& ladder : testing::ladders(around)) {
      std::vector<testing::Rung> rungs;
      for (const testing::Rung& rung : ladder) {
        if (turn++ % every == 0) rungs.push_back(rung);
      }
      std::vector<std::optional<Bound>> costs;
      for (const testing::Rung& rung : rungs) {
        costs.push_back(epsilon_bound(rung.plan, 1e-5));
        if (more != nullptr) more(rung.plan);
      }
      if (!rungs.empty() && rungs.front().ordered) check_order(rungs, costs);
    }
  }
}

std::vector<std::size_t> all_operators() {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < testing::operators().size(); ++i) all.push_back(i);
  return all;
}

TEST(FiniteCost, OfALeafIsAboveASimpleAttackAtEveryMagnitude) { scan(3, {0}, nullptr); }

TEST(FiniteCost, OfALeafUnderEveryOperatorIsAboveASimpleAttack) {
  scan(61, all_operators(), nullptr);
}

TEST(FiniteCost, ByEveryQuestionAndCurrencyIsAboveASimpleAttack) {
  scan(997, all_operators(), [](const Plan& plan) {
    check_delta(plan, 30);
    check_divergence(plan, 2);
    check_charges(plan);
  });
}

// Any leaf, any double in every parameter's range, any operator.
RC_GTEST_PROP(FiniteCost, OfRandomExtremePlansIsAboveASimpleAttack, ()) {
  const Plan plan = testing::any_extreme_plan();
  RC_LOG() << print(plan);
  const auto result = epsilon_bound(plan, 1e-5);
  if (result) RC_ASSERT(result->upper >= attacked_epsilon(plan, 1e-5));
  check_delta(plan, 30);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(SlowFiniteCost, OfEveryLeafByEveryMethodQuestionAndCurrency) {
  allowed = usual_work;
  scan(1, {0}, [](const Plan& plan) {
    for (const double epsilon : {0.5, 30.0, 1e5}) check_delta(plan, epsilon);
    for (const double order : {1.001, 3.5, 64.0}) check_divergence(plan, order);
    check_tradeoff(plan);
    check_methods(plan);
    check_charges(plan);
  });
}

TEST(SlowFiniteCost, OfEveryLeafUnderEveryOperator) {
  allowed = usual_work;
  scan(5, all_operators(), [](const Plan& plan) {
    check_delta(plan, 30);
    check_divergence(plan, 2);
  });
}

TEST(SlowFiniteCost, OfEveryLeafUnderEveryOperatorByEveryMethodAndCurrency) {
  scan(47, all_operators(), [](const Plan& plan) {
    check_tradeoff(plan);
    check_methods(plan);
    check_charges(plan);
  });
}

}  // namespace
}  // namespace sotto
