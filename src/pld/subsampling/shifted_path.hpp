// E_Q[r^β] of Poisson-sampled Gaussian noise with the path of integration moved up to Im ℓ = a. On the real line the
// integrand turns ever faster as Im β grows; on the moved path it falls instead, so the same few points serve every Im β.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sotto/core/work.hpp"
#include "support.hpp"

namespace sotto::pld_detail {

class ShiftedPath {
 public:
  ShiftedPath() = default;
  /// For Re β = power and Im β >= 0; `bound` is an upper bound on log |r|^power's mean on the lines nearby, `scale` about log M(c).
  ShiftedPath(RoundedDouble mu, RoundedDouble q, double power, double bound, double scale, double tolerance) : scale_(scale) {
    const double m = mu.value;
    const double rate = q.value;
    const double a = std::min(power > 0 ? 1.3 : 0.75, 3 * m);
    const double log_tolerance = std::log(tolerance) - 2;
    const double lift = a * a / (2 * m * m);
    // the integrand is analytic for 0 <= Im ℓ <= 2a, and there at most e^((2a)²/(2μ²)) e^bound in the mean
    const double level = 4 * lift + bound - scale;
    const double step = std::min(0.5, 2 * pi * a / (m * std::max(1.0, level - log_tolerance)));
    const double left_level = lift + (power < 0 ? power * std::log1p(-rate) : 0) - scale;
    const double left = std::sqrt(2 * std::max(1.0, left_level - log_tolerance));
    const auto right_level = [&](double z) {
      // |r|^power is above 1 until ℓ is: there Re r >= 1, since e cos(a) > 1
      if (power < 0) return lift + (m * z - m * m / 2 < 1 ? power * std::log1p(-rate) : 0) + log_normal_tail(z) - scale;
      const double far = power * std::log(rate) + (power - 1) * power * m * m / 2 + log_normal_tail(z - power * m);
      return lift + power * std::log(2.0) + log_sum(log_normal_tail(z), far) - scale;
    };
    double right = 4;
    while (right_level(right) > log_tolerance && right < 1e4) right += 1;
    if ((left + right) / step > 20000) return;
    spend(200 * (left + right) / step);
    missing_ = std::exp(std::log(2.1) + level - 2 * pi * a / (m * step)) + std::exp(left_level + log_normal_tail(left)) + std::exp(right_level(right));
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    const auto first = static_cast<std::int64_t>(std::floor(-left / step)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil(right / step)) + 1;
    for (std::int64_t j = first; j <= last; ++j) {
      const double z = static_cast<double>(j) * step;
      const double loss = m * z - m * m / 2;
      if (loss > 300) {  // |r|² would overflow: this path is of no use
        points_.clear();
        return;
      }
      const double e = rate * std::exp(loss);
      const double re = e * cosine - rate;  // of r - 1
      const double im = e * sine;
      const Complex log = log1p({re, im});
      // the weight w(ℓ+ia) r^power over e^scale
      const double size = step / root_two_pi * std::exp(-z * z / 2 + lift + power * log.re - scale);
      const double phase = -z * a / m + power * log.im;
      points_.push_back({size * std::cos(phase), size * std::sin(phase), log.re, log.im});
      total_ += size;
      const double error_bound =
          (m * m + m * std::abs(z)) * (mu.relative + 8 * unit) * e / std::hypot(1 + re, im) + std::hypot(re, im) * (q.relative + 16 * unit);
      flat_ += size * (unit * (64 + 2 * z * z + 4 * lift + 8 * std::abs(scale) + std::abs(z) * a / m * 8) +
                       mu.relative * (std::abs(z) * a / m + 2 * lift) + std::abs(power) * error_bound);
      steep_ += size * (error_bound + 8 * unit * abs(log));
    }
    flat_ += 2 * unit * static_cast<double>(points_.size()) * total_;  // adding them up
  }
  [[nodiscard]] std::size_t size() const { return points_.size(); }

  /// log M at Im β = t >= 0.
  [[nodiscard]] LogMgfValue at(double t) const {
    if (points_.empty()) return {{infinity, 0}, infinity};
    spend(35 * static_cast<double>(points_.size()));
    Complex sum{0, 0};
    for (const Point& point : points_) {
      const double fall = t * point.arg;
      if (fall > 60) continue;  // left out: below e^-60 of its weight
      const double size = std::exp(-fall);
      const double y = t * point.log;
      const double cosine = std::cos(y) * size;
      const double sine = std::sin(y) * size;
      sum.re += point.re * cosine - point.im * sine;
      sum.im += point.re * sine + point.im * cosine;
    }
    constexpr double faint = 1e-26;  // above e^-60
    return log_of_scaled(sum, scale_, missing_ + flat_ + t * steep_ + faint * total_);
  }

 private:
  struct Point {
    double re, im;    // the weight
    double log, arg;  // of r
  };
  std::vector<Point> points_;
  double scale_ = 0;
  double total_ = 0;  // of the weights' sizes
  double missing_ = infinity;
  double flat_ = 0;
  double steep_ = 0;
};

}  // namespace sotto::pld_detail
