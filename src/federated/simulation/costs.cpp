#include "costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/privacy/gaussian.hpp"

namespace sotto::federated_detail {
namespace {

Real whole(std::int64_t x) { return {static_cast<double>(x)}; }

// ε of K steps, each (step, ·)-DP, by √(2K ln(1/δ')) ε + Kε(e^ε - 1).
double advanced(double count, double step, double slack) {
  return std::sqrt(2 * count * std::log(1 / slack)) * step + count * step * std::expm1(step);
}

}  // namespace

double epsilon_of_theta(const Real& theta, double delta) { return epsilon_of(gaussian_profile(sqrt(theta).upper()), delta, Side::upper); }

Real gopa_complete_theta(std::int64_t honest, double noise, double pair_noise) {
  const Real n = whole(honest);
  const Real own = square(Real(noise));
  return Real(1) / (n * own) + (Real(1) - Real(1) / n) / (own + n * square(Real(pair_noise)));
}

std::int64_t gopa_least_degree(std::int64_t users, std::int64_t honest, double delta) {
  const double rho = static_cast<double>(honest) / static_cast<double>(users);
  const auto n = static_cast<double>(honest);
  const double least = std::max({4 * std::log(2 * n / (3 * delta)), 6 * std::log(n / 3), 1.5 + 2.25 * std::log(2 * std::exp(1.0) / delta)}) / rho;
  return static_cast<std::int64_t>(std::ceil(least * (1 + 1e-12)));
}

Real gopa_random_bracket(std::int64_t users, std::int64_t honest, std::int64_t degree) {
  const std::int64_t third = (degree - 1) * honest / (3 * users);
  return Real(1) / whole(third - 1) + (Real(12) + Real(6) * log(whole(honest))) / whole(honest);
}

Real gopa_random_theta(std::int64_t users, std::int64_t honest, std::int64_t degree, double noise, double pair_noise, double delta) {
  if (honest < 81) throw OutsideConditions("the theorem on random graphs needs 81 honest users, here " + std::to_string(honest) + ": take the complete graph");
  const std::int64_t least = gopa_least_degree(users, honest, delta);
  if (degree < least) {
    throw OutsideConditions("the theorem on random graphs needs a degree of " + std::to_string(least) + " for " + std::to_string(honest) + " honest of " +
                            std::to_string(users) + " users at delta " + rounded(delta, 3, Side::lower) + ", here " + std::to_string(degree) +
                            ": take so many, or the complete graph");
  }
  return Real(1) / (whole(honest) * square(Real(noise))) + gopa_random_bracket(users, honest, degree) / square(Real(pair_noise));
}

double gopa_theorem_epsilon(const Real& theta, double delta) {
  const Real half = theta / Real(2);
  const Real first = half + sqrt(theta);
  const Real second = half + sqrt(Real(2) * log(Real(2) / (Real(delta) * sqrt(Real(2) * pi()))) * theta);
  return max(first, second).upper();
}

double shuffle_epsilon(double local_epsilon, std::int64_t users, double delta) {
  const auto n = static_cast<double>(users);
  if (local_epsilon > std::log(n / (16 * std::log(2 / delta)))) return std::numeric_limits<double>::quiet_NaN();
  const Real e = exp(Real(local_epsilon));
  const Real inside = Real(8) * sqrt(e * log(Real(4) / Real(delta)) / whole(users)) + Real(8) * e / whole(users);
  return log1p((e - Real(1)) / (e + Real(1)) * inside).upper();
}

double shuffle_local_epsilon(double epsilon, std::int64_t users, double delta) {
  double low = 0;
  double high = std::log(static_cast<double>(users) / (16 * std::log(2 / delta)));
  if (!(high > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (shuffle_epsilon(high * (1 - 1e-12), users, delta) <= epsilon) return high * (1 - 1e-12);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (shuffle_epsilon(middle, users, delta) <= epsilon ? low : high) = middle;
  }
  return low;
}

double ring_paper_epsilon(std::int64_t rounds, double noise, double delta) {
  const auto k = static_cast<double>(rounds);
  const double step = epsilon_of(gaussian_profile(1 / noise), delta / (2 * k), Side::upper);
  return advanced(k, step, delta / 2);
}

double walk_sum_paper_epsilon(std::int64_t users, std::int64_t rounds, double noise, double delta) {
  const auto k = static_cast<double>(rounds);
  const double steps = 2 * k + std::sqrt(3 * k * std::log(3 / delta));  // N_v + T/n
  const double step = epsilon_of(gaussian_profile(1 / noise), delta / (3 * steps), Side::upper);
  return advanced(steps, 3 * step / std::sqrt(static_cast<double>(users)), delta / 3);
}

double walk_learning_paper_epsilon(std::int64_t users, std::int64_t rounds, double noise, double delta) {
  // σ² = 8L² ln(1.25/δ)/ε² with s = 2L: ε = √(2 ln(1.25/δ)) s/σ
  const double local = std::sqrt(2 * std::log(1.25 / delta)) / noise;
  if (local >= 1) return std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(users);
  const double q = std::max(2 * static_cast<double>(rounds) * std::log(n) / n, 2 * std::log(1 / delta));
  return std::sqrt(2 * q * std::log(1 / delta)) * local / std::sqrt(std::log(1.25 / delta));
}

}  // namespace sotto::federated_detail
