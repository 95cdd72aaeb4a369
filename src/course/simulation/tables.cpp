// Evaluates the theorems of the papers and the exact accountant at the papers' settings.
#include <algorithm>
#include <cmath>
#include <limits>

#include "course/api/graph.hpp"
#include "course/api/simulation_tables.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/federated.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/graph.hpp"
#include "sotto/accounting/calibrate.hpp"

namespace sotto {
namespace {

constexpr double target = 0.1;
constexpr double not_computed = std::numeric_limits<double>::quiet_NaN();

// Solves δ = a (δ'/1.25)^(κ/(κ+1)) for κ.
double kappa(double delta, double each, double a) {
  const double part = std::log(delta / a) / std::log(each / 1.25);
  return part / (1 - part);
}

// The noise that [Sabater2022, Cor 1] requires at ε = 0.1 for one number of users and share of
// honest users.
struct Corollary {
  Corollary(std::int64_t users, double share)
      : users_(users),
        honest(static_cast<std::int64_t>(std::llround(share * static_cast<double>(users)))),
        each(1 / std::pow(static_cast<double>(honest), 2)),
        delta(10 * each) {
    variance = 2 * std::log(1.25 / each) / (static_cast<double>(honest) * target * target);
    degree = gopa_least_degree(users, honest, bad());
    random = std::sqrt(kappa(delta, each, 3.75) * variance * static_cast<double>(honest) *
                       mask_share().upper());
    complete = std::sqrt(kappa(delta, each, 1.25) * variance);
    connected = std::sqrt(kappa(delta, each, 1.25) * variance / 3) * static_cast<double>(honest);
  }
  [[nodiscard]] double bad() const { return delta / 3.75; }
  [[nodiscard]] Real mask_share() const {
    return gopa_random_share({.users = users_, .honest = honest, .k = degree, .delta = bad()});
  }
  std::int64_t users_;
  std::int64_t honest;
  double each;
  double delta;
  double variance = 0;  // σ_η²
  std::int64_t degree = 0;
  double random = 0;
  double complete = 0;
  double connected = 0;
};

double largest_theta(const Graph& honest, double noise, double mask) {
  const std::vector<double> thetas = gopa_squared_mus(honest, noise, mask);
  return *std::max_element(thetas.begin(), thetas.end());
}

// Returns the ε of Gaussian noise with μ² = θ.
double epsilon_of_theta(const Real& theta, double delta) {
  return epsilon_of(gaussian_profile(sqrt(theta).upper()), delta, Side::upper);
}

// Returns the noise of the masks with which one random graph has the same largest θ as the complete
// graph. It uses θ_v = 1/(nσ²) + c_v/σ_Δ² with a c_v that hardly depends on σ_Δ, so two iterations
// suffice.
double realised_noise(const Corollary& c, std::int64_t picks) {
  const Graph honest = MaskGraph::random(c.users_, picks).among_first(c.honest);
  const auto n = static_cast<double>(c.honest);
  const double own = 1 / (n * c.variance);
  const double rest = own / kappa(c.delta, c.each, 1.25);
  double mask = c.random;
  for (int i = 0; i < 2; ++i)
    mask *= std::sqrt((largest_theta(honest, std::sqrt(c.variance), mask) - own) / rest);
  return mask;
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

std::vector<GopaNoiseRow> gopa_noise_table() {
  std::vector<GopaNoiseRow> rows;
  for (const std::int64_t users : {1000, 10'000}) {
    for (const double share : {1.0, 0.5}) {
      const Corollary c(users, share);
      const std::int64_t picks = share == 1 ? 10 : 20;
      rows.push_back({.users = static_cast<double>(users),
                      .honest = share,
                      .noise = std::sqrt(c.variance),
                      .complete = c.complete,
                      .random = c.random,
                      .degree = static_cast<double>(c.degree),
                      .realised = users <= 1000 ? realised_noise(c, picks) : not_computed,
                      .picks = users <= 1000 ? static_cast<double>(picks) : not_computed,
                      .connected = c.connected});
    }
  }
  return rows;
}

std::vector<GopaEpsilonRow> gopa_epsilon_table() {
  std::vector<GopaEpsilonRow> rows;
  for (const std::int64_t users : {300, 1000}) {
    const Corollary c(users, 1);
    const double noise = std::sqrt(c.variance);
    const Real theta = Real(1) / (Real(static_cast<double>(c.honest)) * square(Real(noise))) +
                       c.mask_share() / square(Real(c.random));
    const double realised =
        largest_theta(MaskGraph::random(users, c.degree).among_first(users), noise, c.random);
    const double exact = gaussian_exact_sigma(target, c.delta, Side::upper) /
                         std::sqrt(static_cast<double>(c.honest) * 0.99);
    rows.push_back({.users = static_cast<double>(users),
                    .honest = 1,
                    .degree = static_cast<double>(c.degree),
                    .theorem = target,
                    .exact = epsilon_of_theta(theta, c.delta),
                    .realised = epsilon_of_theta(Real(realised), c.delta),
                    .noise = noise,
                    .exact_noise = exact});
  }
  return rows;
}

double log2_disconnected(std::int64_t users, std::int64_t honest, std::int64_t degree) {
  const auto n = static_cast<double>(users);
  const auto m = static_cast<double>(honest);
  const auto k = static_cast<double>(degree);
  // A set of s honest users is a component if none of them picks another honest user and no other
  // honest user picks one of them.
  const double all = log_choose(n - 1, k);
  double sum = 0;
  double largest = -INFINITY;
  const auto avoid = [&](double many) {
    return n - 1 - many < k ? -INFINITY : log_choose(n - 1 - many, k) - all;
  };
  for (double s = 1; 2 * s <= m; ++s) {
    const double term = log_choose(m, s) + s * avoid(m - s) + (m - s) * avoid(s);
    if (term > largest) {
      sum = sum * std::exp(largest - term) + 1;
      largest = term;
    } else {
      sum += std::exp(term - largest);
    }
    if (s > 1000 && term < largest - 200) break;  // the remaining terms are negligible
  }
  return (largest + std::log(sum)) / std::log(2.0);
}

std::vector<ConnectivityRow> connectivity_table() {
  std::vector<ConnectivityRow> rows;
  for (const auto& [users, share] : {std::pair{1000, 0.5},
                                     {10'000, 0.5},
                                     {100'000, 0.5},
                                     {1'000'000, 0.5},
                                     {1'000'000, 2.0 / 3}}) {
    const auto honest = static_cast<std::int64_t>(share * users);
    std::int64_t degree = 1;
    while (log2_disconnected(users, honest, degree) >= -40) ++degree;
    rows.push_back({.users = static_cast<double>(users),
                    .honest = share,
                    .uniform = static_cast<double>(degree),
                    .theorem = static_cast<double>(gopa_least_degree(
                        users, honest, 10 / std::pow(static_cast<double>(honest), 2) / 3.75))});
  }
  return rows;
}

std::vector<NetworkGainRow> network_gain_table(double delta) {
  std::vector<NetworkGainRow> rows;
  for (const std::int64_t users : {30, 100, 300, 1000}) {
    const auto n = static_cast<double>(users);
    const auto contributions =
        static_cast<std::int64_t>(std::llround(2 * n * std::log(1 / delta) / std::log(n)));
    const double noise = calibrate(static_cast<double>(contributions) * Plan(WalkSgd{hole, n}),
                                   Epsilon(1), Delta(delta), {.by = Method::pld})
                             .value;
    rows.push_back({.users = n,
                    .contributions = static_cast<double>(contributions),
                    .noise = noise,
                    .local = epsilon_of_theta(
                        Real(static_cast<double>(contributions)) / square(Real(noise)), delta),
                    .root = std::sqrt(n / std::log(n))});
  }
  return rows;
}

std::vector<NetworkEpsilonRow> network_epsilon_table() {
  constexpr double delta = 1e-7;
  constexpr double hop = 0.1;
  constexpr double contributions = 100;
  const auto advanced = [](double steps, double each) {
    return std::sqrt(2 * steps * std::log(1 / delta)) * each + steps * each * std::expm1(each);
  };
  const double noise = std::sqrt(2 * std::log(1.25 / delta)) / hop;
  const auto cost = [](const Plan& one) {
    return epsilon(contributions * one, Delta(delta), {.by = Method::pld}).value.upper;
  };
  const double local = cost(gaussian(noise));
  std::vector<NetworkEpsilonRow> rows;
  for (const std::int64_t users : {5, 10, 20, 50, 100, 200, 400, 1000}) {
    rows.push_back({.users = static_cast<double>(users),
                    .paper_local = advanced(contributions, hop),
                    .paper_network = advanced(2 * contributions,
                                              3 * hop / std::sqrt(static_cast<double>(users))),
                    .local = local,
                    .sum = cost(WalkSum{noise, static_cast<double>(users)}),
                    .learning = cost(WalkSgd{noise, static_cast<double>(users)})});
  }
  return rows;
}

}  // namespace sotto
