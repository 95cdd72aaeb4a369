// Protocols without a trusted curator: rounded sums against their enumerated distribution, GOPA
// against its covariance, gossip against what an observer can recover, and the conditions of the
// theorems.
#include "privacy/api/federated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../oracle/oracle.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/graph.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using Distribution = std::vector<double>;  // of -reach … reach

constexpr int reach = 400;

double between(double from, double to, double r) {
  return (std::erfc(from / (r * std::sqrt(2.0))) - std::erfc(to / (r * std::sqrt(2.0)))) / 2;
}

Distribution rounded_gaussian(double r) {
  Distribution distribution(2 * reach + 1);
  for (int k = -reach; k <= reach; ++k)
    distribution[k + reach] =
        k >= 0 ? between(k - 0.5, k + 0.5, r) : between(-k - 0.5, -k + 0.5, r);
  return distribution;
}

Distribution convolved(const Distribution& a, const Distribution& b) {
  Distribution sum(a.size(), 0);
  for (int i = -reach; i <= reach; ++i) {
    if (a[i + reach] == 0) continue;
    for (int k = std::max(-reach, i - reach); k <= std::min(reach, i + reach); ++k)
      sum[k + reach] += a[i + reach] * b[k - i + reach];
  }
  return sum;
}

Distribution sum_of(int h, double r) {
  const Distribution one = rounded_gaussian(r);
  Distribution sum = one;
  for (int i = 1; i < h; ++i) sum = convolved(sum, one);
  return sum;
}

// Returns the distribution of round(N(0, h r²) + h-1 uniforms): the density of N plus h uniforms at
// whole numbers, by Simpson's rule on a fine grid for each uniform.
Distribution rounding_of(int h, double r) {
  const int fine = 64;  // points per unit
  const int n = reach * fine;
  std::vector<double> tail(2 * n + 1);  // the density on the fine grid
  const double s = r * std::sqrt(static_cast<double>(h));
  for (int i = -n; i <= n; ++i)
    tail[i + n] =
        std::exp(-0.5 * std::pow(i / (s * fine), 2)) / (s * std::sqrt(2 * std::acos(-1.0)));
  for (int turn = 0; turn < h; ++turn) {
    std::vector<double> next(tail.size(), 0);
    for (int i = fine; i < static_cast<int>(tail.size()) - fine; ++i) {
      double sum = 0;  // over [-1/2, 1/2]
      for (int j = -fine / 2; j <= fine / 2; ++j)
        sum += tail[i + j] * (std::abs(j) == fine / 2 ? 1 : (j + fine / 2) % 2 == 1 ? 4 : 2);
      next[i] = sum / (3.0 * fine);
    }
    tail = std::move(next);
  }
  Distribution distribution(2 * reach + 1);
  for (int k = -reach; k <= reach; ++k)
    distribution[k + reach] = std::abs(k) < reach - 2 * h ? tail[k * fine + n] : 0;
  return distribution;
}

double distance(const Distribution& a, const Distribution& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / 2;
}

TEST(RoundedSum, IsARoundingOfTheGaussianUpToItsBound) {
  for (const int h : {2, 5}) {
    for (const double r : {0.5, 0.7, 1.0}) {
      const double exact = distance(sum_of(h, r), rounding_of(h, r));
      const double bound = rounded_sum_distance(r, h);
      EXPECT_GE(bound, exact) << h << " " << r;
      // the bound has the right order of magnitude
      EXPECT_LE(bound, 60 * h * exact) << h << " " << r;
      EXPECT_LT(bound, 1) << h << " " << r;
    }
  }
}

// The exponent of the distance is that of the bound.
TEST(RoundedSum, HasTheExponentOfItsBound) {
  const double pi = std::acos(-1.0);
  for (const int h : {2, 5}) {
    const double first = std::log(distance(sum_of(h, 0.7), rounding_of(h, 0.7)));
    const double second = std::log(distance(sum_of(h, 1.0), rounding_of(h, 1.0)));
    const double slope = 2 * pi * pi * (h - 1) / h;  // as a function of r²
    EXPECT_NEAR((first - second) / (1 - 0.49), slope, 0.12 * slope) << h;
    const double bound =
        std::log(rounded_sum_distance(0.7, h)) - std::log(rounded_sum_distance(1.0, h));
    EXPECT_NEAR(bound / (1 - 0.49), slope, 0.05 * slope) << h;
  }
}

TEST(RoundedSum, HasTheProfileOfTheGaussianAndItsSlack) {
  for (const int h : {1, 2, 5}) {
    for (const double r : {1.0, 4.0}) {
      const Distribution distribution = sum_of(h, r);
      for (const int shift : {1, 3}) {
        for (const double epsilon : {0.0, 0.3, 1.0}) {
          double exact = 0;
          for (int k = -reach + shift; k <= reach; ++k)
            exact += std::max(
                0.0, distribution[k - shift + reach] - std::exp(epsilon) * distribution[k + reach]);
          const double gaussian =
              gaussian_delta(epsilon, shift / (r * std::sqrt(static_cast<double>(h)))).upper();
          const double slack = (1 + std::exp(epsilon)) * rounded_sum_distance(r, h);
          EXPECT_LE(exact, gaussian + slack + 1e-13)
              << h << " " << r << " " << shift << " " << epsilon;
          // rounding alone protects little
          EXPECT_GE(exact, 0.5 * gaussian) << h << " " << r << " " << shift << " " << epsilon;
        }
      }
    }
  }
}

TEST(RoundedSum, IsFreeForOnePartyAndAlmostFreeAtFourGridSteps) {
  EXPECT_EQ(rounded_sum_slack(4, 1, 1e6, 1e3), 0);
  EXPECT_EQ(rounded_sum_slack(0.1, 1, 1, 1), 0);
  for (const std::int64_t h : {2, 3, 10, 100, 10000}) {
    const double slack = rounded_sum_slack(4, h, 1e6, 1e3);
    EXPECT_GT(slack, 0) << h;
    EXPECT_LT(slack, 1e-25) << h;
  }
  EXPECT_GT(rounded_sum_slack(1000, 2, 1, 1), 0);  // rounded up from below the smallest double
  EXPECT_EQ(rounded_sum_slack(0.2, 2, 1, 1), 1);
  EXPECT_GT(rounded_sum_slack(1, 2, 2, 1), rounded_sum_distance(1, 2));
  EXPECT_THROW(rounded_sum_slack(4, 0, 1, 1), InvalidValue);
  EXPECT_THROW(rounded_sum_slack(-1, 2, 1, 1), InvalidValue);
}

Graph complete(std::size_t m) {
  Graph graph{m, {}};
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = a + 1; b < m; ++b) graph.edges.emplace_back(a, b);
  }
  return graph;
}

Graph path(std::size_t m) {
  Graph graph{m, {}};
  for (std::size_t a = 0; a + 1 < m; ++a) graph.edges.emplace_back(a, a + 1);
  return graph;
}

TEST(Gopa, HasTheMuOfTheCovariance) {
  for (const oracle::Row& row : oracle::rows("federated", "kind", "gopa")) {
    const double own = row.number("a");
    const double mask = row.number("b");
    const std::int64_t m = row.count("c");
    const Real theta = gopa_complete_squared_mu(own, mask, m);
    EXPECT_NEAR(theta.estimate(), row.number("value"), 1e-14 * row.number("value"));
    EXPECT_LE(theta.upper(), gopa_complete_theorem(own, mask, m).lower());
    for (const double squared_mu :
         gopa_squared_mus(complete(static_cast<std::size_t>(m)), own, mask)) {
      EXPECT_GE(squared_mu, theta.lower() * (1 - 1e-15));
      EXPECT_NEAR(squared_mu, theta.upper(), 1e-9 * theta.upper());
    }
  }
}

TEST(Gopa, IsBoundedOnConnectedGraphs) {
  for (const std::size_t m : {2, 5, 20}) {
    const auto honest = static_cast<std::int64_t>(m);
    for (const double mask : {1.0, 10.0, 100.0}) {
      const double bound = gopa_connected_squared_mu(1, mask, honest).upper();
      EXPECT_LE(bound, gopa_connected_theorem(1, mask, honest).upper());
      Graph star{m, {}};
      for (std::size_t v = 1; v < m; ++v) star.edges.emplace_back(0, v);
      for (const Graph& graph : {path(m), star, complete(m)}) {
        const auto thetas = gopa_squared_mus(graph, 1, mask);
        EXPECT_LE(*std::max_element(thetas.begin(), thetas.end()), bound * (1 + 1e-9))
            << m << " " << mask;
      }
    }
    // with masks much wider than own noise, the end of a path attains the bound
    EXPECT_NEAR(gopa_squared_mus(path(m), 1, 1e3).front(),
                gopa_connected_squared_mu(1, 1e3, honest).upper(),
                1e-3 * gopa_connected_squared_mu(1, 1e3, honest).upper());
  }
}

TEST(Gopa, DependsOnTheComponentForUniformMasks) {
  Graph graph = path(4);
  graph.users = 6;  // two isolated users
  const auto thetas = gopa_uniform_squared_mus(graph, 2);
  EXPECT_DOUBLE_EQ(thetas[0], 1.0 / 16);
  EXPECT_DOUBLE_EQ(thetas[5], 1.0 / 4);
}

TEST(Gopa, RefusesARandomGraphThatIsTooSparse) {
  EXPECT_THROW(gopa_random_share({1000, 1000, 70, 1e-6}), OutsideConditions);
  EXPECT_THROW(gopa_random_share({80, 80, 79, 1e-3}), OutsideConditions);
  EXPECT_NO_THROW(gopa_random_share({1000, 1000, 82, 1e-6}));
}

// A table of the paper: own noise c/(ε sqrt(n)) with c² = 2 log(1.25/δ'), and masks by κ with
// 10 δ' = a (δ'/1.25)^(κ/(κ+1)).
TEST(Gopa, ReproducesTheTableOfThePaper) {
  const auto own = [](double n) { return std::sqrt(2 * std::log(1.25 * n * n) / n) / 0.1; };
  const auto kappa = [](double n, double a) {
    const double x = std::log(10 / (n * n) / a) / std::log(1 / (n * n) / 1.25);
    return x / (1 - x);
  };
  const double k10 = own(1e4);
  EXPECT_NEAR(own(1000), 1.676, 5e-4);
  EXPECT_NEAR(own(500), 2.250, 5e-4);
  EXPECT_NEAR(k10, 0.611, 5e-4);
  EXPECT_NEAR(own(1000) * std::sqrt(kappa(1000, 1.25)), 3.78, 5e-3);
  EXPECT_NEAR(k10 * std::sqrt(kappa(1e4, 1.25)), 1.63, 5e-3);
  EXPECT_NEAR(own(1000) * std::sqrt(kappa(1000, 1.25) * 1e6 / 3), 2184.1, 0.06);
  EXPECT_NEAR(k10 * std::sqrt(kappa(1e4, 1.25) * 1e8 / 3), 9392.0, 0.06);
  const double delta = 1e-7 / 3.75;
  const double share = gopa_random_share({10000, 10000, 105, delta}).estimate();
  EXPECT_THROW(gopa_random_share({10000, 10000, 104, delta}), OutsideConditions);
  EXPECT_NEAR(k10 * std::sqrt(kappa(1e4, 3.75) * 1e4 * share), 44.7, 0.05);
  const double small = gopa_random_share({1000, 1000, 78, 1e-5 / 3.75}).estimate();
  EXPECT_NEAR(own(1000) * std::sqrt(kappa(1000, 3.75) * 1e3 * small), 53.4, 0.05);
}

// On a ring of nine users, 3 m₁(1) - m₁(0) - own is the value two steps away after two rounds. A
// sum over messages would give a third of the true share.
TEST(Gossip, CombinesMessages) {
  std::vector<std::vector<double>> ring(9, std::vector<double>(9, 0));
  for (std::size_t v = 0; v < 9; ++v)
    ring[v][v] = ring[v][(v + 1) % 9] = ring[v][(v + 8) % 9] = 1.0 / 3;
  const auto shares = gossip_shares(ring, 2, 0);
  EXPECT_NEAR(shares[2], 1, 1e-8);
  EXPECT_NEAR(shares[7], 1, 1e-8);
  EXPECT_GE(shares[2], 0.99);
  EXPECT_LE(shares[4], 1e-8);  // too far away for two rounds
  const auto once = gossip_shares(ring, 1, 0);
  EXPECT_NEAR(once[1], 1, 1e-8);
  EXPECT_LE(once[2], 1e-8);
}

// Returns the message of OutsideConditions, or an empty string.
template <class Call>
std::string refusal_of(Call call) {
  try {
    (void)call();
  } catch (const OutsideConditions& error) {
    return error.what();
  }
  return "";
}

TEST(ClosedForms, NameTheValueOutsideTheirConditions) {
  const auto ends = [](const std::string& text, const std::string& end) {
    return text.ends_with(end + ": use tight or pld");
  };
  const std::string shuffled = refusal_of([] { return shuffled_epsilon(10, 10000, 1e-6); });
  EXPECT_TRUE(ends(shuffled, "at most log(n/(16 log(2/delta))) = 3.763, and it is 10")) << shuffled;
  const std::string few = refusal_of([] { return ring_histogram_epsilon(0.4, 900, 1, 1e-6); });
  EXPECT_TRUE(ends(few, "more than 1000 users, and there are 900")) << few;
  EXPECT_EQ(refusal_of([] { return ring_histogram_epsilon(0.4, 1001, 1, 1e-6); }), "");
  EXPECT_FALSE(refusal_of([] { return ring_histogram_epsilon(0.4, 1000, 1, 1e-6); }).empty());
  const std::string local = refusal_of([] { return ring_histogram_epsilon(0.75, 2000, 1, 1e-6); });
  EXPECT_TRUE(ends(local, "a local epsilon of at most 1/2, and it is 0.75")) << local;
  const std::string delta = refusal_of([] { return ring_histogram_epsilon(0.4, 2000, 1, 0.02); });
  EXPECT_TRUE(ends(delta, "a delta of at most 1/100, and it is 0.02")) << delta;
  const std::string walk =
      refusal_of([] { return walk_sgd_epsilon(Real(1) / 20, 100, 1, 100, 0.75); });
  EXPECT_TRUE(ends(walk, "a delta of at most 1/2, and it is 0.75")) << walk;
  const std::string step = refusal_of([] { return walk_sgd_epsilon(1, 100, 1, 100, 1e-6); });
  EXPECT_TRUE(ends(step, "to be at most 1, and it is 5.29881")) << step;
  const std::string total =
      refusal_of([] { return walk_sgd_epsilon(Real(1) / 20, 1000, 900, 10'000, 1e-5); });
  EXPECT_TRUE(ends(total, "(2 sqrt(2) - 2)^2 log(1/delta) = 7.90122, and it is 23.7196")) << total;
}

// ε grows with the coalition until the conditions fail, and from there on the theorem is refused.
TEST(WalkTheorem, GrowsWithTheCoalition) {
  for (const std::int64_t users : {2, 3, 10, 100, 1000}) {
    for (const std::int64_t contributions : {1, 10, 100, 1000, 100'000}) {
      double before = 0;
      bool refused = false;
      for (std::int64_t colluders = 1; colluders < users; colluders += 1 + colluders / 20) {
        double here = 0;
        if (refusal_of([&] {
              here = walk_sgd_epsilon(Real(1) / 20, users, colluders, contributions, 1e-5).upper();
            }).empty()) {
          EXPECT_FALSE(refused) << users << " " << contributions << " " << colluders;
          EXPECT_GE(here, before * (1 - 1e-12))
              << users << " " << contributions << " " << colluders;
          before = here;
        } else {
          refused = true;
        }
      }
    }
  }
}

// If the token is with the coalition just before and just after a contribution, the coalition sees
// it under its own noise only. With probability close to 1, at least m of K contributions are
// exposed so, and these are m Gaussian steps.
TEST(WalkTheorem, IsNeverBelowAnAttack) {
  constexpr double delta = 1e-5;
  for (const std::int64_t users : {10, 100, 1000}) {
    for (const double share : {0.3, 0.5, 0.8, 0.9, 0.99}) {
      const auto colluders =
          std::min(users - 1, static_cast<std::int64_t>(share * static_cast<double>(users)));
      for (const std::int64_t contributions : {10, 100, 1000, 10'000}) {
        const double exposed =
            std::pow(static_cast<double>(colluders) / static_cast<double>(users), 2);
        const double mean = static_cast<double>(contributions) * exposed;
        // fewer are exposed with probability below 1/1000
        const double few = std::floor(mean - 4 * std::sqrt(mean * (1 - exposed)) - 1);
        if (few < 1) continue;
        double epsilon = 0;
        if (!refusal_of([&] {
               epsilon =
                   walk_sgd_epsilon(Real(1) / 20, users, colluders, contributions, delta).upper();
             }).empty())
          continue;
        EXPECT_LE(0.999 * gaussian_delta(epsilon, std::sqrt(few) / 20).lower(), delta)
            << users << " " << colluders << " " << contributions;
      }
    }
  }
}

TEST(WalkTheorem, HasTheExpectedInverseGap) {
  for (const auto& [users, colluders] :
       {std::pair{10, 1}, {10, 5}, {10, 8}, {1000, 1}, {1000, 700}}) {
    const double p = static_cast<double>(colluders + 1) / users;
    double sum = 0;
    for (int g = 1; g < 100'000; ++g) sum += p * std::pow(1 - p, g - 1) / g;
    EXPECT_NEAR(expected_inverse_gap(users, colluders).estimate(), sum, 1e-9)
        << users << " " << colluders;
  }
  EXPECT_EQ(expected_inverse_gap(10, 9).upper(), 1);
}

TEST(ClosedForms, AreThoseOfThePapers) {
  EXPECT_NEAR(shuffled_epsilon(1, 10000, 1e-6).estimate(), 0.214, 5e-4);
  EXPECT_NEAR(walk_sgd_epsilon(Real(1) / 20, 100, 1, 100, 1e-7).estimate(), 2.279, 5e-4);
  EXPECT_NEAR(walk_sgd_epsilon(Real(1) / 20, 10000, 1, 100, 1e-7).estimate(), 2.279, 5e-4);
  EXPECT_THROW(walk_sgd_epsilon(1, 100, 1, 100, 1e-7), OutsideConditions);
  EXPECT_THROW(shuffled_epsilon(10, 10000, 1e-6), OutsideConditions);
  EXPECT_THROW(ring_histogram_epsilon(0.4, 900, 1, 1e-6), OutsideConditions);
  EXPECT_NEAR(gopa_epsilon(0.01, 1e-5).estimate(),
              0.005 + 0.1 * std::sqrt(2 * std::log(2 / (1e-5 * std::sqrt(2 * std::acos(-1.0))))),
              1e-12);
}

}  // namespace
}  // namespace sotto
