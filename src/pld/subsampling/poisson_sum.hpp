// Sums of E_Q[r^β] over points, for Poisson-sampled losses: r = 1 - q + q e^ℓ with ℓ the base's
// loss under Q, and M(s) = E_Q[r^β], with β = s + 1 when the record is removed and β = -s when it
// is added. Since E_Q[r] = 1, M - 1 = E_Q[(r^β - 1) - β(r - 1)], in which nothing cancels.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/api/work.hpp"
#include "pld/arithmetic/support.hpp"
#include "pld/subsampling/oscillation.hpp"

namespace sotto::pld_detail {

/// A sampled loss u = log r, with a bound on its absolute error.
struct SampledLoss {
  double u;
  double error_bound;
};

/// Returns log r = log(1 - q + q e^ℓ), with the errors of q and of ℓ (`loss_error`, absolute).
inline SampledLoss log_ratio(RoundedDouble q, double loss, double loss_error) {
  if (loss > 40) {
    const double rest = (1 - q.value) / q.value * std::exp(-loss);
    const double u = loss + std::log(q.value) + std::log1p(rest);
    return {u, loss_error + q.relative + 4 * unit * (loss + std::abs(std::log(q.value)) + 1)};
  }
  const double rise = std::expm1(loss);
  const double x = q.value * rise;
  const double r = 1 + x;
  const double u = std::log1p(x);
  return {u, q.value * (1 + rise) / r * loss_error + std::abs(x) / r * (q.relative + 8 * unit) +
                 4 * unit * std::abs(u)};
}

/// A Poisson sum is E_Q[r^β] over points u = log r with masses under Q, for a fixed real part p of
/// β. Points are added, finish() is called once, and then at() evaluates it for any Im β. Unless
/// `scaled`, it sums M - 1 without cancellation; `scaled`, for M(c) far from 1, it sums M over its
/// largest term.
class PoissonSum {
 public:
  PoissonSum(double power, bool scaled) : power_(power), scaled_(scaled) {}

  /// Adds a point; `mass_error` is relative.
  void add(SampledLoss point, double log_mass, double mass_error) {
    u_.push_back(point.u);
    tilted_.push_back(log_mass + power_ * point.u);
    if (scaled_) {
      scale_ = std::max(scale_, tilted_.back());
      error_bound_.push_back(mass_error + unit * (32 + 8 * std::abs(log_mass)));
      point_error_.push_back(point.error_bound + 8 * unit * std::abs(point.u));
      return;
    }
    const double mass = std::exp(log_mass);
    const double weight = std::exp(tilted_.back());
    weight_.push_back(weight);
    // with y = tu: e^(βu) - 1 - βu
    //   = [e^(pu) - 1 - pu] + e^(pu) (cos y - 1) + i [e^(pu) (sin y - y) + (e^(pu) - 1) y]
    const double tilt = power_ * point.u;
    const double excess =
        std::abs(tilt) < 0.5 ? mass * exp_excess(tilt) : weight - mass * (1 + tilt);
    real_excess_ += excess;
    imaginary_slope_ += (excess + mass * tilt) * point.u;
    const double plain =
        std::exp(log_mass + point.u);  // mass e^u, which may be large where e^(pu) is small
    base_excess_ += point.u < 0.5 ? mass * exp_excess(point.u) : plain - mass * (1 + point.u);
    const double size = std::abs(point.u);
    const double height = std::max({weight, mass, plain});
    rounding_ += height * (size * size * (mass_error + 96 * unit) + 2 * size * point.error_bound);
    total_ += height * size * size;
  }
  /// Completes the sum after the last point.
  void finish() {
    spend(100 * static_cast<double>(u_.size()));  // on all additions
    const double sum_rounding =
        2 * unit * static_cast<double>(u_.size());  // relative to the sum of the terms' sizes
    if (!scaled_) {
      rounding_ += sum_rounding * total_;
      return;
    }
    for (std::size_t j = 0; j < u_.size(); ++j) {
      weight_.push_back(std::exp(tilted_[j] - scale_));
      error_ += weight_[j] * (error_bound_[j] + 8 * unit * std::abs(scale_) + sum_rounding);
      error_per_beta_ += weight_[j] * point_error_[j];
    }
  }
  /// Returns the log of the factor by which M is scaled.
  [[nodiscard]] double scale() const { return scaled_ ? scale_ : 0; }
  [[nodiscard]] std::size_t size() const { return u_.size(); }

  /// Returns an estimate of the mean of f(u) under the tilted masses.
  template <class F>
  [[nodiscard]] double mean(F f) const {
    double total = 0;
    double sum = 0;
    for (std::size_t j = 0; j < u_.size(); ++j) {
      total += weight_[j];
      sum += weight_[j] * f(u_[j]);
    }
    return sum / total;
  }

  /// Returns log M at β = p + it. `omitted` bounds the part of e^-scale M that the points leave
  /// out: the errors of quadrature and truncation.
  [[nodiscard]] LogMgfValue at(double t, double omitted) const {
    if (!(omitted < infinity)) return {{infinity, 0}, infinity};
    spend(20 * static_cast<double>(u_.size()));
    const double size = std::hypot(power_, t);
    if (scaled_) {
      Complex sum{0, 0};
      for (std::size_t j = 0; j < u_.size(); ++j) {
        const double y = t * u_[j];
        sum += weight_[j] * Complex{std::cos(y), std::sin(y)};
      }
      return log_of_scaled(sum, scale_, omitted + error_ + size * error_per_beta_);
    }
    const Complex waves = reduced_wave_sum(weight_, u_, t);
    const Complex excess{real_excess_ + waves.re - power_ * base_excess_,
                         t * imaginary_slope_ + waves.im - t * base_excess_};
    return log_of_excess(excess, omitted + (size * size + size) * rounding_);
  }

 private:
  double power_;
  bool scaled_;
  std::vector<double> u_, tilted_, weight_, error_bound_, point_error_;
  // without scaling
  double real_excess_ = 0;      // Σ mass (e^(pu) - 1 - pu)
  double imaginary_slope_ = 0;  // Σ mass (e^(pu) - 1) u
  double base_excess_ = 0;      // Σ mass (e^u - 1 - u)
  double rounding_ = 0;         // the error, over |β|² + |β|
  double total_ = 0;            // the sum of the terms' sizes, over |β|² + |β|
  // with scaling
  double scale_ = -infinity;
  double error_ = 0;           // of the masses and their sum
  double error_per_beta_ = 0;  // of the points, over |β|
};

/// Returns Re β for Re s = c.
inline double power_of(Direction direction, double c) {
  return direction == Direction::remove ? c + 1 : -c;
}
/// Returns Im β for Im s = t.
inline double imaginary_of(Direction direction, double t) {
  return direction == Direction::remove ? t : -t;
}

}  // namespace sotto::pld_detail
