// Groups of units for every leaf: no bound for a group is below the success of an attack on all its
// units. The attacks are summed or integrated here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plan/fields.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using Attack = std::function<double(double epsilon)>;  // δ(ε) of two distributions that a group of
                                                       // units tells apart

double normal_tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }

Attack gaussian_attack(double mu) {
  return [mu](double e) {
    return normal_tail(e / mu - mu / 2) - std::exp(e) * normal_tail(e / mu + mu / 2);
  };
}

double hockey_stick(const std::vector<double>& p, const std::vector<double>& q, double e) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(e) * q[i]);
  return sum;
}

Attack discrete_attack(std::vector<double> p, std::vector<double> q) {
  return [p = std::move(p), q = std::move(q)](double e) {
    return std::max(hockey_stick(p, q, e), hockey_stick(q, p, e));
  };
}

// Densities at distance d, by the midpoint rule over [-reach, reach + d].
Attack density_attack(const std::function<double(double)>& density, double d, double reach) {
  std::vector<double> p;
  std::vector<double> q;
  constexpr int cells = 40'000;
  const double width = (2 * reach + d) / cells;
  for (int i = 0; i < cells; ++i) {
    const double x = -reach + (i + 0.5) * width;
    q.push_back(width * density(x));
    p.push_back(width * density(x - d));
  }
  return discrete_attack(std::move(p), std::move(q));
}

Attack laplace_attack(double x) {
  return [x](double e) { return e < x ? -std::expm1((e - x) / 2) : 0; };
}

// Noise on the whole numbers with those weights, moved by d.
Attack whole_attack(const std::function<double(int)>& weight, int d) {
  std::vector<double> p;
  std::vector<double> q;
  double total = 0;
  for (int x = -400; x <= 400 + d; ++x) total += weight(x);
  for (int x = -400; x <= 400 + d; ++x) {
    q.push_back(weight(x) / total);
    p.push_back(weight(x - d) / total);
  }
  return discrete_attack(p, q);
}

// k independent answers of binary randomized response, all moved: the number of ones.
std::vector<double> binomial(int n, double p) {
  std::vector<double> law;
  for (int i = 0; i <= n; ++i) {
    law.push_back(std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                           i * std::log(p) + (n - i) * std::log1p(-p)));
  }
  return law;
}
std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum(a.size() + b.size() - 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  }
  return sum;
}
Attack response_attack(double truth, int k) {
  return discrete_attack(binomial(k, truth), binomial(k, 1 - truth));
}

// k of n shuffled binary reports are moved, all others say the same.
Attack shuffled_attack(double truth, int n, int k) {
  const std::vector<double> others = binomial(n - k, 1 - truth);
  return discrete_attack(convolved(others, binomial(k, truth)),
                         convolved(others, binomial(k, 1 - truth)));
}

// Staircase noise at γ = 1/(1 + e^(ε/2)) with sensitivity 1, moved by k: constant between the
// corners of both.
Attack staircase_attack(double epsilon, int k) {
  const double gamma = 1 / (1 + std::exp(epsilon / 2));
  const auto density = [=](double x) {
    const double at = std::abs(x);
    const double step = std::floor(at);
    return std::exp(-epsilon * (at - step < gamma ? step : step + 1)) * (-std::expm1(-epsilon)) /
           (2 * (gamma + std::exp(-epsilon) * (1 - gamma)));
  };
  std::vector<double> corners;
  for (int i = -200; i <= 200; ++i) {
    for (const double x : {static_cast<double>(i), i + gamma, i - gamma}) corners.push_back(x);
  }
  std::sort(corners.begin(), corners.end());
  std::vector<double> p;
  std::vector<double> q;
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const double middle = (corners[i] + corners[i + 1]) / 2;
    const double width = corners[i + 1] - corners[i];
    q.push_back(width * density(middle));
    p.push_back(width * density(middle - k));
  }
  return discrete_attack(p, q);
}

// μ² of users first, …, first + k - 1 of a graph who all move by 1: xᵀ(own² I + mask² L)⁻¹x, by
// elimination.
double graph_mu(const std::vector<std::pair<int, int>>& edges, int users, double own, double mask,
                int first, int k) {
  std::vector<std::vector<double>> a(static_cast<std::size_t>(users),
                                     std::vector<double>(static_cast<std::size_t>(users) + 1, 0));
  const auto at = [&](int i, int j) -> double& {
    return a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  };
  for (int i = 0; i < users; ++i) {
    at(i, i) = own * own;
    at(i, users) = i >= first && i < first + k ? 1 : 0;
  }
  for (const auto& [i, j] : edges) {
    at(i, i) += mask * mask;
    at(j, j) += mask * mask;
    at(i, j) -= mask * mask;
    at(j, i) -= mask * mask;
  }
  for (int i = 0; i < users; ++i) {
    for (int j = 0; j < users; ++j) {
      if (j == i) continue;
      const double times = at(j, i) / at(i, i);
      for (int c = i; c <= users; ++c) at(j, c) -= times * at(i, c);
    }
  }
  double sum = 0;
  for (int i = first; i < first + k; ++i) sum += at(i, users) / at(i, i);
  return std::sqrt(sum);
}

// A mixture of N(j, σ²) with j of a group drawn, against none of it.
Attack mixture_attack(const std::vector<double>& drawn, double sigma) {
  std::vector<double> p;
  std::vector<double> q;
  const double reach = 12 * sigma + static_cast<double>(drawn.size());
  constexpr int cells = 40'000;
  const double width = 2 * reach / cells;
  for (int i = 0; i < cells; ++i) {
    const double x = -reach + (i + 0.5) * width;
    const auto density = [&](double d) {
      return width * std::exp(-(x - d) * (x - d) / (2 * sigma * sigma)) /
             (sigma * std::sqrt(2 * M_PI));
    };
    q.push_back(density(0));
    p.push_back(0);
    for (std::size_t j = 0; j < drawn.size(); ++j)
      p.back() += drawn[j] * density(static_cast<double>(j));
  }
  return discrete_attack(p, q);
}

// One cycle of a walk: m hops outside the coalition, of which the group has j.
Attack walk_attack(double sigma, int users, int colluders, int group) {
  return [=](double e) {
    const double visit = static_cast<double>(colluders) / users;
    const double own = static_cast<double>(group) / (users - colluders);
    double sum = 0;
    double left = visit;
    for (int m = 1; m < 400; ++m) {
      left *= 1 - visit;
      const std::vector<double> law = own < 1 ? binomial(m, own) : std::vector<double>();
      for (int j = 1; j <= m; ++j) {
        const double here = own < 1 ? law[static_cast<std::size_t>(j)] : (j == m ? 1 : 0);
        if (here > 1e-15) sum += left * here * gaussian_attack(j / (sigma * std::sqrt(m)))(e);
      }
    }
    return sum;
  };
}

struct Case {
  std::string plan;
  std::function<Attack(int k)> attack;
};

std::vector<std::pair<int, int>> complete(int users) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < users; ++i) {
    for (int j = 0; j < i; ++j) edges.emplace_back(i, j);
  }
  return edges;
}
std::vector<std::pair<int, int>> path(int users) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 1; i < users; ++i) edges.emplace_back(i - 1, i);
  return edges;
}

double truth_of(double local) { return 1 / (1 + std::exp(-local)); }

// An attack for every leaf, and for sampled and parallel plans.
std::vector<Case> cases() {
  const auto discrete_gaussian = [](double sigma) {
    return [sigma](int x) { return std::exp(-x * x / (2 * sigma * sigma)); };
  };
  const auto discrete_laplace = [](double b) {
    return [b](int x) { return std::exp(-std::abs(x) / b); };
  };
  const auto arsinh = [](double rho, double a) {
    return [=](double x) {  // N(0, 1/(2ρ)) at a sinh(x/a)
      const double y = a * std::sinh(x / a);
      return std::exp(-rho * y * y) * std::sqrt(rho / M_PI) * std::cosh(x / a);
    };
  };
  return {
      {"gaussian(2)", [](int k) { return gaussian_attack(k / 2.0); }},
      {"laplace(3)", [](int k) { return laplace_attack(k / 3.0); }},
      {"discrete_gaussian(1.5)", [=](int k) { return whole_attack(discrete_gaussian(1.5), k); }},
      {"discrete_gaussian(0.4)", [=](int k) { return whole_attack(discrete_gaussian(0.4), k); }},
      {"discrete_laplace(3)", [=](int k) { return whole_attack(discrete_laplace(3), k); }},
      {"randomized_response(0.7)", [](int k) { return response_attack(0.7, k); }},
      {"randomized_response(0.6, 4)",
       [](int k) {
         return discrete_attack(binomial(k, 0.6), binomial(k, 0.4 / 3));
       }},  // of one value alone
      {"arsinh(0.05, 60)", [=](int k) { return density_attack(arsinh(0.05, 60), k, 60); }},
      {"staircase(0.8)", [](int k) { return staircase_attack(0.8, k); }},
      // two candidates whose scores move apart by k in all
      {"exponential(0.7)",
       [](int k) {
         return [k](double e) {
           double most = 0;
           for (double t = -5; t <= 5; t += 0.01) {
             const double p = truth_of(t + 0.7 * k);
             const double q = truth_of(t);
             most = std::max(most, std::max(0.0, p - std::exp(e) * q) +
                                       std::max(0.0, 1 - p - std::exp(e) * (1 - q)));
           }
           return most;
         };
       }},
      {"catastrophe(0.5, 0.01)",
       [](int k) { return [k](double e) { return 1 - 0.99 * (1 - laplace_attack(0.5 * k)(e)); }; }},
      {"aggregated_gaussian(1, 9)", [](int k) { return gaussian_attack(k / 3.0); }},
      {"gopa_complete(2, 5, 8)",
       [](int k) { return gaussian_attack(graph_mu(complete(8), 8, 2, 5, 0, std::min(k, 8))); }},
      {"gopa_connected(2, 5, 8)",
       [](int k) { return gaussian_attack(graph_mu(path(8), 8, 2, 5, 0, std::min(k, 8))); }},
      // the complete graph is better than any random one; for each of the group the graph may be
      // bad, and nobody sees which
      {"gopa_random(30, 300, 1000, 1000, 95, 1e-7)",
       [](int k) { return gaussian_attack(k / (30 * std::sqrt(1000.0))); }},
      {"shuffle(1, 12)", [](int k) { return shuffled_attack(truth_of(1), 12, k); }},
      {"ring_sum(4)", [](int k) { return gaussian_attack(k / 4.0); }},
      {"ring_histogram(0.5, 2, 13)", [](int k) { return shuffled_attack(0.75, 12, k); }},
      {"walk_sum(2, 20, colluders=3)", [](int k) { return walk_attack(2, 20, 3, k); }},
      {"walk_sgd(2, 20, colluders=3)",  // the next hop is the coalition's, for one contribution of
                                        // each
       [](int k) {
         return [k](double e) {
           double sum = 0;
           for (int exposed = 1; exposed <= k; ++exposed) {
             sum += binomial(k, 9.0 / 400)[static_cast<std::size_t>(exposed)] *
                    gaussian_attack(std::sqrt(exposed) / 2)(e);
           }
           return sum;
         };
       }},
      {"pure(0.4)", [=](int k) { return whole_attack(discrete_laplace(2.5), k); }},
      {"approx(0.5, 0.01)",
       [](int k) { return [k](double e) { return 1 - 0.99 * (1 - laplace_attack(0.5 * k)(e)); }; }},
      {"rdp(40, 2)", [](int k) { return gaussian_attack(k * std::sqrt(2 * 2.0 / 40)); }},
      {"zcdp(0.02)", [](int k) { return gaussian_attack(k * 0.2); }},
      {"tcdp(0.02, 100)", [](int k) { return gaussian_attack(k * 0.2); }},
      {"gdp(0.3)", [](int k) { return gaussian_attack(k * 0.3); }},
      // operators
      {"poisson(0.2, gaussian(1))", [](int k) { return mixture_attack(binomial(k, 0.2), 1); }},
      {"without_replacement(1, 10, gaussian(1))",
       [](int k) {
         return mixture_attack({1 - k / 10.0, k / 10.0}, 1);
       }},
      {"parallel(gaussian(2), laplace(3))",
       [](int k) { return gaussian_attack(std::sqrt(k) / 2); }},
  };
}

TEST(Groups, AreNeverBelowAnAttackOnAllTheirUnits) {
  for (const Case& one : cases()) {
    for (const int k : {1, 2, 5}) {
      const Plan plan = parse("group(" + std::to_string(k) + ", " + one.plan + ")");
      const Attack attack = one.attack(k);
      for (const double e : {0.0, 0.1, 0.5, 1.0, 2.0, 4.0}) {
        const double reached = attack(e);
        EXPECT_GE(delta(plan, Epsilon(e)).value.upper, reached * (1 - 1e-6) - 1e-12)
            << print(plan) << " at " << e;
      }
    }
  }
}

// For noise the attack is optimal, so it attains the bound for a group.
TEST(Groups, OfNoiseAreAttainedByTheAttack) {
  const std::set<std::string> exact{"gaussian(2)",
                                    "laplace(3)",
                                    "discrete_gaussian(1.5)",
                                    "discrete_gaussian(0.4)",
                                    "discrete_laplace(3)",
                                    "arsinh(0.05, 60)",
                                    "ring_sum(4)",
                                    "gdp(0.3)",
                                    "aggregated_gaussian(1, 9)",
                                    "walk_sum(2, 20, colluders=3)"};
  std::size_t seen = 0;
  for (const Case& one : cases()) {
    if (exact.count(one.plan) == 0) continue;
    ++seen;
    for (const int k : {2, 5}) {
      const Plan plan = parse("group(" + std::to_string(k) + ", " + one.plan + ")");
      const Attack attack = one.attack(k);
      for (const double e : {0.0, 0.5, 2.0}) {
        EXPECT_LE(delta(plan, Epsilon(e)).value.upper, attack(e) * 1.003 + 1e-6)
            << print(plan) << " at " << e;
      }
    }
  }
  EXPECT_EQ(seen, exact.size());
}

TEST(Groups, HaveAnAttackForEveryLeaf) {
  std::set<std::string> attacked;
  for (const Case& one : cases()) attacked.insert(one.plan.substr(0, one.plan.find('(')));
  plan_detail::any_kind_of_leaf(
      [&]<class T>(const T& /*node*/) {
        EXPECT_TRUE(attacked.count(std::string(plan_detail::name_of<T>)) == 1)
            << plan_detail::name_of<T>;
        return false;
      },
      static_cast<const Node*>(nullptr));
}

// The graph may be bad for each of the users: 3 delta each.
TEST(Groups, OfARandomGraphFailForEachOfTheirUsers) {
  const std::string leaf = "gopa_random(30, 300, 1000, 1000, 95, 1e-7)";
  EXPECT_GE(delta(parse("group(4, " + leaf + ")"), Epsilon(50)).value.upper, 12e-7 * (1 - 1e-12));
  EXPECT_LE(delta(parse(leaf), Epsilon(50)).value.upper, 3.1e-7);
  EXPECT_THROW(epsilon(parse("group(4, " + leaf + ")"), Delta(1.1e-6), {.by = Method::theorem}),
               OutsideConditions);
}

}  // namespace
}  // namespace sotto
