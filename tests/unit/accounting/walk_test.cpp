// Token walks for groups of users: against sums over the walk, simulated walks, and attacks. Their
// work is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/api/work.hpp"
#include "pld/api/compose.hpp"
#include "pld/api/token_walk.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

double cost(const std::string& plan, double delta, Method by = Method::tight) {
  return epsilon(parse(plan), Delta(delta), {.by = by}).value.upper;
}
double delta_of(const std::string& plan, double epsilon) {
  return delta(parse(plan), Epsilon(epsilon)).value.upper;
}

double normal_tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

double gaussian_profile_at(double epsilon, double squared) {
  const double mu = std::sqrt(squared);
  return squared > 0 ? normal_tail(epsilon / mu - mu / 2) -
                           std::exp(epsilon) * normal_tail(epsilon / mu + mu / 2)
                     : 0;
}

struct WalkCase {
  double sigma;
  int users, colluders, group;

  [[nodiscard]] std::string text() const {
    return "group(" + std::to_string(group) + ", walk_sum(" + shortest(sigma) + ", " +
           shortest(users) + ", " + shortest(colluders) + "))";
  }
};

// One cycle: J ~ geometric meetings of the group, and M hops until the (J+1)st meeting of group or
// coalition, which is negative binomial.
std::vector<std::pair<double, double>> summed_law(const WalkCase& at) {  // j²/m and its probability
  const double q = std::min(1.0, static_cast<double>(at.group + at.colluders) / at.users);
  const double again = static_cast<double>(at.group) / (at.group + at.colluders);
  std::vector<std::pair<double, double>> law;
  for (int j = 1; std::pow(again, j) > 1e-10; ++j) {
    const double prior = (1 - again) * std::pow(again, j);
    double seen = 0;
    for (int m = j; seen < 1 - 1e-10; ++m) {
      const double log = std::lgamma(m + 1) - std::lgamma(j + 1) - std::lgamma(m - j + 1) +
                         (j + 1) * std::log(q) + (m == j ? 0 : (m - j) * std::log1p(-q));
      seen += std::exp(log);
      if (prior * std::exp(log) > 1e-15)
        law.emplace_back(static_cast<double>(j) * j / m, prior * std::exp(log));
      if (q >= 1) break;
    }
  }
  return law;
}

double summed_delta(const std::vector<std::pair<double, double>>& law, double sigma,
                    double epsilon) {
  double sum = 0;
  for (const auto& [factor, probability] : law)
    sum += probability * gaussian_profile_at(epsilon, factor / (sigma * sigma));
  return sum;
}
double summed_delta(const WalkCase& at, double epsilon) {
  return summed_delta(summed_law(at), at.sigma, epsilon);
}

// The users of a group are met at different hops: five times the sensitivity gave 0.3477 and an
// epsilon of 0 in the first two.
TEST(WalkGroup, IsMetAtEachOfItsUsers) {
  EXPECT_GE(delta_of("group(5, walk_sum(1, 20))", 0), 0.3615496);
  EXPECT_LE(delta_of("group(5, walk_sum(1, 20))", 0), 0.3617);
  EXPECT_GE(cost("group(5, walk_sum(1, 20))", 0.35), 0.04946);
  EXPECT_LE(cost("group(5, walk_sum(1, 20))", 0.35), 0.0496);
  // and 24.6 here
  const double one = cost("group(5, walk_sum(0.1, 1000, colluders=100))", 0.02);
  EXPECT_LE(one, 3.53);
  EXPECT_LE(summed_delta({0.1, 1000, 100, 5}, one), 0.02);
  EXPECT_GE(summed_delta({0.1, 1000, 100, 5}, 0.999 * one), 0.02);
}

TEST(WalkGroup, IsTheSumOverTheWalk) {
  for (const auto& [users, colluders, group] : std::vector<std::array<int, 3>>{{2, 1, 1},
                                                                               {20, 1, 1},
                                                                               {20, 1, 5},
                                                                               {20, 7, 3},
                                                                               {20, 10, 10},
                                                                               {20, 19, 1},
                                                                               {6, 2, 9},
                                                                               {300, 5, 2},
                                                                               {300, 30, 30},
                                                                               {100, 60, 39},
                                                                               {50, 5, 30}}) {
    const auto law = summed_law({1, users, colluders, group});
    for (const double sigma : {0.05, 1.0, 30.0}) {
      const WalkCase at{sigma, users, colluders, group};
      for (const double e : {0.0, 0.01, 0.3, 2.0, 8.0}) {
        const double exact = summed_delta(law, sigma, e);
        if (exact < 1e-8) continue;
        const double bound = delta(parse(at.text()), Epsilon(e), {.by = Method::pld}).value.upper;
        EXPECT_GE(bound, exact * (1 - 1e-6)) << at.text() << " at " << e;
        EXPECT_LE(bound, exact * 1.003 + 1e-9) << at.text() << " at " << e;
      }
    }
  }
}

// A walk, hop by hop: the coalition has the first numbers, the group those after.
class Walk {
 public:
  Walk(int users, int colluders, int group, std::uint64_t seed)
      : users_(users), colluders_(colluders), group_(group), bits_(seed) {}
  enum class Met { coalition, group, other };
  struct Hop {
    Met met;
    int user;
  };
  Hop next() {
    const int user = static_cast<int>(std::uniform_int_distribution<int>(0, users_ - 1)(bits_));
    return {user < colluders_            ? Met::coalition
            : user < colluders_ + group_ ? Met::group
                                         : Met::other,
            user - colluders_};
  }

 private:
  int users_, colluders_, group_;
  std::mt19937_64 bits_;
};

struct Mean {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  [[nodiscard]] double value() const { return sum / count; }
  [[nodiscard]] double deviation() const {
    return std::sqrt(std::max(0.0, squares / count - value() * value()) / count);
  }
};

TEST(WalkGroup, IsTheWalkThatIsSimulated) {
  for (const auto& [at, e] : std::vector<std::pair<WalkCase, double>>{{{1, 20, 1, 5}, 0.0},
                                                                      {{0.1, 1000, 100, 5}, 3.5},
                                                                      {{2, 30, 4, 20}, 0.5},
                                                                      {{0.7, 12, 3, 1}, 0.2}}) {
    Walk walk(at.users, at.colluders, at.group, 5);
    Mean mean;
    for (int run = 0; run < 20'000; ++run) {
      double met = 0;
      double hops = 0;
      for (auto hop = walk.next(); hop.met != Walk::Met::coalition; hop = walk.next()) {
        ++hops;
        met += hop.met == Walk::Met::group ? 1 : 0;
      }
      mean.add(hops > 0 ? gaussian_profile_at(e, met * met / (hops * at.sigma * at.sigma)) : 0);
    }
    EXPECT_NEAR(delta_of(at.text(), e), mean.value(), 5 * mean.deviation() + 1e-3 * mean.value())
        << at.text();
  }
}

// With a linear loss a step moves the token, and nothing shrinks what it moved by: between two of
// its visits the coalition sees all contributions of the group, under the noise of all hops. Each
// user of the group contributes so often.
TEST(WalkGroup, OfGradientStepsIsNeverBelowALinearLoss) {
  struct Steps {
    int users, colluders, group, contributions;
    double sigma, epsilon;
  };
  for (const Steps& at : {Steps{10, 1, 3, 2, 1, 0.5},
                          {20, 5, 5, 4, 3, 0.2},
                          {8, 3, 5, 1, 1, 1},
                          {40, 20, 2, 10, 4, 0.5},
                          {12, 1, 10, 3, 2, 0.3}}) {
    Walk walk(at.users, at.colluders, at.group, 7);
    Mean mean;
    for (int run = 0; run < 4000; ++run) {
      std::vector<int> left(static_cast<std::size_t>(at.group), at.contributions);
      int all = at.group * at.contributions;
      double squared = 0;
      double terms = 0;
      double hops = 0;
      while (all > 0 || terms > 0) {
        const auto hop = walk.next();
        if (hop.met == Walk::Met::coalition) {
          if (hops > 0) squared += terms * terms / hops;
          terms = hops = 0;
          continue;
        }
        ++hops;
        if (hop.met == Walk::Met::group && left[static_cast<std::size_t>(hop.user)] > 0) {
          --left[static_cast<std::size_t>(hop.user)];
          --all;
          ++terms;
        }
      }
      mean.add(gaussian_profile_at(at.epsilon, squared / (at.sigma * at.sigma)));
    }
    const std::string plan = "group(" + std::to_string(at.group) + ", " +
                             std::to_string(at.contributions) + " * walk_sgd(" +
                             shortest(at.sigma) + ", " + shortest(at.users) + ", " +
                             shortest(at.colluders) + "))";
    EXPECT_GE(delta_of(plan, at.epsilon), mean.value() - 5 * mean.deviation()) << plan;
    // no more than a group that is one user with all of its sensitivity
    const std::string one = std::to_string(at.contributions) + " * walk_sgd(" + shortest(at.sigma) +
                            ", " + shortest(at.users) + ", " + shortest(at.colluders) + ", " +
                            std::to_string(at.group) + ")";
    EXPECT_LE(cost(plan, 1e-6), cost(one, 1e-6)) << plan;
  }
}

TEST(WalkGroup, OfGradientStepsIsOneGaussianEachWhereNobodyElseIsLeft) {
  EXPECT_EQ(cost("group(3, 7 * walk_sgd(3, 10, colluders=9))", 1e-5),
            cost("21 * gaussian(3)", 1e-5));
  EXPECT_EQ(cost("group(3, 7 * walk_sgd(3, 10, colluders=7))", 1e-5),
            cost("21 * gaussian(3)", 1e-5));
  EXPECT_LT(cost("group(2, 7 * walk_sgd(3, 10, colluders=7))", 1e-5),
            cost("14 * gaussian(3)", 1e-5));
}

TEST(WalkGroup, NeverCostsLessThanASmallerOne) {
  for (const std::string leaf : {"20 * walk_sgd(20, 1000)", "3 * walk_sgd(2, 30, colluders=12)",
                                 "walk_sum(1, 30)", "5 * walk_sum(3, 200, colluders=20)"}) {
    double before = cost(leaf, 1e-5);
    for (const int group : {2, 3, 8, 30, 1000}) {
      const double here = cost("group(" + std::to_string(group) + ", " + leaf + ")", 1e-5);
      EXPECT_GE(here, before * (1 - 1e-4)) << leaf << " " << group;
      before = here;
    }
  }
}

TEST(WalkGroup, HasTheLineOfAllItsContributions) {
  const double line = cost("group(4, 100 * walk_sgd(200, 1000))", 1e-6, Method::theorem);
  EXPECT_EQ(line, cost("400 * walk_sgd(200, 1000, colluders=4)", 1e-6, Method::theorem));
  EXPECT_GE(line, cost("group(4, 100 * walk_sgd(200, 1000))", 1e-6));
}

// A group of two is two users. One user who is replaced moves twice as far at the same hops, which
// is another law.
TEST(WalkGroup, IsNoReplacementOfOneUser) {
  const Plan plan = parse("group(2, poisson(0.1, gaussian(1)) + walk_sum(1, 20))");
  EXPECT_NO_THROW(epsilon(plan, Delta(1e-5)));
  EXPECT_THROW(epsilon(plan, Delta(1e-5), {.relation = Relation::replace_one}), OutsideConditions);
  EXPECT_NO_THROW(epsilon(parse("group(2, poisson(0.1, gaussian(1)))"), Delta(1e-5),
                          {.relation = Relation::replace_one}));
  EXPECT_THROW(
      epsilon(parse("without_replacement(1, 10, group(2, parallel(walk_sum(1, 20), laplace(1))))"),
              Delta(1e-5)),
      OutsideConditions);
}

// One Gaussian's share is its profile, rounded up and by little, from noise that hides nearly
// everything to noise that hides nothing.
TEST(WalkMixture, IsTheProfileOfItsShares) {
  std::mt19937_64 bits(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 3000; ++i) {
    const double mu = std::pow(10, -12 + 18 * unit(bits));
    const double e =
        i % 7 == 0 ? 0 : mu * std::pow(10, -3 + 4.5 * unit(bits)) + (i % 2 == 0 ? mu * mu / 2 : 0);
    if (!(e < 1e9)) continue;
    const std::vector<GaussianComponent> one{{Real(mu) * Real(mu), 1}};
    const Real exact = gaussian_delta(e, mu);
    const double bound = gaussian_mixture_delta(one, e);
    EXPECT_GE(bound, exact.lower()) << mu << " at " << e;
    if (exact.lower() > 1e-130 && mu < 1e3) {
      EXPECT_LE(bound, exact.upper() * (1 + 1e-6)) << mu << " at " << e;
    }
  }
  for (const double mu : {1e-300, 1e-160, 1e-12, 1.0, 1e12, 1e150}) {
    for (const double e : {0.0, 1e-300, 1e-12, 1.0, 700.0, 1e5, 1e300}) {
      const double bound = gaussian_mixture_delta({{Real(mu) * Real(mu), Real(1) / 2}}, e);
      EXPECT_GE(bound, 0) << mu << " at " << e;
      EXPECT_LE(bound, 0.5 * (1 + 1e-12)) << mu << " at " << e;
      if (mu > 1e10 && e < 1e6) {
        EXPECT_GE(bound, 0.5) << mu << " at " << e;
      }
    }
  }
}

// --- Work ---

// Every computation with a mixture counts the work of each of its components.
TEST(WalkWork, CountsTheSharesOfAMixture) {
  const auto mixture = walk_cycle_mixture(Real(1) / 3, {1000, 30});
  const auto shares = static_cast<double>(mixture->components.size());
  ASSERT_GT(shares, 500);
  const PrivacyLossPtr loss = gaussian_mixture_loss(mixture->components);
  const auto counted = [](const auto& question) {
    const WorkLimit limit(1e12);
    question();
    return limit.spent();
  };
  EXPECT_GE(counted([&] { (void)gaussian_mixture_delta(mixture->components, 0.3); }), 20 * shares);
  EXPECT_GE(counted([&] { (void)loss->cumulant(2); }), 5 * shares);
  const auto line = loss->log_mgf(2);
  EXPECT_GE(counted([&] { (void)line->at(1); }), 20 * shares);
  EXPECT_GE(counted([&] { (void)line->decay_bound(1, Extent::everywhere); }), 5 * shares);
  const WorkLimit little(10 * shares);
  EXPECT_THROW(for (int i = 0; i < 100; ++i)(void) line->at(i), OutOfWork);
}

// The law itself, over the whole range of walks, with much work left of what an answer may take.
TEST(WalkWork, OfALawIsBounded) {
  for (const std::int64_t users : {std::int64_t{2}, std::int64_t{50}, std::int64_t{100'000},
                                   std::int64_t{1'000'000'000}, std::int64_t{1} << 53}) {
    for (const double coalition : {0.0, 0.01, 0.5, 1.0}) {
      const std::int64_t colluders = std::clamp<std::int64_t>(
          static_cast<std::int64_t>(coalition * static_cast<double>(users)), 1, users - 1);
      for (const std::int64_t group :
           {std::int64_t{1}, std::int64_t{7}, std::int64_t{10'000}, std::int64_t{1} << 52}) {
        const WorkLimit limit(1e12);
        const auto cycle = walk_cycle_mixture(0.5, {users, colluders, group});
        const double of_cycle = limit.spent();
        const auto gap = walk_gap_mixture(0.5, {users, colluders, group});
        EXPECT_LE(of_cycle, 0.4 * allowance_of({}).work)
            << users << " " << colluders << " " << group;
        EXPECT_LE(limit.spent() - of_cycle, 0.2 * allowance_of({}).work)
            << users << " " << colluders << " " << group;
        EXPECT_LT(cycle->failure, 1e-30);
        for (const auto& mixture : {cycle, gap}) {
          double mass = 0;
          for (const GaussianComponent& share : mixture->components) mass += share.mass.upper();
          EXPECT_LE(mass, 1 + 1e-7) << users << " " << colluders << " " << group;
        }
      }
    }
  }
}

// What an answer may take by default bounds all of them, and they are of use.
TEST(WalkWork, OfEveryQuestionStaysWithinItsLimit) {
  constexpr double last_straw = 1.02;
  const double most = allowance_of({}).work;
  const auto within = [&](const std::string& what, const auto& question) {
    const WorkLimit all{Allowance{}};
    question();
    EXPECT_LE(all.spent(), last_straw * most) << what;
    EXPECT_GT(all.spent(), 0) << what;
  };
  for (const std::string text :
       {"walk_sum(1e6, 3)", "walk_sum(1.676, 5, colluders=2)",
        "poisson(0.1, walk_sum(0.5, 1000, colluders=500))", "2 * walk_sum(700, 1e9, colluders=5e8)",
        "walk_sum(3, 5)", "7 * walk_sgd(0.001, 1e9)", "group(9, 3 * walk_sgd(50, 100))"}) {
    const Plan plan = parse(text);
    within(text, [&] { (void)epsilon(plan, Delta(1e-5)); });
    within(text, [&] { (void)delta(plan, Epsilon(0.5)); });
    within(text, [&] { (void)compare(plan, Delta(1e-12)); });
    within(text, [&] {
      const Tradeoff tradeoff(plan);
      for (const double fpr : {0.001, 0.1, 0.5}) {
        const Bound rate = tradeoff.true_positive_rate(fpr);
        EXPECT_GE(rate.upper, fpr);
      }
    });
  }
  EXPECT_LE(Tradeoff(parse("walk_sum(1e6, 3)")).true_positive_rate(0.1).upper, 0.1000003);
  EXPECT_LE(Tradeoff(parse("walk_sum(1.676, 5, colluders=2)")).true_positive_rate(0.1).upper,
            0.1678);
  EXPECT_LE(Tradeoff(parse("poisson(0.1, walk_sum(0.5, 1000, colluders=500))"))
                .true_positive_rate(0.1)
                .upper,
            0.1002);
}

}  // namespace
}  // namespace sotto
