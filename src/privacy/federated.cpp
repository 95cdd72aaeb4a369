// The closed forms for protocols without a trusted curator, with the conditions of their theorems.
// rounded_sum.cpp and shuffled_response.cpp have the two that are computed.
#include "privacy/api/federated.hpp"

#include <cmath>
#include <string>

#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

Real real(std::int64_t n) { return static_cast<double>(n); }

// Returns 1/x², also if x² overflows or underflows.
Real inverse_square(const Real& x) { return square(1 / x); }

// Six digits, rounded up.
std::string six(const Real& x) { return rounded(x.upper(), 6, Side::upper); }

// Throws OutsideConditions unless value <= limit for certain. The message holds the condition,
// which names the quantity and its limit, and the value.
void require_at_most(const Real& value, const Real& limit, const std::string& condition) {
  if (certainly_at_most(value, limit)) return;
  throw OutsideConditions(
      "the theorem needs " + condition + ", and it is " + six(value) + ": use tight or pld",
      Remedy::method);
}

// Returns the ε of K steps by advanced composition [Dwork2010]: each step has ε = `one` at δ/(2K),
// and the composition takes the other half of δ.
Real composed(const Real& one, std::int64_t steps, const Real& delta) {
  if (steps == 1) return one;
  return one * sqrt(2 * real(steps) * log(2 / delta)) + real(steps) * one * expm1(one);
}

// Returns the δ of one step for composed().
Real share_of(const Real& delta, std::int64_t steps) {
  return steps == 1 ? delta : delta / (2 * real(steps));
}

}  // namespace

Real shuffled_epsilon(const Real& local, std::int64_t users, const Real& delta) {
  const Real n = real(users);
  const Real limit = log(n / (16 * log(2 / delta)));
  require_at_most(local, limit,
                  "a local epsilon of at most log(n/(16 log(2/delta))) = " +
                      rounded(limit.lower(), 6, Side::lower));
  const Real e = exp(local);
  return log1p((e - 1) / (e + 1) * (8 * sqrt(e * log(4 / delta) / n) + 8 * e / n));
}

Real gopa_complete_squared_mu(const Real& own, const Real& mask, std::int64_t honest) {
  const Real m = real(honest);
  // 1/(own² + m mask²), from the larger of own and sqrt(m) mask: the squares of either may overflow
  const Real by_own = 1 / own;
  const Real by_mask = 1 / mask / sqrt(m);
  const bool own_is_larger = by_own.upper() < by_mask.upper();
  const Real& least = own_is_larger ? by_own : by_mask;
  const Real& most = own_is_larger ? by_mask : by_own;
  // if `most` overflowed, it is above 2^900
  const Real ratio =
      std::isfinite(most.upper()) ? least / most : Real::hull(0, (least * 0x1p-900).upper());
  return square(by_own) / m + (1 - 1 / m) * square(least) / (1 + square(ratio));
}

Real gopa_complete_theorem(const Real& own, const Real& mask, std::int64_t honest) {
  const Real m = real(honest);
  return inverse_square(own) / m + inverse_square(mask) / m;
}

Real gopa_connected_squared_mu(const Real& own, const Real& mask, std::int64_t honest) {
  const Real m = real(honest);
  return inverse_square(own) / m + (m - 1) * (2 * m - 1) / (6 * m) * inverse_square(mask);
}

Real gopa_connected_theorem(const Real& own, const Real& mask, std::int64_t honest) {
  const Real m = real(honest);
  return inverse_square(own) / m + m / 3 * inverse_square(mask);
}

std::int64_t gopa_least_degree(std::int64_t users, std::int64_t honest, const Real& delta) {
  const Real n = real(honest);
  const Real least = max(max(4 * log(2 * n / (3 * delta)), 6 * log(n / 3)),
                         Real(3) / 2 + Real(9) / 4 * (log(2 / delta) + 1));
  return static_cast<std::int64_t>(std::ceil((least * real(users) / n).upper()));
}

Real gopa_random_share(const RandomGraph& graph) {
  const Real n = real(graph.honest);
  const Real rho = n / real(graph.users);
  if (graph.honest < 81) {
    throw OutsideConditions("the theorem on random graphs needs at least 81 honest users, here " +
                            std::to_string(graph.honest) + ": use gopa_complete or gopa_connected");
  }
  const std::int64_t least = gopa_least_degree(graph.users, graph.honest, graph.delta);
  if (graph.k < least) {
    throw OutsideConditions("the theorem on random graphs needs every user to pick at least " +
                            std::to_string(least) + " others for " + std::to_string(graph.honest) +
                            " honest of " + std::to_string(graph.users) + " users at delta " +
                            six(graph.delta) + ", here " + std::to_string(graph.k) +
                            ": let users pick more, or use gopa_complete or gopa_connected");
  }
  // ⌊(k-1)ρ/3⌋, rounded down
  const double picked = std::floor((real(graph.k - 1) * rho / 3).lower());
  return 1 / (Real(picked) - 1) + (12 + 6 * log(n)) / n;
}

Real gopa_random_squared_mu(const Real& own, const Real& mask, const RandomGraph& graph) {
  return inverse_square(own) / real(graph.honest) + gopa_random_share(graph) * inverse_square(mask);
}

Real gopa_epsilon(const Real& squared_mu, const Real& delta) {
  const Real log_factor = max(1, 2 * log(2 / (delta * sqrt(2 * pi()))));
  return squared_mu / 2 + sqrt(log_factor * squared_mu);
}

Real ring_sum_epsilon(const Real& mu, std::int64_t passes, const Real& delta) {
  return composed(gaussian_classical_epsilon(mu, share_of(delta, passes)), passes, delta);
}

Real ring_histogram_epsilon(const Real& local, std::int64_t users, std::int64_t passes,
                            const Real& delta) {
  if (users <= 1000) {
    throw OutsideConditions("the theorem needs more than 1000 users, and there are " +
                                std::to_string(users) + ": use tight or pld",
                            Remedy::method);
  }
  require_at_most(local, Real(0.5), "a local epsilon of at most 1/2");
  require_at_most(delta, Real(0.01), "a delta of at most 1/100");
  return composed(12 * local * sqrt(log(1 / share_of(delta, passes)) / real(users)), passes, delta);
}

Real blended_response_epsilon(const Real& gamma, std::int64_t values) {
  return log1p((1 - gamma) * real(values) / gamma);
}

Real expected_inverse_gap(std::int64_t users, std::int64_t colluders) {
  if (colluders + 1 >= users) return 1;
  const Real odds = real(users - colluders - 1) / real(colluders + 1);  // (1 - p)/p
  return log1p(odds) / odds;
}

Real walk_sgd_epsilon(const Real& mu, std::int64_t users, std::int64_t colluders,
                      std::int64_t contributions, const Real& delta) {
  require_at_most(delta, Real(0.5), "a delta of at most 1/2");
  require_at_most(mu * sqrt(2 * log(Real(1.25) / delta)), 1,
                  "the local epsilon of one step, mu sqrt(2 log(1.25/delta)), to be at most 1");
  const Real expected = real(contributions) * expected_inverse_gap(users, colluders);
  const Real limit = square(2 * sqrt(Real(2)) - 2) * log(1 / delta);
  require_at_most(square(mu) * expected, limit,
                  "mu^2 K E[1/g], with K the contributions and g the hops to the next meeting, to "
                  "be at most (2 sqrt(2) - 2)^2 log(1/delta) = " +
                      rounded(limit.lower(), 6, Side::lower));
  const Real q = max(2 * expected, 2 * log(1 / delta));
  return 2 * mu * sqrt(q * log(1 / delta));
}

}  // namespace sotto
