// Poisson sampling: r = 1 - q + q e^ℓ with ℓ the base's loss under Q, and M(s) = E_Q[r^β], β = s + 1 when the record is
// removed, β = -s when it is added. Since E_Q[r] = 1, M - 1 = E_Q[(r^β - 1) - β(r - 1)], in which nothing cancels.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/api/work.hpp"
#include "pld/subsampling/oscillation.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

// u = log r, and its error from the relative error of q and the absolute error of ℓ.
struct Point {
  double u;
  double error_bound;  // |du|
};

inline Point log_ratio(RoundedDouble q, double loss, double loss_error) {
  if (loss > 40) {
    const double rest = (1 - q.value) / q.value * std::exp(-loss);
    const double u = loss + std::log(q.value) + std::log1p(rest);
    return {u, loss_error + q.relative + 4 * unit * (loss + std::abs(std::log(q.value)) + 1)};
  }
  const double rise = std::expm1(loss);
  const double x = q.value * rise;
  const double r = 1 + x;
  const double u = std::log1p(x);
  return {u, q.value * (1 + rise) / r * loss_error + std::abs(x) / r * (q.relative + 8 * unit) + 4 * unit * std::abs(u)};
}

// Points u with masses under Q, from which E_Q[r^β] is summed at a fixed real part p of β.
class PoissonSum {
 public:
  PoissonSum(double power, bool scaled) : power_(power), scaled_(scaled) {}

  // `mass_error` is relative.
  void add(Point point, double log_mass, double mass_error) {
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
    // e^(βu) - 1 - βu = [e^(pu) - 1 - pu] + e^(pu) (cos y - 1) + i [e^(pu) (sin y - y) + (e^(pu) - 1) y], y = tu
    const double tilt = power_ * point.u;
    const double excess = std::abs(tilt) < 0.5 ? mass * exp_excess(tilt) : weight - mass * (1 + tilt);
    still_ += excess;
    drift_ += (excess + mass * tilt) * point.u;
    const double plain = std::exp(log_mass + point.u);  // mass e^u, which may be large where e^(pu) is small
    first_ += point.u < 0.5 ? mass * exp_excess(point.u) : plain - mass * (1 + point.u);
    const double size = std::abs(point.u);
    const double height = std::max({weight, mass, plain});
    rounding_ += height * (size * size * (mass_error + 96 * unit) + 2 * size * point.error_bound);
    total_ += height * size * size;
  }
  // After the last point.
  void settle() {
    spend(100 * static_cast<double>(u_.size()));                      // on adding them
    const double adding = 2 * unit * static_cast<double>(u_.size());  // the rounding of a sum, relative to the sum of its terms' sizes
    if (!scaled_) {
      rounding_ += adding * total_;
      return;
    }
    for (std::size_t j = 0; j < u_.size(); ++j) {
      weight_.push_back(std::exp(tilted_[j] - scale_));
      flat_ += weight_[j] * (error_bound_[j] + 8 * unit * std::abs(scale_) + adding);
      steep_ += weight_[j] * point_error_[j];
    }
  }
  [[nodiscard]] double scale() const { return scaled_ ? scale_ : 0; }
  [[nodiscard]] std::size_t size() const { return u_.size(); }

  // The mean of f(u) under the tilted masses, roughly.
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

  // log M at β = p + it; `missing` bounds what the grid itself leaves out of e^-scale M.
  [[nodiscard]] LogMgfValue at(double t, double missing) const {
    if (!(missing < infinity)) return {{infinity, 0}, infinity};
    spend(20 * static_cast<double>(u_.size()));
    const double size = std::hypot(power_, t);
    if (scaled_) {
      Complex sum{0, 0};
      for (std::size_t j = 0; j < u_.size(); ++j) {
        const double y = t * u_[j];
        sum += weight_[j] * Complex{std::cos(y), std::sin(y)};
      }
      return log_of_scaled(sum, scale_, missing + flat_ + size * steep_);
    }
    const Complex waves = oscillation(weight_, u_, t);
    const Complex excess{still_ + waves.re - power_ * first_, t * drift_ + waves.im - t * first_};
    return log_of_excess(excess, missing + (size * size + size) * rounding_);
  }

 private:
  double power_;
  bool scaled_;
  std::vector<double> u_, tilted_, weight_, error_bound_, point_error_;
  double still_ = 0;
  double drift_ = 0;
  double first_ = 0;     // sum of mass (e^u - 1 - u)
  double rounding_ = 0;  // times |β|² + |β|
  double total_ = 0;     // what is summed, times the same
  double scale_ = -infinity;
  double flat_ = 0;
  double steep_ = 0;
};

inline double power_of(Direction direction, double c) { return direction == Direction::remove ? c + 1 : -c; }
// Im β for Im s = t.
inline double imaginary_of(Direction direction, double t) { return direction == Direction::remove ? t : -t; }

}  // namespace sotto::pld_detail
