// E_Q[r^β] of Poisson-sampled Gaussian noise, with the path of integration moved up to Im ℓ = a. On
// the real line the integrand oscillates ever faster as Im β grows; on the moved path it decays
// instead, so the same few points serve every Im β (docs/theory/pld/moment-generating-functions.md,
// "The shifted path").
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/api/work.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

/// A shifted path is the trapezoidal rule for E_Q[r^β] on the line Im ℓ = a, for a fixed Re β and
/// every Im β >= 0. It is empty, and of no use, if it would take too many points.
class ShiftedPath {
 public:
  ShiftedPath() = default;
  /// For Re β = power. `bound` is an upper bound on the log of the mean of |r|^power on the lines
  /// from Im ℓ = 0 to 2a, and `scale` an estimate of log M(c), to which the tolerance is relative.
  ShiftedPath(RoundedDouble mu, RoundedDouble q, double power, double bound, double scale,
              double tolerance)
      : mu_(mu), q_(q), scale_(scale) {
    const double m = mu.value;
    const double a = std::min(power > 0 ? 1.3 : 0.75, 3 * m);
    const Range range = choose_range(a, power, bound, std::log(tolerance) - 2);
    if ((range.left + range.right) / range.step > 20000) return;
    spend(200 * (range.left + range.right) / range.step);
    omitted_ = range.omitted;
    const Complex rotation{std::cos(a), std::sin(a)};
    const auto first = static_cast<std::int64_t>(std::floor(-range.left / range.step)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil(range.right / range.step)) + 1;
    for (std::int64_t j = first; j <= last; ++j) {
      const double z = static_cast<double>(j) * range.step;
      if (m * z - m * m / 2 > 300) {  // |r|² would overflow
        points_.clear();
        return;
      }
      add_point(z, a, rotation, power, range.step);
    }
    error_ += 2 * unit * static_cast<double>(points_.size()) *
              total_;  // the rounding of a sum over all points
  }
  [[nodiscard]] std::size_t size() const { return points_.size(); }

  /// Returns log M at Im β = t >= 0.
  [[nodiscard]] LogMgfValue at(double t) const {
    if (points_.empty()) return {{infinity, 0}, infinity};
    spend(35 * static_cast<double>(points_.size()));
    Complex sum{0, 0};
    for (const Point& point : points_) {
      const double decay = t * point.arg;
      if (decay > 60) continue;  // below e^-60 of its weight
      const double size = std::exp(-decay);
      const double y = t * point.log;
      const double cosine = std::cos(y) * size;
      const double sine = std::sin(y) * size;
      sum.re += point.re * cosine - point.im * sine;
      sum.im += point.re * sine + point.im * cosine;
    }
    constexpr double skipped = 1e-26;  // bounds e^-60
    return log_of_scaled(sum, scale_, omitted_ + error_ + t * error_slope_ + skipped * total_);
  }

 private:
  struct Point {
    double re, im;    // the weight, over e^scale
    double log, arg;  // of r
  };
  // The points are -left, -left + step, ..., right in z; they leave out `omitted` of e^-scale M.
  struct Range {
    double step, left, right, omitted;
  };

  // Chooses the step by the rule's error, and the range by the tails that it truncates.
  [[nodiscard]] Range choose_range(double a, double power, double bound,
                                   double log_tolerance) const {
    const double m = mu_.value;
    const double rate = q_.value;
    const double lift =
        a * a / (2 * m * m);  // log of the factor by which the normal weight grows on Im ℓ = a
    // the integrand is analytic for 0 <= Im ℓ <= 2a, where its mean size is at most e^((2a)²/(2μ²))
    // e^bound
    const double level = 4 * lift + bound - scale_;
    const double step = std::min(0.5, 2 * pi * a / (m * std::max(1.0, level - log_tolerance)));
    const double left_level = lift + (power < 0 ? power * std::log1p(-rate) : 0) - scale_;
    const double left = std::sqrt(2 * std::max(1.0, left_level - log_tolerance));
    const auto right_level = [&](double z) {
      // for power < 0, |r|^power is above 1 only for ℓ < 1: above that Re r >= 1, since e cos(a) >
      // 1
      if (power < 0)
        return lift + (m * z - m * m / 2 < 1 ? power * std::log1p(-rate) : 0) + log_normal_tail(z) -
               scale_;
      const double far =
          power * std::log(rate) + (power - 1) * power * m * m / 2 + log_normal_tail(z - power * m);
      return lift + power * std::log(2.0) + log_sum(log_normal_tail(z), far) - scale_;
    };
    double right = 4;
    while (right_level(right) > log_tolerance && right < 1e4) right += 1;
    const double omitted = std::exp(std::log(2.1) + level - 2 * pi * a / (m * step)) +
                           std::exp(left_level + log_normal_tail(left)) +
                           std::exp(right_level(right));
    return {step, left, right, omitted};
  }

  // Adds the point z + ia/μ with its weight, the normal density times r^power over e^scale, and its
  // errors. `rotation` is e^(ia).
  void add_point(double z, double a, Complex rotation, double power, double step) {
    const double m = mu_.value;
    const double rate = q_.value;
    const double lift = a * a / (2 * m * m);
    const double loss = m * z - m * m / 2;
    const double e = rate * std::exp(loss);
    const double re = e * rotation.re - rate;  // of r - 1
    const double im = e * rotation.im;
    const Complex log = log1p({re, im});
    const double size = step / root_two_pi * std::exp(-z * z / 2 + lift + power * log.re - scale_);
    const double phase = -z * a / m + power * log.im;
    points_.push_back({size * std::cos(phase), size * std::sin(phase), log.re, log.im});
    total_ += size;
    const double log_error =
        (m * m + m * std::abs(z)) * (mu_.relative + 8 * unit) * e / std::hypot(1 + re, im) +
        std::hypot(re, im) * (q_.relative + 16 * unit);
    error_ += size *
              (unit * (64 + 2 * z * z + 4 * lift + 8 * std::abs(scale_) + std::abs(z) * a / m * 8) +
               mu_.relative * (std::abs(z) * a / m + 2 * lift) + std::abs(power) * log_error);
    error_slope_ += size * (log_error + 8 * unit * abs(log));
  }

  RoundedDouble mu_{Real(0)};
  RoundedDouble q_{Real(0)};
  std::vector<Point> points_;
  double scale_ = 0;
  double total_ = 0;           // the sum of the weights' sizes
  double omitted_ = infinity;  // of e^-scale M: quadrature and truncation
  double error_ = 0;           // of the weights
  double error_slope_ = 0;     // of r, over t
};

}  // namespace sotto::pld_detail
