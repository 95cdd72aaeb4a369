// Closed forms for discrete Laplace noise, a table of the distribution function for discrete
// Gaussian noise.
#include "privacy/api/discrete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "numerics/api/elementary.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {

Real discrete_laplace_delta(double epsilon, double b, std::int64_t sensitivity) {
  const Real shift = static_cast<double>(sensitivity);
  const Real worst = shift / Real(b);
  if (epsilon >= worst.upper()) return 0;
  const Real t = exp(-1 / Real(b));
  // for 0 <= m < Δ: P(X <= m) = 1 - t^(m+1)/(1+t) and P(X <= m-Δ) = t^(Δ-m)/(1+t)
  const auto at = [&](std::int64_t m) {
    const Real high = 1 - exp(-Real(static_cast<double>(m + 1)) / Real(b)) / (1 + t);
    const Real low =
        exp(Real(epsilon) - Real(static_cast<double>(sensitivity - m)) / Real(b)) / (1 + t);
    return high - low;
  };
  // the best set is {x : loss > ε} = {x < (Δ - ε b)/2}; m - 1 and m + 1 allow for a rounded
  // boundary
  const auto best =
      static_cast<std::int64_t>(std::ceil((static_cast<double>(sensitivity) - epsilon * b) / 2)) -
      1;
  Real delta = 0;
  for (std::int64_t m = best - 1; m <= best + 1; ++m) {
    if (m >= 0 && m < sensitivity) delta = max(delta, at(m));
  }
  return delta;
}

Profile discrete_laplace_profile(double b, std::int64_t sensitivity, Side side) {
  const double worst = (Real(static_cast<double>(sensitivity)) / Real(b)).at(side);
  return {
      [b, sensitivity](double epsilon) { return discrete_laplace_delta(epsilon, b, sensitivity); },
      worst};
}

Real discrete_laplace_renyi(double b, std::int64_t sensitivity, double order) {
  const Real d = static_cast<double>(sensitivity);
  const Real x = d / Real(b);
  if (std::isinf(order)) return x;
  const Real t = exp(-1 / Real(b));
  if (order == 1) {
    // E[loss] = (E|X - Δ| - E|X|)/b, and E|X - Δ| - E|X| = Δ - 2t (1 - t^Δ) / (1 - t²)
    return x - 2 * t * -expm1(-x) / (Real(b) * (1 - square(t)));
  }
  // the sum of P^α Q^(1-α), divided by e^((α-1)x), is [1 + t^((2α-1)Δ) + (1-t) sum_{0<y<Δ}
  // t^((2α-1)y)] / (1+t)
  const Real c = 2 * Real(order) - 1;
  const Real step = exp(-c / Real(b));  // t^(2α-1)
  const Real whole = exp(-c * x);       // step^Δ
  const Real middle = sensitivity == 1 ? Real(0) : (step - whole) / (1 - step);
  const Real bracket = (whole - t + (1 - t) * middle) / (1 + t);  // that, minus 1
  return x + log1p(bracket) / (Real(order) - 1);
}

namespace {

/// A table of P(X <= m) for the discrete Gaussian, by certified sums of positive terms.
class DiscreteGaussianCdf {
 public:
  explicit DiscreteGaussianCdf(const Real& sigma)
      : reach_(static_cast<std::int64_t>(38 * sigma.upper()) + 2) {
    // weights w(x) = e^(-x²/(2σ²)) for x = 0, 1, …: w(x+1) = w(x) g(x), g(x+1) = g(x) h
    const Real variance = square(sigma);
    const Real h = exp(-1 / variance);
    Real g = exp(-1 / (2 * variance));
    std::vector<Real> weight{Real(1)};
    for (std::int64_t x = 1; x <= reach_; ++x) {
      weight.push_back(weight.back() * g);
      g *= h;
    }
    // beyond the table the weights fall at least geometrically, with ratio e^(-1/(2σ²)) <= 1 - 1/(1
    // + 2σ²)
    const double beyond = weight.back().upper() * (2 + 2 * variance.upper());
    Real sum = Real(beyond / 2).widened(beyond / 2);
    // up to x = 0
    for (auto w = weight.rbegin(); w != weight.rend(); ++w) cumulative_.push_back(sum += *w);
    const Real lower_half = cumulative_.back();
    total_ = 2 * lower_half - 1;
  }

  [[nodiscard]] Real at(std::int64_t m) const {
    if (m >= 0) return 1 - below(-m - 1);
    return below(m);
  }

 private:
  [[nodiscard]] Real below(std::int64_t m) const {
    if (m < -reach_) return Real::hull(0.0, cumulative_.front() / total_);
    return cumulative_[static_cast<std::size_t>(m + reach_)] / total_;
  }

  std::int64_t reach_;
  std::vector<Real> cumulative_;  // cumulative_[i]: the sum of the weights of x <= i - reach_
  Real total_;
};

}  // namespace

Profile discrete_gaussian_profile(const Real& sigma, std::int64_t sensitivity) {
  if (sigma.upper() > 1e4) {
    throw OutsideConditions(
        "the profile of discrete_gaussian is summed term by term, which is for sigma <= 10000, "
        "here " +
            shortest(sigma.estimate()) + ": use rdp or zcdp",
        Remedy::method);
  }
  const auto cdf = std::make_shared<const DiscreteGaussianCdf>(sigma);
  const auto d = static_cast<double>(sensitivity);
  const double variance = square(sigma).estimate();
  return {[cdf, variance, sensitivity, d](double epsilon) {
            // the best set is {x : loss > ε} = {x < Δ/2 - ε σ²/Δ}; m - 1 and m + 1 allow for a
            // rounded boundary
            const double boundary = std::max(-4e15, std::ceil(d / 2 - epsilon * variance / d));
            const auto best = static_cast<std::int64_t>(boundary) - 1;
            if (epsilon > 700) return Real::hull(0.0, cdf->at(best + 1));  // e^ε overflows
            Real delta = 0;
            for (std::int64_t m = best - 1; m <= best + 1; ++m)
              delta = max(delta, cdf->at(m) - exp(epsilon) * cdf->at(m - sensitivity));
            return delta;
          },
          std::numeric_limits<double>::infinity()};
}

}  // namespace sotto
