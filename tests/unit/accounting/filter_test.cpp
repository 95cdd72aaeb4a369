// Filters and odometers: the statements of docs/theory/filters.md, and analysts who try to exceed
// the budget.
#include "sotto/accounting/filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/concentrated.hpp"
#include "accounting/api/currencies.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double room = 0x1p-50;

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string refusal(Filter filter, const std::string& event) {
  try {
    (void)filter.admit(parse(event));
  } catch (const OutsideConditions& e) {
    return e.what();
  }
  return "not refused";
}

int admitted(Filter filter, const Plan& event, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += filter.admit(event) ? 1 : 0;
  return count;
}

// --- Sums at their limits ---

TEST(Filter, EventsWhoseNumbersAddUpToTheBudgetAreAdmittedAndNoMore) {
  EXPECT_EQ(admitted(Filter(ApproximateBudget{1}), pure(0.1), 20), 10);
  EXPECT_EQ(admitted(Filter(ApproximateBudget{1}), laplace(10), 20), 10);
  EXPECT_EQ(admitted(Filter(ApproximateBudget{0.3}), pure(0.1), 20), 3);
  EXPECT_EQ(admitted(Filter(ApproximateBudget{0.7}), pure(0.1), 20), 7);
  EXPECT_EQ(admitted(Filter(ApproximateBudget{1, 1e-6}), approx(0.01, 1e-7), 20), 10);
  EXPECT_EQ(admitted(Filter(ApproximateBudget{1, 1e-6}), approx(1, 1e-6), 20), 1);
  EXPECT_EQ(admitted(Filter(ZcdpBudget{0.5}), zcdp(0.05), 20), 10);
  EXPECT_EQ(admitted(Filter(ZcdpBudget{0.5}), gaussian(10), 200), 100);
  EXPECT_EQ(admitted(Filter(ZcdpBudget{1, 3e-7}), approx(0.01, 1e-7), 20), 3);
  EXPECT_EQ(admitted(Filter(RenyiBudget{8, 0.7}), rdp(8, 0.1), 20), 7);
  EXPECT_EQ(admitted(Filter(RenyiBudget{8, 1, 3e-7}), approx(0.01, 1e-7), 20), 3);
  EXPECT_EQ(admitted(Filter(GdpBudget{1}), gdp(0.1), 200), 100);
  EXPECT_EQ(admitted(Filter(GdpBudget{0.3}), gaussian(10), 200), 9);
}

TEST(Filter, TheLimitIsEnforcedAndClaimed) {
  const Filter filter(ApproximateBudget{1, 1e-6});
  EXPECT_GE(filter.limit().amount, 1 + room);
  EXPECT_LE(filter.limit().amount, 1 + 2 * room);
  EXPECT_EQ(filter.claim(Delta(1e-6)), (Claim{filter.limit().amount, filter.limit().delta}));
  EXPECT_GT(filter.limit().delta, 1e-6);
  EXPECT_LE(filter.limit().delta, 1e-6 * (1 + 2 * room));
  EXPECT_EQ(filter.claim(Delta(1e-3)), (Claim{filter.limit().amount, 1e-3}));
  EXPECT_EQ(filter.claim(Delta(0.9e-6)).epsilon, infinity);
}

TEST(Filter, TheAllowanceForRoundingAdmitsNoFurtherEvent) {
  Filter filter(ApproximateBudget{1});
  ASSERT_TRUE(filter.admit(pure(1)));
  EXPECT_FALSE(filter.admit(pure(2 * room)));
  EXPECT_TRUE(filter.admit(pure(room / 2)));
  EXPECT_FALSE(filter.admit(pure(room)));
}

TEST(Filter, AFullBudgetAdmitsNoEventHoweverSmall) {
  Filter filter(ApproximateBudget{1});
  ASSERT_TRUE(filter.admit(pure(1)));
  ASSERT_TRUE(
      filter.admit(pure(next_down(filter.left().amount))));  // stands for reals up to what is left
  EXPECT_EQ(filter.spent(), filter.limit());
  EXPECT_EQ(filter.left(), Charge{});
  EXPECT_FALSE(filter.admit(pure(1e-40)));
  EXPECT_FALSE(filter.admit(pure(1e-300)));
  EXPECT_TRUE(filter.admit(pure(0)));
}

TEST(Filter, SpentIsTheSumRoundedUp) {
  Filter filter(ApproximateBudget{1, 1e-5});
  const Decision first = filter.admit(approx(0.25, 1e-6));
  ASSERT_TRUE(first);
  EXPECT_GE(first.cost.amount, 0.25);
  EXPECT_GE(first.cost.delta, 1e-6);
  ASSERT_TRUE(filter.admit(laplace(4) + approx(0.125, 2e-6)));
  EXPECT_GE(filter.spent().amount, 0.625);
  EXPECT_NEAR(filter.spent().amount, 0.625, 1e-15);
  EXPECT_GE(filter.spent().delta, 3e-6);
  EXPECT_NEAR(filter.spent().delta, 3e-6, 1e-20);
  EXPECT_LE(filter.left().amount, filter.limit().amount - 0.625);
  EXPECT_NEAR(filter.left().amount, 0.375, 1e-14);
  EXPECT_NEAR(filter.left().delta, 7e-6, 1e-19);
}

TEST(Filter, AMillionTinyChargesAreCounted) {
  const Plan tiny = pure(1e-6);
  Filter filter(ApproximateBudget{1});
  int count = 0;
  for (int i = 0; i < 1'000'010; ++i) count += filter.admit(tiny) ? 1 : 0;
  EXPECT_EQ(count, 1'000'000);
  EXPECT_GE(filter.spent().amount, 1);
}

TEST(Filter, ChargesFarBelowTheLastPlaceOfTheSumAreCounted) {
  Filter filter(ApproximateBudget{2});
  ASSERT_TRUE(filter.admit(pure(1)));
  const Plan tiny = pure(1e-25);  // a sum of doubles would never move
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(filter.admit(tiny));
  EXPECT_GE((Real(filter.limit().amount) - Real(filter.left().amount) - 1).lower(), 1e-20);
  EXPECT_GE((Real(filter.spent().amount) - 1).lower(), 1e-20);
  Filter small(ZcdpBudget{1e-300});
  EXPECT_GT(small.admit(pure(1e-200)).cost.amount, 0);  // ρ is about 5e-401
}

TEST(Filter, ARefusedEventCostsNothing) {
  Filter filter(ZcdpBudget{0.5, 1e-6});
  ASSERT_TRUE(filter.admit(zcdp(0.25) + approx(0.1, 5e-7)));
  const Charge before = filter.spent();
  EXPECT_FALSE(filter.admit(zcdp(0.25)));
  EXPECT_FALSE(filter.admit(approx(0.1, 6e-7)));
  EXPECT_THROW((void)filter.admit(parse("poisson(0.1, gaussian(1))")), OutsideConditions);
  EXPECT_THROW((void)filter.admit(gaussian(hole)), InvalidValue);
  EXPECT_EQ(filter.spent(), before);
  EXPECT_TRUE(filter.admit(zcdp(0.2)));  // what fits is admitted afterwards
}

TEST(Filter, ARefusalSaysHowMuchIsMissingInWhichCurrency) {
  Filter filter(ZcdpBudget{0.5, 1e-6});
  ASSERT_TRUE(filter.admit(zcdp(0.25)));
  const Decision rho = filter.admit(zcdp(0.75));
  EXPECT_NEAR(rho.missing.amount, 0.5, 1e-14);
  EXPECT_EQ(rho.missing.delta, 0);
  EXPECT_TRUE(mentions(rho.reason, "rho costs 0.7500")) << rho.reason;
  EXPECT_FALSE(mentions(rho.reason, "delta")) << rho.reason;
  const Decision delta = filter.admit(approx(0.1, 3e-6));
  EXPECT_EQ(delta.missing.amount, 0);
  EXPECT_NEAR(delta.missing.delta, 2e-6, 1e-14);
  EXPECT_TRUE(mentions(delta.reason, "delta costs 3")) << delta.reason;
  EXPECT_FALSE(mentions(delta.reason, "rho")) << delta.reason;
  const Decision both = filter.admit(zcdp(0.75) + approx(0.1, 3e-6));
  EXPECT_TRUE(both.missing.amount > 0 && both.missing.delta > 0);
  EXPECT_TRUE(mentions(both.reason, "; delta")) << both.reason;
  EXPECT_TRUE(mentions(Filter(RenyiBudget{2.5, 0.1}).admit(pure(3)).reason,
                       "the divergence of order 2.5 costs"));
  EXPECT_TRUE(mentions(Filter(GdpBudget{1}).admit(gaussian(0.5)).reason, "mu^2 costs 4"));
  EXPECT_TRUE(mentions(Filter(ApproximateBudget{1}).admit(pure(3)).reason, "epsilon costs 3"));
}

TEST(Filter, PureIsADeltaOfZero) {
  Filter filter(ApproximateBudget{1});
  const Decision decision = filter.admit(approx(0.1, 1e-9));
  EXPECT_FALSE(decision);
  EXPECT_EQ(decision.missing.amount, 0);
  EXPECT_GE(decision.missing.delta, 1e-9);
  EXPECT_FALSE(Filter(ZcdpBudget{1}).admit(approx(0.1, 1e-9)));
  EXPECT_FALSE(Filter(RenyiBudget{2, 1}).admit(approx(0.1, 1e-9)));
}

// --- The cost of an event ---

TEST(Filter, AnEventCostsItsGuarantee) {
  const Plan event = 3 * laplace(2) + gaussian(4) + approx(0.5, 1e-8);
  const Charge zcdp = Filter(ZcdpBudget{10, 1e-6}).admit(event).cost;
  EXPECT_GE(zcdp.amount, 3 * (0.5 + std::exp(-0.5) - 1) + 1.0 / 32 + 0.5 * std::tanh(0.25) - 1e-15);
  EXPECT_NEAR(zcdp.amount, 3 * (0.5 + std::exp(-0.5) - 1) + 1.0 / 32 + 0.5 * std::tanh(0.25),
              1e-14);
  EXPECT_NEAR(zcdp.delta, 1e-8, 1e-22);
  const Charge renyi = Filter(RenyiBudget{4, 10, 1e-6}).admit(3 * laplace(2) + gaussian(4)).cost;
  EXPECT_EQ(renyi.amount, divergence(3 * laplace(2) + gaussian(4), Order(4)).value.upper);
  const Charge gdp = Filter(GdpBudget{10}).admit(gaussian(2) + gaussian(4)).cost;
  EXPECT_NEAR(gdp.amount, 0.25 + 0.0625, 1e-15);
  EXPECT_EQ(Filter(ApproximateBudget{10}).admit(group(2, laplace(4))).cost.amount, 0.5);
}

TEST(Filter, ARefusedEventNamesTheCurrenciesInWhichItHasACost) {
  const std::string sampled =
      refusal(Filter(ZcdpBudget{1}, Relation::add_remove), "poisson(0.1, gaussian(1))");
  EXPECT_TRUE(mentions(sampled, "zCDP is not amplified by sampling")) << sampled;
  EXPECT_TRUE(mentions(sampled, "Rényi divergence of a small order")) << sampled;
  EXPECT_TRUE(mentions(sampled, "mu^2 with slack")) << sampled;
  const std::string noise = refusal(Filter(ApproximateBudget{1, 1e-5}), "gaussian(1)");
  EXPECT_TRUE(mentions(noise, "state the event as approx(eps, delta)")) << noise;
  EXPECT_TRUE(mentions(noise, "a cost in rho, Rényi divergence of a small order, mu^2 with slack"))
      << noise;
  const std::string unslacked =
      refusal(Filter(GdpBudget{1}, Relation::add_remove), "poisson(0.1, gaussian(1))");
  EXPECT_TRUE(mentions(unslacked, "no finite mu at slack 0") &&
              mentions(unslacked, "Rényi divergence") && mentions(unslacked, "mu^2 with slack"))
      << unslacked;
  const std::string beyond = refusal(Filter(RenyiBudget{9, 1}), "rdp(8, 0.5)");
  EXPECT_TRUE(mentions(beyond, "no known finite cost in the divergence of order 9") &&
              mentions(beyond, "small order"))
      << beyond;
  const std::string everything = refusal(Filter(ZcdpBudget{1, 1e-3}), "catastrophe(1, 1e-6)");
  EXPECT_TRUE(mentions(everything, "reveals everything") &&
              mentions(everything, "a cost in epsilon"))
      << everything;
  EXPECT_FALSE(mentions(everything, "Rényi")) << everything;
}

// --- One relation ---

TEST(Filter, EveryEventHasTheFiltersRelation) {
  const std::string poisson = "poisson(0.1, gaussian(5))";
  const std::string without = "without_replacement(10, 100, gaussian(5))";
  const auto filter = [](Relation relation) { return Filter(RenyiBudget{4, 10}, relation); };
  EXPECT_EQ(refusal(filter(Relation::add_remove), poisson), "not refused");
  EXPECT_EQ(refusal(filter(Relation::replace_one), without), "not refused");
  EXPECT_TRUE(mentions(refusal(filter(Relation::replace_one), poisson), "under replace-one"));
  EXPECT_TRUE(mentions(refusal(filter(Relation::add_remove), without), "under add-remove"));
  EXPECT_TRUE(mentions(refusal(filter(Relation::zero_out), poisson), "under zero-out"));
  EXPECT_EQ(refusal(filter(Relation::replace_one), "group(2, " + poisson + ")"), "not refused");
  for (const Relation relation :
       {Relation::add_remove, Relation::replace_one, Relation::zero_out, Relation::as_stated}) {
    EXPECT_EQ(refusal(filter(relation), "gaussian(5)"), "not refused");
    EXPECT_EQ(filter(relation).relation(), relation);
  }
  // As stated: two events that fix different relations must not be combined, so both are refused.
  EXPECT_TRUE(
      mentions(refusal(filter(Relation::as_stated), poisson), "fixes the relation add-remove"));
  EXPECT_TRUE(
      mentions(refusal(filter(Relation::as_stated), without), "fixes the relation replace-one"));
}

TEST(Filter, NumbersOutOfRangeAreRefused) {
  EXPECT_THROW(Filter(ApproximateBudget{-1}), InvalidValue);
  EXPECT_THROW(Filter(ApproximateBudget{1, 1}), InvalidValue);
  EXPECT_THROW(Filter(ZcdpBudget{std::nan("")}), InvalidValue);
  EXPECT_THROW(Filter(ZcdpBudget{1, -1e-9}), InvalidValue);
  EXPECT_THROW(Filter(RenyiBudget{1, 1}), InvalidValue);
  EXPECT_THROW(Filter(RenyiBudget{infinity, 1}), InvalidValue);
  EXPECT_THROW(Filter(GdpBudget{infinity}), InvalidValue);
  EXPECT_THROW(Filter(ZcdpBudget{std::numeric_limits<double>::max()}), InvalidValue);
}

// --- Claims ---

TEST(Filter, TheClaimIsTheBudgetsAfterAnyCharges) {
  Filter filter(ZcdpBudget{0.5});
  const Claim before = filter.claim(Delta(1e-6));
  ASSERT_TRUE(filter.admit(zcdp(0.3)));
  EXPECT_EQ(filter.claim(Delta(1e-6)), before);
  EXPECT_GE(before.epsilon, epsilon_from_zcdp({0.5}, 1e-6).value.lower());
  EXPECT_NEAR(before.epsilon, epsilon_from_zcdp({0.5}, 1e-6).value.upper(), 1e-12);
  EXPECT_EQ(before.delta, 1e-6);
}

TEST(Filter, TheClaimOfEachBudgetIsItsConversion) {
  EXPECT_NEAR(Filter(RenyiBudget{8, 0.7}).claim(Delta(1e-6)).epsilon,
              epsilon_from_renyi({8, 0.7}, 1e-6).upper(), 1e-12);
  EXPECT_NEAR(Filter(GdpBudget{0.5}).claim(Delta(1e-6)).epsilon,
              epsilon(gdp(0.5), Delta(1e-6)).value.upper, 1e-12);
  const double rest = (1e-6 - 4e-7) / (1 - 4e-7);
  EXPECT_NEAR(Filter(ZcdpBudget{0.5, 4e-7}).claim(Delta(1e-6)).epsilon,
              epsilon_from_zcdp({0.5}, rest).value.upper(), 1e-9);
  EXPECT_NEAR(Filter(RenyiBudget{8, 0.7, 4e-7}).claim(Delta(1e-6)).epsilon,
              epsilon_from_renyi({8, 0.7}, rest).upper(), 1e-9);
  EXPECT_EQ(Filter(ZcdpBudget{0.5, 1e-6}).claim(Delta(1e-6)).epsilon, infinity);
  for (const Budget& budget :
       {Budget(ZcdpBudget{0.5}), Budget(RenyiBudget{8, 0.7}), Budget(GdpBudget{0.5})}) {
    EXPECT_EQ(Filter(budget).claim(Delta(0)).epsilon, infinity);
    EXPECT_EQ(Filter(budget).claim(Delta(0x1p-1074)).epsilon, infinity);  // which may stand for 0
  }
  for (const Budget& budget : {Budget(ApproximateBudget{0}), Budget(ZcdpBudget{0}),
                               Budget(RenyiBudget{8, 0}), Budget(GdpBudget{0})}) {
    EXPECT_EQ(Filter(budget).claim(Delta(0)), (Claim{0, 0}));
  }
}

// --- Analysts who try to exceed the budget ---

// Requests the remaining budget, slightly more, slightly less, and events that seem to cost
// nothing.
TEST(Filter, AGreedyAnalystNeverExceedsTheBudget) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(0.2, 1.3);
  for (int game = 0; game < 50; ++game) {
    Filter filter(ZcdpBudget{0.5, 1e-6});
    Real rho = 0;
    Real delta = 0;
    for (int round = 0; round < 200; ++round) {
      const double ask = filter.left().amount * factor(random);
      const double ask_delta = filter.left().delta * factor(random);
      if (!(ask > 1e-300) || !(ask_delta > 1e-300)) break;
      const Plan event = round % 3 == 0   ? zcdp(ask)
                         : round % 3 == 1 ? gaussian(1 / std::sqrt(2 * ask))
                                          : zcdp(ask / 2) + approx(std::sqrt(ask) / 2, ask_delta);
      const Decision decision = filter.admit(event);
      EXPECT_EQ(decision.admitted, decision.missing == Charge{});
      EXPECT_EQ(decision.admitted, decision.reason.empty());
      if (!decision) continue;
      rho += zcdp_of(event, RhoConversion::better).rho;
      delta += round % 3 == 2 ? Real::reading(ask_delta) : Real(0);
    }
    EXPECT_LE(rho.upper(), 0.5 * (1 + 2 * room));
    EXPECT_LE(delta.upper(), 1e-6 * (1 + 2 * room));
    EXPECT_LE(rho.lower(), filter.spent().amount);
    EXPECT_LE(delta.lower(), filter.spent().delta);
    EXPECT_GT(rho.lower(), 0.4);  // and it is of use
  }
}

// A game of randomized response on one bit: every path of answers, with its exact probability under
// both neighbours. The analyst chooses the next ε from the answers so far; 0 stops.
struct Path {
  double p, q;      // its probability if the bit is 1, and if it is 0
  double reported;  // what the odometer says at its end
};
using Analyst = std::function<double(const std::vector<int>& answers, double left)>;

void play(const Filter& filter, const Odometer& odometer, const Analyst& analyst, int rounds,
          std::vector<int>& answers, double p, double q, std::vector<Path>& paths) {
  const double epsilon = rounds == 0 ? 0 : analyst(answers, filter.left().amount);
  Filter next = filter;
  Odometer counted = odometer;
  if (!(epsilon > 0) || !next.admit(pure(epsilon))) {
    paths.push_back({p, q, odometer.reading().epsilon});
    return;
  }
  counted.record(pure(epsilon));
  const double truth = 1 / (1 + std::exp(-epsilon));
  for (const int answer : {0, 1}) {
    answers.push_back(answer);
    play(next, counted, analyst, rounds - 1, answers, p * (answer == 1 ? truth : 1 - truth),
         q * (answer == 1 ? 1 - truth : truth), paths);
    answers.pop_back();
  }
}

std::vector<Path> paths_of(const Filter& filter, const Odometer& odometer, const Analyst& analyst,
                           int rounds) {
  std::vector<int> answers;
  std::vector<Path> paths;
  play(filter, odometer, analyst, rounds, answers, 1, 1, paths);
  return paths;
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

int ones_ahead(const std::vector<int>& answers) {
  int ahead = 0;
  for (const int answer : answers) ahead += answer == 1 ? 1 : -1;
  return ahead;
}

// The remaining ρ as an approximate ε: ρ is about ε²/2.
double affordable(double rho) { return std::sqrt(2 * rho); }

std::vector<Analyst> analysts() {
  return {
      [](const std::vector<int>&, double) { return 0.25; },
      // stops when one side is well ahead
      [](const std::vector<int>& a, double) { return std::abs(ones_ahead(a)) > 2 ? 0 : 0.3; },
      // doubles down when the answers agree, saves when they do not
      [](const std::vector<int>& a, double left) {
        return affordable(left) * (std::abs(ones_ahead(a)) > 1 ? 0.9 : 0.3);
      },
      // all or nothing in the end
      [](const std::vector<int>& a, double left) {
        return a.size() < 6 ? 0.2 : ones_ahead(a) > 0 ? 0.99 * affordable(left) : 0.05;
      },
  };
}

TEST(Filter, TheExactLossOfAnAdaptiveGameIsWithinTheClaim) {
  for (const double rho : {0.1, 0.5, 2.0}) {
    for (const Budget& budget : {Budget(ZcdpBudget{rho}), Budget(RenyiBudget{6, 6 * rho}),
                                 Budget(ApproximateBudget{4 * rho})}) {
      for (const Analyst& analyst : analysts()) {
        const Filter filter(budget);
        const std::vector<Path> paths = paths_of(filter, Odometer(EpsilonGauge{}), analyst, 12);
        ASSERT_GT(paths.size(), 1);
        for (const double delta : {0.0, 1e-6, 1e-3, 0.05, 0.2}) {
          const Claim claim = filter.claim(Delta(delta));
          if (std::isinf(claim.epsilon)) continue;
          EXPECT_LE(divergence_of(paths, claim.epsilon), claim.delta + 1e-12)
              << rho << " " << delta;
        }
      }
    }
  }
}

TEST(Filter, TheGameSpendsItsBudget) {  // else the test above would say little
  const Filter filter(ApproximateBudget{1});
  const std::vector<Path> paths = paths_of(
      filter, Odometer(EpsilonGauge{}), [](const std::vector<int>&, double) { return 0.1; }, 12);
  EXPECT_EQ(paths.size(), 1024);
  EXPECT_GT(divergence_of(paths, 0.97), 4e-5);
  EXPECT_LT(divergence_of(paths, filter.claim(Delta(0)).epsilon), 1e-12);
}

// Two Gaussian answers; the second μ depends on the first answer and spends the remaining μ². The
// exact divergence is one integral over the first answer.
TEST(Filter, TheExactLossOfAnAdaptiveGaussianGameIsWithinTheClaim) {
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (const double mu : {0.5, 1.0, 2.0}) {
    for (const double part : {0.2, 0.5, 0.8}) {
      for (const double epsilon : {0.0, 0.3, 1.0, 3.0}) {
        Filter filter(GdpBudget{mu});
        const double first = mu * std::sqrt(part);
        ASSERT_TRUE(filter.admit(gdp(first)));
        const double all = std::sqrt(filter.left().amount) * (1 - 1e-12);
        ASSERT_TRUE(Filter(filter).admit(gdp(all)));
        ASSERT_FALSE(Filter(filter).admit(gdp(all * (1 + 1e-6))));
        double total = 0;
        constexpr double step = 1e-3;
        for (double y = -12; y < 14; y += step) {
          const double q = std::exp(-y * y / 2) / std::sqrt(2 * M_PI);
          const double ratio = std::exp(first * y - first * first / 2);
          const double second = y > first ? all
                                : y > 0   ? all / 3
                                          : 0.9 * all;  // as the answer says
          const double x = epsilon - std::log(ratio);
          total += q * step *
                   (ratio * normal(second / 2 - x / second) -
                    std::exp(epsilon) * normal(-second / 2 - x / second));
        }
        EXPECT_LE(total, gaussian_delta(epsilon, mu * (1 + 1e-12)).upper() + 1e-9)
            << mu << " " << part << " " << epsilon;
        EXPECT_GE(total, gaussian_delta(epsilon, first).lower() - 1e-9);
      }
    }
  }
}

// --- Approximate Gaussian DP ---

TEST(GdpFilter, ChargesMuSquaredAndTheNamedSlack) {
  const Plan training = parse("1000 * poisson(0.01, gaussian(1))");
  Filter filter(GdpBudget{2, 1e-7}, Relation::add_remove);
  const Decision decision = filter.admit(training, Delta(1e-8));
  ASSERT_TRUE(decision);
  const double mu = approximate_gdp_of(training, 1e-8).mu;
  EXPECT_EQ(decision.cost.delta, 1e-8);
  EXPECT_GE(decision.cost.amount, mu * mu);
  EXPECT_NEAR(decision.cost.amount, mu * mu, 1e-15);
  EXPECT_GE(filter.spent().amount, decision.cost.amount);
  EXPECT_EQ(filter.spent().delta, 1e-8);
  EXPECT_FALSE(filter.admit(training, Delta(1e-6)));  // more slack than there is
  EXPECT_THROW((void)Filter(GdpBudget{2, 1e-7}, Relation::replace_one).admit(training, Delta(1e-8)),
               OutsideConditions);
}

TEST(GdpFilter, GaussiansUseNoSlack) {
  Filter filter(GdpBudget{1, 1e-7});
  ASSERT_TRUE(filter.admit(gaussian(2), Delta(1e-8)));
  ASSERT_TRUE(filter.admit(gaussian(2)));
  EXPECT_EQ(filter.spent().delta, 0);
  EXPECT_NEAR(filter.spent().amount, 0.5, 1e-14);
  ASSERT_TRUE(filter.admit(gaussian(4) + approx(0, 3e-8)));
  EXPECT_NEAR(filter.spent().delta, 3e-8, 1e-20);
  EXPECT_FALSE(filter.admit(gaussian(100) + approx(0, 8e-8), Delta(8e-8)));
  EXPECT_THROW((void)filter.admit(gaussian(100) + approx(0, 8e-8), Delta(7e-8)), OutsideConditions);
}

TEST(GdpFilter, TheDefaultSlackIsProportionalToMuSquared) {
  const GdpBudget budget{2, 1e-7};
  EXPECT_EQ(slack_share(budget, 2), 1e-7);
  EXPECT_EQ(slack_share(budget, 3), 1e-7);
  EXPECT_NEAR(slack_share(budget, 0.2), 1e-9, 1e-11);
  EXPECT_EQ(slack_share(GdpBudget{2}, 1), 0);
  Filter filter(budget, Relation::add_remove);
  const Plan training = parse("1000 * poisson(0.01, gaussian(1))");
  int count = 0;
  for (; count < 1000; ++count) {
    const Decision decision = filter.admit(training);
    if (!decision) break;
    EXPECT_NEAR(decision.cost.delta / 1e-7, decision.cost.amount / 4,
                0.05 * decision.cost.amount / 4);
  }
  EXPECT_GT(count, 5);
  EXPECT_LT(filter.left().amount, 4.0 / count);  // it was μ², not the slack, that ran out
  EXPECT_LE(filter.spent().delta, filter.limit().delta);
}

TEST(GdpFilter, ClaimsTheExactProfileAtTheRemainingDelta) {
  const Filter filter(GdpBudget{0.8, 1e-7});
  const double left = (1e-6 - 1e-7) / (1 - 1e-7);
  EXPECT_NEAR(filter.claim(Delta(1e-6)).epsilon, epsilon(gdp(0.8), Delta(left)).value.upper, 1e-9);
  EXPECT_GE(filter.claim(Delta(1e-6)).epsilon, epsilon(gdp(0.8), Delta(left)).value.lower);
  EXPECT_EQ(filter.claim(Delta(1e-7)).epsilon, infinity);
  EXPECT_EQ(filter.claim(Delta(5e-8)).epsilon, infinity);
  EXPECT_THROW(Filter(GdpBudget{1, 1}), InvalidValue);
  EXPECT_THROW(Filter(GdpBudget{1, -1e-9}), InvalidValue);
}

// Randomized response, then one of two sampled events depending on the answer, which spend the
// remaining budget. The exact divergence of the whole interaction, for removing and adding the
// record, is within the claim at every ε.
TEST(GdpFilter, TheExactLossOfAnAdaptiveGameIsWithinTheClaim) {
  const double q = 0.1;
  const auto response = [](bool answer, bool present) { return answer == present ? 0.6 : 0.4; };
  const std::vector<Plan> seconds{parse("poisson(0.1, gaussian(1))"),
                                  parse("poisson(0.1, gaussian(2))")};
  const std::vector<double> mus{1, 0.5};
  const double slack = 1e-4;
  const Plan first = pure(std::log(1.5));
  double amount = 0;
  for (const Plan& second : seconds) {
    Filter filter(GdpBudget{10, 1e-2}, Relation::add_remove);
    ASSERT_TRUE(filter.admit(first, Delta(slack)));
    ASSERT_TRUE(filter.admit(second, Delta(slack)));
    amount = std::max(amount, filter.spent().amount);
  }
  Filter filter(GdpBudget{std::sqrt(amount), 2 * slack}, Relation::add_remove);
  ASSERT_TRUE(filter.admit(first, Delta(slack)));
  for (const Plan& second : seconds) ASSERT_TRUE(Filter(filter).admit(second, Delta(slack)));
  const auto gaussian =
      [](double a, double mu) {  // sup P(E) - a Q(E) of N(μ, 1) against N(0, 1), at every a > 0
        const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
        const double e = std::log(a);
        return normal(mu / 2 - e / mu) - a * normal(-mu / 2 - e / mu);
      };
  const auto removed = [&](double a, double mu) {
    return a <= 1 - q ? 1 - a : q * gaussian((a - 1 + q) / q, mu);
  };  // (1-q)Q + qP against Q
  const auto added = [&](double a, double mu) {
    return 1 - a + a * removed(1 / a, mu);
  };  // and reversed
  for (double e = 0; e < 4; e += 0.05) {
    const double a = std::exp(e);
    double out = 0;
    double in = 0;
    for (const bool answer : {false, true}) {
      const double mu = mus[answer ? 0 : 1];
      const double with = response(answer, true);
      const double without = response(answer, false);
      out += with * removed(a * without / with, mu);
      in += without * added(a * with / without, mu);
    }
    const double claimed =
        2 * slack + (1 - 2 * slack) * gaussian_delta(e, std::sqrt(amount)).upper();
    EXPECT_LE(out, claimed + 1e-12) << e;
    EXPECT_LE(in, claimed + 1e-12) << e;
  }
}

TEST(Currencies, BudgetsOfOneGuaranteeClaimIt) {
  for (const double eps : {0.5, 3.0}) {
    const std::vector<Budget> budgets = budgets_for(eps, 1e-6, 1e-7);
    ASSERT_EQ(budgets.size(), 4U);
    for (const Budget& budget : budgets) {
      EXPECT_LE(Filter(budget).claim(Delta(1e-6)).epsilon, eps * (1 + 1e-14))
          << currency_name(budget);
      EXPECT_GT(Filter(budget).claim(Delta(1e-6)).epsilon, eps * (1 - 1e-4))
          << currency_name(budget);
    }
  }
}

TEST(Currencies, ARefusalNamesACheaperCurrencyForLaplaceNoise) {
  const GdpBudget budget{gdp_budget_mu(1, 1e-6, 1e-7), 1e-7};
  const std::string few = cheaper_budget_hint(budget, Relation::add_remove, laplace(2));
  EXPECT_TRUE(mentions(few, "counts epsilon")) << few;
  const std::string training = cheaper_budget_hint(budget, Relation::add_remove,
                                                   parse("1000 * poisson(0.002, gaussian(1))"));
  EXPECT_EQ(training, "");
  EXPECT_EQ(cheaper_budget_hint(budget, Relation::add_remove, gaussian(3)), "");
  for (const Budget& other : budgets_for(1, 1e-6, 1e-7)) {
    const auto part = budget_fraction(other, Relation::add_remove, gaussian(30));
    ASSERT_TRUE(part.has_value());
    EXPECT_GE(*part, 0.999 * *budget_fraction(budget, Relation::add_remove, gaussian(30)))
        << currency_name(other);
  }
}

// --- Odometers ---

TEST(Odometer, TheReadingOfEpsilonIsItsSum) {
  Odometer odometer(EpsilonGauge{1e-6});
  EXPECT_EQ(odometer.reading().epsilon, 0);
  odometer.record(pure(0.5));
  const Claim second = odometer.record(approx(0.25, 1e-6));
  EXPECT_GE(second.epsilon, 0.75);
  EXPECT_NEAR(second.epsilon, 0.75, 1e-15);
  EXPECT_GT(second.delta, 1e-6);  // as enforced
  EXPECT_NEAR(second.delta, 1e-6, 1e-20);
  EXPECT_EQ(odometer.reading(), second);
  EXPECT_EQ(odometer.record(approx(0.25, 1e-12)).epsilon, infinity);
  EXPECT_EQ(odometer.record(pure(0.25)).epsilon, infinity);
  EXPECT_EQ(Odometer(EpsilonGauge{}).record(approx(0.1, 1e-9)).epsilon, infinity);
}

TEST(Odometer, ARenyiReadingIsTheSumAndOneTerm) {
  Odometer odometer(RenyiGauge{11, 1e-6});
  EXPECT_EQ(odometer.reading(), (Claim{0, 1e-6}));
  odometer.record(gaussian(10));
  const Claim reading = odometer.record(gaussian(5));
  EXPECT_NEAR(reading.epsilon, 11 * (0.01 + 0.04) / 2 + std::log(1e6) / 10, 1e-12);
  EXPECT_EQ(reading.delta, 1e-6);
  Odometer aside(RenyiGauge{11, 1e-6, 4e-7});
  EXPECT_NEAR(aside.record(gaussian(5) + approx(0, 4e-7)).epsilon,
              11 * 0.04 / 2 + std::log(1 / 6e-7) / 10, 1e-9);
  EXPECT_EQ(aside.record(approx(0, 1e-9)).epsilon, infinity);
}

TEST(Odometer, AZcdpReadingIsTheBestLinearBound) {
  const double delta = 1e-6;
  for (const double rho : {1e-5, 0x1p-10, 0.003, 0.1, 1.0, 7.0, 300.0}) {
    const double reading = Odometer(ZcdpGauge{delta}).record(zcdp(rho)).epsilon;
    double best = infinity;
    for (int j = 0; j < 60; ++j) {
      const double log_share = std::log((j + 1) * (j + 2) / delta);
      const double lambda = std::sqrt(log_share / std::ldexp(0x1p-10, j));
      best = std::min(best, (1 + lambda) * rho + log_share / lambda);
    }
    EXPECT_NEAR(reading, best, 1e-9 * best) << rho;
    EXPECT_GT(reading, epsilon_from_zcdp_classic({rho}, delta).upper() -
                           1e-12);  // dearer than a budget fixed in advance
    if (rho < 0x1p-10) continue;
    EXPECT_LT(reading, 1.6 * epsilon_from_zcdp_classic({rho}, delta).upper());
  }
}

TEST(Odometer, ReadingsGrow) {
  for (const Gauge& gauge : {Gauge(ZcdpGauge{1e-6, 1e-7}), Gauge(RenyiGauge{8, 1e-6, 1e-7}),
                             Gauge(EpsilonGauge{1e-7})}) {
    Odometer odometer(gauge);
    double last = odometer.reading().epsilon;
    EXPECT_EQ(last, 0);
    for (int i = 0; i < 300; ++i) {
      const double next =
          odometer.record(i % 7 == 0 ? approx(0.01 * (i + 1), 1e-9) : laplace(50)).epsilon;
      EXPECT_GT(next, last);
      last = next;
    }
    EXPECT_TRUE(std::isfinite(last));
  }
}

TEST(Odometer, TheExactLossOfAnAdaptiveGameIsWithinTheReadings) {
  const Filter everything(ZcdpBudget{100});
  for (const double delta : {1e-4, 1e-2, 0.2}) {
    for (const Gauge& gauge : {Gauge(EpsilonGauge{}), Gauge(ZcdpGauge{delta}),
                               Gauge(ZcdpGauge{delta, 0, 0.1}), Gauge(RenyiGauge{3, delta})}) {
      for (const Analyst& analyst : analysts()) {
        // The limit 100 is never reached: this analyst always has at least 1 left.
        const auto bounded = [&](const std::vector<int>& a, double) { return analyst(a, 0.3); };
        double forward = 0;
        double backward = 0;
        for (const Path& path : paths_of(everything, Odometer(gauge), bounded, 10)) {
          forward += std::max(0.0, path.p - std::exp(path.reported) * path.q);
          backward += std::max(0.0, path.q - std::exp(path.reported) * path.p);
        }
        const double allowed = std::holds_alternative<EpsilonGauge>(gauge) ? 0 : delta;
        EXPECT_LE(forward, allowed + 1e-12);
        EXPECT_LE(backward, allowed + 1e-12);
      }
    }
  }
}

TEST(Odometer, RefusesTheEventsThatAFilterRefuses) {
  Odometer odometer(ZcdpGauge{1e-6});
  const Claim before = odometer.record(zcdp(0.1));
  EXPECT_THROW(odometer.record(parse("randomized_response(0.75)")), OutsideConditions);
  EXPECT_THROW(odometer.record(gaussian(hole)), InvalidValue);
  EXPECT_EQ(odometer.reading(), before);
  EXPECT_THROW(
      Odometer(ZcdpGauge{1e-6}, Relation::add_remove).record(parse("poisson(0.1, gaussian(1))")),
      OutsideConditions);
  EXPECT_NO_THROW(Odometer(RenyiGauge{4, 1e-6}, Relation::add_remove)
                      .record(parse("poisson(0.1, gaussian(1))")));
  EXPECT_THROW(Odometer(ZcdpGauge{0}), InvalidValue);
  EXPECT_THROW(Odometer(ZcdpGauge{1e-6, 1e-6}), InvalidValue);
  EXPECT_THROW(Odometer(ZcdpGauge{1e-6, 0, 0}), InvalidValue);
  EXPECT_THROW(Odometer(RenyiGauge{1, 1e-6}), InvalidValue);
  EXPECT_THROW(Odometer(EpsilonGauge{1}), InvalidValue);
}

}  // namespace
}  // namespace sotto
