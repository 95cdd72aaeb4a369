// Budgets with tight totals: an event that is charged at a chosen δ, and a plan that is committed
// in advance.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/filter.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// --- An event at a chosen δ ---

TEST(ChargedAt, AnEventCostsItsTightEpsilonAndThatDelta) {
  const Plan event = parse("gaussian(5) + laplace(3)");
  Filter filter(ApproximateBudget{2, 1e-5});
  EXPECT_THROW((void)filter.admit(event), OutsideConditions);
  const Decision decision = filter.admit(event, Delta(1e-6));
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision.cost.delta, 1e-6);
  const Answer tight = epsilon(event, Delta(1e-6));
  EXPECT_EQ(decision.cost.amount, tight.value.upper);
  EXPECT_GE(decision.cost.amount, tight.value.lower);
  EXPECT_EQ(filter.spent().delta, 1e-6);
}

TEST(ChargedAt, DeltasAddUpToTheBudgetAndNoFurther) {
  Filter filter(ApproximateBudget{100, 1e-6});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(filter.admit(gaussian(5), Delta(1e-7))) << i;
  const Decision refused = filter.admit(gaussian(5), Delta(1e-15));
  EXPECT_FALSE(refused);
  EXPECT_GT(refused.missing.delta, 0);
  EXPECT_EQ(refused.missing.amount, 0);
  EXPECT_TRUE(filter.admit(laplace(1)));  // which needs none
}

TEST(ChargedAt, StepsOfKnownEpsilonMayBeChargedTightlyToo) {
  const Plan event = 100 * pure(0.01);
  Filter filter(ApproximateBudget{1, 1e-6});
  const Charge tight = Filter(filter).admit(event, Delta(1e-6)).cost;
  EXPECT_LT(tight.amount, 0.6);
  EXPECT_NEAR(filter.admit(event).cost.amount, 1, 1e-12);
}

TEST(ChargedAt, HoldsInTheFiltersRelationAlone) {
  const Plan sampled = parse("100 * poisson(0.01, gaussian(1))");
  EXPECT_THROW((void)Filter(ApproximateBudget{2, 1e-5}).admit(sampled, Delta(1e-6)),
               OutsideConditions);
  EXPECT_THROW(
      (void)Filter(ApproximateBudget{2, 1e-5}, Relation::replace_one).admit(sampled, Delta(1e-6)),
      OutsideConditions);
  EXPECT_TRUE(Filter(ApproximateBudget{2, 1e-5}, Relation::add_remove).admit(sampled, Delta(1e-6)));
}

TEST(ChargedAt, IsRefusedUnderOtherBudgets) {
  for (const Budget& budget : {Budget(ZcdpBudget{1, 1e-6}), Budget(RenyiBudget{4, 1, 1e-6}),
                               Budget(CommittedBudget{gaussian(5)})}) {
    EXPECT_THROW((void)Filter(budget).admit(gaussian(5), Delta(1e-6)), InvalidValue);
  }
  EXPECT_THROW((void)Filter(ApproximateBudget{1e9, 0.1}).admit(gaussian(5), Delta(0)),
               OutsideConditions);  // it is infinite there
  Filter filter(ApproximateBudget{1, 1e-6});
  EXPECT_THROW((void)filter.admit(approx(0.5, 1e-6), Delta(1e-6)),
               InvalidValue);  // whose delta may be a hair above that double
  EXPECT_GT(filter.admit(approx(0.5, 1e-6)).cost.delta, 1e-6);
}

// --- A committed plan ---

TEST(Committed, PartsAreAdmittedAsOftenAsThePlanSaysInAnyOrder) {
  Filter filter(CommittedBudget{
      parse("3 * gaussian(5) + laplace(3) + 2 * (pure(0.5) + gaussian(5))")});  // 5 gaussian, 1
                                                                                // laplace, 2 pure
  EXPECT_EQ(filter.limit(), (Charge{8, 0}));
  EXPECT_EQ(print(*filter.rest()), "5 * gaussian(5) + laplace(3) + 2 * pure(0.5)");
  EXPECT_TRUE(filter.admit(parse("laplace(3)")));
  EXPECT_FALSE(filter.admit(parse("laplace(3)")));
  EXPECT_TRUE(filter.admit(parse("4 * gaussian(5) + pure(0.5)")));
  EXPECT_FALSE(filter.admit(parse("2 * gaussian(5)")));
  EXPECT_FALSE(filter.admit(parse("gaussian(5) + laplace(3)")));  // all or nothing
  EXPECT_EQ(print(*filter.rest()), "gaussian(5) + pure(0.5)");
  EXPECT_EQ(filter.left(), (Charge{2, 0}));
  EXPECT_TRUE(filter.admit(parse("pure(0.5) + gaussian(5)")));
  EXPECT_EQ(filter.rest(), std::nullopt);
  EXPECT_EQ(filter.spent(), (Charge{8, 0}));
  EXPECT_FALSE(filter.admit(parse("gaussian(5)")));
}

TEST(Committed, APartOutsideThePlanIsRefusedByName) {
  Filter filter(CommittedBudget{parse("2 * gaussian(5)")});
  const Decision other = filter.admit(gaussian(6));  // cheaper, and still not what was committed
  EXPECT_FALSE(other);
  EXPECT_NE(other.reason.find("gaussian(6) is not a part"), std::string::npos) << other.reason;
  const Decision more = filter.admit(3 * gaussian(5));
  EXPECT_EQ(more.missing.amount, 1);
  EXPECT_NE(more.reason.find("has 2 left"), std::string::npos) << more.reason;
  EXPECT_FALSE(filter.admit(parse("gaussian(5, 1.5)")));
  EXPECT_FALSE(filter.admit(group(2, gaussian(5))));
  EXPECT_FALSE(filter.admit(gaussian(5) + gaussian(5) +
                            gaussian(5)));  // equal parts of a sum count together
  EXPECT_TRUE(filter.admit(gaussian(5) + gaussian(5)));
}

TEST(Committed, TheClaimIsThePlansTightTotalAfterAnyCharges) {
  const Plan plan = parse("3 * gaussian(5) + 10 * laplace(30)");
  Filter filter{CommittedBudget{plan}};
  const double tight = epsilon(plan, Delta(1e-6)).value.upper;
  EXPECT_EQ(filter.claim(Delta(1e-6)).epsilon, tight);
  ASSERT_TRUE(filter.admit(gaussian(5)));
  EXPECT_EQ(filter.claim(Delta(1e-6)).epsilon, tight);
  EXPECT_TRUE(std::isinf(filter.claim(Delta(0)).epsilon));
  EXPECT_THROW((void)Filter(CommittedBudget{parse("100 * poisson(0.01, gaussian(1))")}),
               OutsideConditions);
  EXPECT_NO_THROW((void)Filter(CommittedBudget{parse("100 * poisson(0.01, gaussian(1))")},
                               Relation::add_remove));
  EXPECT_THROW((void)Filter(CommittedBudget{gaussian(hole)}), InvalidValue);
}

TEST(Committed, ContinuesFromItsTally) {
  const Budget budget = CommittedBudget{parse("2 * gaussian(5) + laplace(3)")};
  Filter first(budget);
  ASSERT_TRUE(first.admit(gaussian(5)));
  Filter second(budget, Relation::as_stated, first.tally());
  EXPECT_EQ(print(*second.rest()), "gaussian(5) + laplace(3)");
  EXPECT_FALSE(Filter(second).admit(2 * gaussian(5)));
  EXPECT_THROW(Filter(CommittedBudget{laplace(1)}, Relation::as_stated, first.tally()),
               InvalidValue);
  EXPECT_THROW(Filter(budget, Relation::as_stated, {0, 0, {3, 0}}), InvalidValue);
  EXPECT_THROW(Filter(budget, Relation::as_stated, {0, 0, {-1, 0}}), InvalidValue);
  EXPECT_THROW(Filter(ZcdpBudget{1}, Relation::as_stated, first.tally()), InvalidValue);
}

// The game of docs/theory/filters.md: randomized response with a committed multiset of ε. The
// analyst chooses the next ε from the answers so far, or stops. Every path is enumerated with its
// exact probabilities. Some mechanisms are weaker than their ε, depending on the answers.
struct Path {
  double p, q;
};
using Choice = std::function<int(const std::vector<int>& answers,
                                 const std::vector<int>& left)>;  // which part; -1 stops

void play(const std::vector<double>& epsilons, std::vector<int>& left, std::vector<int>& answers,
          const Choice& choose, Filter filter, double p, double q, std::vector<Path>& paths) {
  const int part = left.empty() ? -1 : choose(answers, left);
  if (part < 0) {
    paths.push_back({p, q});
    return;
  }
  const int which = left[static_cast<std::size_t>(part)];
  const double epsilon = epsilons[static_cast<std::size_t>(which)];
  ASSERT_TRUE(filter.admit(pure(epsilon)));
  left.erase(left.begin() + part);
  const bool weak = answers.size() % 2 == 1 && answers.back() == 0;
  const double truth = 1 / (1 + std::exp(weak ? -epsilon / 2 : -epsilon));
  for (const int answer : {0, 1}) {
    answers.push_back(answer);
    play(epsilons, left, answers, choose, filter, p * (answer == 1 ? truth : 1 - truth),
         q * (answer == 1 ? 1 - truth : truth), paths);
    answers.pop_back();
  }
  left.insert(left.begin() + part, which);
}

double divergence_of(const std::vector<Path>& paths, double epsilon) {
  double forward = 0;
  double backward = 0;
  for (const Path& path : paths) {
    forward += std::max(0.0, path.p - std::exp(epsilon) * path.q);
    backward += std::max(0.0, path.q - std::exp(epsilon) * path.p);
  }
  return std::max(forward, backward);
}

TEST(Committed, TheExactLossUnderAnAdaptiveOrderIsWithinTheTightClaim) {
  const std::vector<double> epsilons{0.1, 0.3, 0.3, 0.7, 1.1, 0.5, 0.2, 0.9};
  std::vector<Plan> parts;
  for (const double e : epsilons) parts.push_back(pure(e));
  const Filter filter{CommittedBudget{Plan(Sum{parts})}};
  const auto ahead = [](const std::vector<int>& answers) {
    int sum = 0;
    for (const int a : answers) sum += a == 1 ? 1 : -1;
    return sum;
  };
  const std::vector<Choice> choices{
      [](const auto&, const auto&) { return 0; },
      [&](const auto& answers, const auto& left) {
        return ahead(answers) > 0 ? static_cast<int>(left.size()) - 1 : 0;
      },
      [&](const auto& answers, const auto& left) {
        return std::abs(ahead(answers)) > 3 ? -1 : static_cast<int>(answers.size() % left.size());
      },
      [&](const auto& answers, const auto& left) {
        std::size_t state = 17;
        for (const int a : answers) state = state * 31 + static_cast<std::size_t>(a);
        return static_cast<int>(state % left.size());
      }};
  double most = 0;
  for (const Choice& choose : choices) {
    std::vector<int> left{0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<int> answers;
    std::vector<Path> paths;
    play(epsilons, left, answers, choose, filter, 1, 1, paths);
    ASSERT_GT(paths.size(), 20U);
    for (const double delta : {0.0, 1e-4, 1e-2, 0.1, 0.3}) {
      const Claim claim = filter.claim(Delta(delta));
      const double reached = divergence_of(paths, claim.epsilon);
      EXPECT_LE(reached, delta + 1e-9) << delta;
      if (delta > 0) most = std::max(most, reached / delta);
    }
  }
  EXPECT_GT(most, 0.5);  // else the test would say little
}

}  // namespace
}  // namespace sotto
