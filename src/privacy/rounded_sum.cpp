// The sum of h rounded Gaussians compared with one rounded Gaussian of their variance, by
// characteristic functions.
//
// Let a(t) be the characteristic function of N(0, r²) plus a uniform on [-1/2, 1/2], and a_m = a(t
// + 2πm). By Poisson summation, the sum of h rounded Gaussians has the characteristic function (Σ
// a_m)^h on the integers, and round(N(0, h r²) + h-1 uniforms) has Σ a_m^h. The difference consists
// of cross terms, of modulus at most h β (α+β)^(h-1) with α = e^(-r²t²/2) and β = Σ_{m≠0}
// e^(-r²(t+2πm)²/2). It is largest near t = 2π/h, where it is e^(-2π²r²(h-1)/h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "numerics/api/normal.hpp"
#include "privacy/api/federated.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least = std::numeric_limits<double>::denorm_min();
constexpr double pi = 3.141592653589793;
constexpr double narrowest = 1.0 / 3;  // for r from here on, β rises on [0, π]
constexpr double most_epsilon = 64;
// added to logarithms: far above the rounding errors of the sums below
constexpr double rounding = 1e-6;

// Returns log(e^a + e^b).
double log_add(double a, double b) {
  const double high = std::max(a, b);
  return high == -infinity ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

// Returns an upper bound on log β at t. The terms m = ±1, ±2, … fall at least geometrically, by
// e^(-r²(2π² + …)).
double log_beta(double t, double r) {
  double sum = -infinity;
  for (int m = 1; m <= 12; ++m) {
    for (const double x : {2 * pi * m - t, 2 * pi * m + t}) sum = log_add(sum, -r * r * x * x / 2);
  }
  return sum + rounding;
}

// Returns an upper bound on the logarithm of (1/π) ∫_0^π h β (α+β)^(h-1) dt. α falls and β rises,
// so each cell of the integral takes α at its left end and β at its right end.
double log_point_distance(double r, double h) {
  constexpr int cells = 1 << 13;
  constexpr double width = pi / cells;
  double sum = -infinity;
  for (int i = 0; i < cells; ++i) {
    const double left = width * i;
    const double beta = log_beta(left + width, r);
    sum = log_add(sum, beta + (h - 1) * (log_add(-r * r * left * left / 2, beta) + 1e-12));
  }
  return std::log(h / cells) + sum + rounding;
}

}  // namespace

double rounded_sum_distance(double r, std::int64_t honest) {
  require_positive(r, "r");
  if (honest < 1)
    throw InvalidValue("honest = " + std::to_string(honest) +
                       " is not allowed: it must be a whole number from 1");
  if (honest == 1) return 0;
  if (!(r >= narrowest)) return 1;
  const auto h = static_cast<double>(honest);
  // the bulk |k| <= K = z r sqrt(h) + h/2, point by point; in the tails both distributions are
  // within h/2 of the same Gaussian
  const double log_point = log_point_distance(r, h);
  const double z = std::sqrt(2 * std::min(std::max(0.0, -log_point), 720.0));
  const double bulk = std::exp(log_point + std::log(z * r * std::sqrt(h) + h / 2 + 1.5) + rounding);
  const double tails = (2 * normal_tail(z)).upper();
  return std::clamp((Real(bulk) + tails).upper(), least, 1.0);
}

double rounded_sum_slack(double r, std::int64_t honest, double coordinates, double rounds) {
  require_positive(coordinates, "coordinates");
  require_positive(rounds, "rounds");
  const double distance = rounded_sum_distance(r, honest);
  if (distance == 0) return 0;
  const Real slack = (1 + Real(std::exp(most_epsilon) * (1 + 1e-12))) * Real(coordinates) *
                     Real(rounds) * Real(distance);
  return std::clamp(slack.upper(), least, 1.0);
}

}  // namespace sotto
