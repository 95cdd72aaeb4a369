// Simulated averaging: equal sums by messages and by algebra, and errors as predicted.
#include "course/api/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "course/simulation/protocols.hpp"
#include "course/simulation/token_walk.hpp"
#include "privacy/api/federated.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

using namespace course_detail;

// Compares the sums of `runs` random runs, by simulated messages and by adding up.
Draws random_draws(TrustModel model, const MaskGraph& graph, std::int64_t rounds,
                   std::size_t dropped) {
  const auto n = static_cast<std::size_t>(graph.users());
  Draws draws;
  for (std::size_t u = 0; u < n; ++u) draws.values.push_back(uniform_below(1U << 20U));
  std::size_t noises = n;
  if (model == TrustModel::central) noises = 1;
  if (model == TrustModel::shuffle) noises = 0;
  if (model == TrustModel::ring || model == TrustModel::walk) {
    for (std::size_t hop = 0; hop < n * static_cast<std::size_t>(rounds); ++hop) {
      draws.path.push_back(
          static_cast<MaskGraph::User>(model == TrustModel::ring ? hop % n : uniform_below(n)));
    }
    noises = draws.path.size() + 1;
  }
  for (std::size_t i = 0; i < noises; ++i)
    draws.noise.push_back(uniform_below(1U << 30U) - (1U << 29U));
  draws.dropped.assign(n, false);
  for (std::size_t i = 0; i < dropped; ++i) draws.dropped[i * 7 % n] = true;
  graph.for_each_edge([&](MaskGraph::User u, MaskGraph::User v) {
    if (draws.dropped[u] != draws.dropped[v])
      draws.residue[edge_key(u, v)] = uniform_below(1U << 30U) - (1U << 29U);
  });
  return draws;
}

TEST(Simulation, MessagesAndAlgebraGiveTheSameSumToTheBit) {
  for (const TrustModel model : {TrustModel::central, TrustModel::local, TrustModel::shuffle,
                                 TrustModel::gopa, TrustModel::ring, TrustModel::walk}) {
    for (const std::int64_t users : {2, 3, 10, 100}) {
      for (const bool complete : {true, false}) {
        const MaskGraph graph =
            complete || users < 4 ? MaskGraph::complete(users) : MaskGraph::random(users, 3);
        const std::size_t dropped =
            model == TrustModel::gopa ? static_cast<std::size_t>(users) / 3 : 0;
        const Draws draws = random_draws(model, graph, 3, dropped);
        const Round round{.model = model, .rounds = 3, .mask_scale = 1e5, .grid = 0};
        EXPECT_EQ(sum_by_messages(round, graph, draws), sum_by_algebra(round, graph, draws))
            << name_of(model) << " " << users;
      }
    }
  }
}

TEST(Simulation, MasksBetweenRemainingUsersCancel) {
  const MaskGraph graph = MaskGraph::complete(50);
  Draws draws = random_draws(TrustModel::gopa, graph, 1, 0);
  const Round round{.model = TrustModel::gopa, .rounds = 1, .mask_scale = 1e6, .grid = 0};
  Units sum = 0;
  for (std::size_t u = 0; u < 50; ++u) sum += draws.values[u] + draws.noise[u];
  EXPECT_EQ(sum_by_messages(round, graph, draws), sum);
  draws.dropped[7] =
      true;  // its masks are not in `residue`, so new ones are drawn and stay in the sum
  EXPECT_NE(sum_by_messages(round, graph, draws), sum - draws.values[7] - draws.noise[7]);
}

TEST(Simulation, EveryProtocolHasItsPredictedError) {
  // 2000 runs: the variance of the errors is known to 3.2 %, its root to 1.6 %; 8 % are five
  // deviations, false alarms one in a million each
  for (const TrustModel model : {TrustModel::central, TrustModel::local, TrustModel::shuffle,
                                 TrustModel::gopa, TrustModel::ring, TrustModel::walk}) {
    AveragingSimulation settings{.model = model,
                                 .users = model == TrustModel::shuffle ? 400 : 40,
                                 .delta = 1e-4,
                                 .runs = 2000};
    if (model == TrustModel::ring || model == TrustModel::walk) settings.rounds = 3;
    for (const std::int64_t by_messages : {0, 1000}) {
      settings.message_by_message = by_messages;
      const AveragingOutcome outcome = simulate_averaging(settings);
      EXPECT_NEAR(outcome.measured / outcome.predicted, 1, 0.08) << name_of(model);
      EXPECT_LE(outcome.cost.exact, 1 + 1e-5) << name_of(model);
      EXPECT_EQ(outcome.message_by_message, by_messages > 0);
    }
  }
}

TEST(Simulation, AnAggregatedMeanHasTheVarianceOfATrustedCurator) {
  // The variance of 40000 runs is known to 0.71 % (one deviation): within 3 % fails by chance once
  // in 40000 tests. 0.1 % is the masks' part.
  const AveragingOutcome outcome =
      simulate_averaging({.model = TrustModel::gopa, .users = 10'000, .runs = 40'000});
  EXPECT_NEAR(outcome.variance_ratio(), 1, 0.03);
  EXPECT_NEAR(outcome.predicted / outcome.curator, 1, 0.001);
  EXPECT_NEAR(outcome.local / outcome.curator, 100, 1e-9);  // √n
}

TEST(Simulation, CollusionLosesTheNoiseOfTheColluders) {
  const AveragingOutcome half =
      simulate_averaging({.model = TrustModel::gopa, .users = 100, .honest = 0.5, .runs = 2});
  EXPECT_NEAR(std::pow(half.predicted / half.curator, 2), 2, 0.01);
  EXPECT_EQ(half.honest_users, 50);
  EXPECT_LE(half.cost.exact, 1);
  EXPECT_GT(half.cost.paper, half.cost.exact);
}

TEST(Simulation, DropoutsAddErrorAndNoPrivacy) {
  const AveragingOutcome all =
      simulate_averaging({.model = TrustModel::gopa, .users = 100, .runs = 50});
  const AveragingOutcome less =
      simulate_averaging({.model = TrustModel::gopa, .users = 100, .dropouts = 0.05, .runs = 400});
  EXPECT_EQ(less.honest_users, 95);
  EXPECT_GT(less.measured, 5 * all.measured);
  EXPECT_NEAR(less.measured / less.predicted, 1, 0.2);  // five deviations of 400 runs
  EXPECT_GE(less.noise, all.noise);                     // fewer users contribute noise
  EXPECT_THROW((void)simulate_averaging(
                   {.model = TrustModel::gopa, .users = 10, .honest = 0.5, .dropouts = 0.5}),
               OutsideConditions);
}

TEST(Simulation, ARandomGraphNeedsTheTheoremsDegree) {
  EXPECT_THROW(
      (void)simulate_averaging({.model = TrustModel::gopa, .users = 300, .degree = 20, .runs = 2}),
      OutsideConditions);
  const std::int64_t degree = gopa_least_degree(300, 300, 1e-6 / 6);
  const AveragingOutcome outcome =
      simulate_averaging({.model = TrustModel::gopa, .users = 300, .degree = degree, .runs = 2});
  EXPECT_LE(outcome.cost.exact, 1 + 1e-6);
  const MaskGraph graph = MaskGraph::random(300, degree);
  const double exact = std::sqrt(std::ranges::max(
      gopa_squared_mus(graph.among_first(300), outcome.noise, outcome.pair_noise)));
  EXPECT_LT(epsilon_of(gaussian_profile(exact), 1e-6, Side::upper),
            outcome.cost.exact);  // one actual graph costs less than the theorem's bound
}

TEST(Simulation, RefusesNonsense) {
  EXPECT_THROW((void)simulate_averaging({.users = 1}), InvalidValue);
  EXPECT_THROW((void)simulate_averaging({.users = 1'000'000}), InvalidValue);
  EXPECT_THROW((void)simulate_averaging({.model = TrustModel::local, .dropouts = 0.1}),
               InvalidValue);
  EXPECT_THROW((void)simulate_averaging({.model = TrustModel::ring, .honest = 0.9}), InvalidValue);
  EXPECT_THROW((void)simulate_averaging({.model = TrustModel::gopa, .rounds = 2}), InvalidValue);
}

TEST(TokenWalk, NoColludersEverHoldTheTokenMoreOftenThanIsCharged) {
  std::size_t ended = 0;
  for (const auto& [users, colluders, rounds] :
       {std::tuple{30, 1, 1}, {30, 1, 8}, {200, 20, 10}, {10, 9, 3}, {1000, 1, 1}}) {
    const TokenWalk walk{.users = users, .colluders = colluders, .rounds = rounds};
    for (int run = 0; run < 200; ++run) {
      const auto path = walk.path();
      std::vector<std::int64_t> met(static_cast<std::size_t>(users));
      for (const MaskGraph::User at : path) ++met[at];
      std::sort(met.begin(), met.end(), std::greater<>());
      EXPECT_LE(std::accumulate(met.begin(), met.begin() + colluders, std::int64_t{0}),
                walk.visits());
      EXPECT_GT(static_cast<double>(path.size()), 0.2 * static_cast<double>(walk.hops()));
      ended += static_cast<std::int64_t>(path.size()) < walk.hops() ? 1U : 0U;
    }
  }
  EXPECT_GT(ended, 0U);    // the limit takes effect
  EXPECT_LT(ended, 500U);  // and at least half of the walks stay below it
}

// Returns μ², for σ = 1, of the view that users 0, …, colluders - 1 and readers of the published
// sum have of the last user.
double seen(const TokenWalk& walk, const std::vector<MaskGraph::User>& path) {
  double sum = 0;
  double mine = 0;
  double noises = 0;
  std::int64_t left = walk.rounds;
  for (const MaskGraph::User at : path) {
    if (at < walk.colluders) {
      if (mine > 0) sum += mine * mine / noises;
      mine = noises = 0;
      continue;
    }
    noises += 1;
    if (at + 1 == walk.users && left-- > 0) mine += 1;
  }
  return sum + mine * mine / (noises + static_cast<double>(walk.publication()));
}

TEST(TokenWalk, SimulatedWalksRevealAtMostWhatIsCharged) {
  for (const auto& [users, colluders, rounds, sigma, epsilon] :
       {std::tuple{20, 1, 1, 1.0, 1.0}, {20, 1, 5, 2.0, 1.0}, {12, 4, 40, 12.0, 0.5}}) {
    const TokenWalk walk{.users = users, .colluders = colluders, .rounds = rounds};
    constexpr int walks = 4000;
    double mean = 0;
    double squares = 0;
    for (int run = 0; run < walks; ++run) {
      const double mu = std::sqrt(seen(walk, walk.path())) / sigma;
      const double one = mu > 0 ? gaussian_profile(mu).delta(epsilon).estimate() : 0;
      mean += one / walks;
      squares += one * one / walks;
    }
    const double deviation = std::sqrt((squares - mean * mean) / walks);
    const double charged =
        delta(fill(walk.plan(hole), sigma), Epsilon(epsilon), {.by = Method::pld}).value.upper;
    EXPECT_LE(mean - 5 * deviation, charged) << users;  // false alarms below one in a million
    if (rounds < 40) continue;
    // With many visits the limit is nearly attained: half of it would be too low.
    const Plan half =
        std::floor(static_cast<double>(walk.visits()) / 2) *
        Plan(WalkSum{sigma, static_cast<double>(users), static_cast<double>(colluders)});
    EXPECT_GT(mean, delta(half, Epsilon(epsilon), {.by = Method::pld}).value.upper);
  }
}

TEST(TokenWalk, CostsAsMuchAsTheLeafOfAWalk) {
  const AveragingOutcome outcome =
      simulate_averaging({.model = TrustModel::walk, .users = 50, .rounds = 2, .runs = 2});
  const TokenWalk walk{.users = 50, .colluders = 1, .rounds = 2};
  EXPECT_EQ(
      outcome.cost.exact,
      epsilon(fill(walk.plan(hole), outcome.noise), Delta(1e-6), {.by = Method::pld}).value.upper);
  EXPECT_LE(outcome.cost.exact, 1);
}

}  // namespace
}  // namespace sotto
