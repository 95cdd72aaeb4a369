// Poisson sampling of Gaussian noise.
#include <cmath>

#include "grid/distribution.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "subsampling/poisson_sum.hpp"
#include "subsampling/shifted_path.hpp"

namespace sotto {
namespace {

using pld_detail::imaginary_of;
using pld_detail::infinity;
using pld_detail::log_ratio;
using pld_detail::log_sum;
using pld_detail::pi;
using pld_detail::PoissonSum;
using pld_detail::power_of;
using pld_detail::root_two_pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

// --- Gaussian base: ℓ = μz - μ²/2, z standard normal under Q; the trapezoidal rule in z. ---

constexpr double most_points = 50000;

class SampledGaussianLine : public LogMgf {
 public:
  // `scaled`: M(c) is far from 1.
  SampledGaussianLine(RoundedDouble mu, RoundedDouble rate, Direction direction, double c, bool scaled)
      : mu_(mu), q_(rate), direction_(direction), c_(c), power_(power_of(direction, c)), grid_(power_, false), coarse_(power_, false) {
    // M(c) <= (1-q) + q e^(c(c+1)μ²/2) by convexity; for an added record M(c) <= (1-q)^-c
    lift_ = direction == Direction::remove ? log_sum(std::log1p(-q_.value), std::log(q_.value) + c * (c + 1) * mu.value * mu.value / 2)
                                           : power_ * std::log1p(-q_.value);
    scaled_ = scaled;
    coarse_ = PoissonSum(power_, scaled_);
    // relative to M - 1, which is about β(β-1)/2 times the variance of r
    const double variance = q_.value * q_.value * std::expm1(std::min(mu.value * mu.value, 100.0));
    coarse_missing_ = fill(coarse_, 0, std::clamp(1e-15 * variance * c * (c + 1), 1e-200, 1e-13));
  }
  void prepare(double top, double tolerance) override {
    grid_ = PoissonSum(power_, scaled_);
    missing_ = fill(grid_, top, tolerance);
    top_ = top;
    // where the real line takes many points, the moved path takes few
    if (grid_.size() == 0 || grid_.size() > 400) {
      const double scale = coarse_.at(0, coarse_missing_).log.re;
      const double bound = direction_ == Direction::remove ? pld_detail::upper_log_mgf(coarse_.at(0, coarse_missing_)) : lift_;
      if (std::isfinite(scale)) path_ = pld_detail::ShiftedPath(mu_, q_, power_, bound, scale, tolerance);
    }
    if (path_.size() > 0 && (grid_.size() == 0 || 3 * path_.size() < grid_.size())) grid_ = PoissonSum(power_, scaled_);
  }
  LogMgfValue at(double t) const override {
    if (t == 0) return coarse_.at(0, coarse_missing_);
    if (t > top_) return {{infinity, 0}, infinity};
    if (grid_.size() > 0) return grid_.at(imaginary_of(direction_, t), missing_);
    LogMgfValue value = path_.at(t);
    if (direction_ == Direction::add) value.log.im = -value.log.im;  // β = -s
    return value;
  }
  double work() const override { return static_cast<double>(grid_.size() + 4 * path_.size()); }
  // Move the path of integration to Im ℓ = a: |M(c+iτ)| <= ∫ |w(ℓ+ia)| |r(ℓ+ia)|^power e^(-τ arg r(ℓ+ia)) dℓ, which falls
  // with τ because arg r >= 0 there. (For an added record the path moves down, with the same outcome.)
  double decay_bound(double t, Extent /*reach*/) const override {
    const double squared = mu_.value * mu_.value;
    // near the best a: a²/(2μ²) against t times the mean of arg r, which is about a times the mean of q e^ℓ/r
    if (std::isinf(coarse_missing_)) return infinity;
    // (any a will do; beyond 40μ the bound is below e^-800, and the points too many)
    const double most = std::max(1e-6, std::min(0.9, 40 * mu_.value));
    const double a = std::clamp(t * coarse_.mean([&](double u) { return std::max(0.0, 1 - (1 - q_.value) * std::exp(-u)); }) * squared, 1e-6, most);
    const double all = pld_detail::upper_log_mgf(coarse_.at(imaginary_of(direction_, 0), coarse_missing_));
    const double bound = direction_ == Direction::remove ? all : power_ * std::log1p(-q_.value);  // on the lines nearby
    // as far out as the bounds on what lies beyond, which are crude where |power| is large, are small
    constexpr double farthest = 400;
    const double half = std::min(farthest, std::max(10.0, std::sqrt(2 * (60 + std::max(0.0, bound)))));
    const double y = std::min(0.6, 8 * mu_.value);
    const double step = std::min(0.25, 2 * pi * y / (mu_.value * (45 + std::max(0.0, bound) + (a * a + y * y) / (2 * squared))));
    const double needed = direction_ == Direction::remove ? std::min(farthest, step + std::sqrt(2 * (60 + c_ * std::log(2.0)))) : 0;
    const double last = std::max(half + (direction_ == Direction::remove ? power_ * mu_.value : 0), needed);
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    spend(80 * (half + last) / step);
    std::vector<double> logs;
    double scale = -infinity;
    for (double z = -half; z <= last; z += step) {
      const double loss = mu_.value * z - squared / 2;
      const double e = std::exp(std::min(loss, 600.0)) * q_.value;
      const double re = 1 - q_.value + e * cosine;
      const double im = e * sine;
      logs.push_back(-z * z / 2 + power_ * (std::log(re * re + im * im) / 2 + std::max(0.0, loss - 600)) - t * std::atan2(im, re));
      scale = std::max(scale, logs.back());
    }
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - scale);
    double total = scale + std::log(sum * step / root_two_pi);
    // the sum's own error: its integrand is analytic for |Im ℓ| <= y, and there at most e^(y²/(2μ²)) e^bound in the mean
    total = log_sum(total, std::log(2.1) + y * y / (2 * squared) + bound - 2 * pi * y / (mu_.value * step));
    total = log_sum(total, std::log(2.0) + std::max(0.0, bound) + pld_detail::log_normal_tail(half - step));
    if (direction_ == Direction::remove) {
      total = log_sum(total, c_ * std::log(2.0) + power_ * std::log(q_.value) + c_ * power_ * squared / 2 + pld_detail::log_normal_tail(half - step));
      total = log_sum(total, c_ * std::log(2.0) + pld_detail::log_normal_tail(last - step));
    }
    total += a * a / (2 * squared);
    return std::min(all, total + 256 * unit * (4 + std::abs(total) + last * last));
  }

 private:
  // Fills the grid for |Im s| <= top; returns a bound on what it leaves out, relative to e^(the grid's scale).
  double fill(PoissonSum& grid, double top, double tolerance) const {
    const double m = mu_.value;
    const double q = q_.value;
    if (!(std::abs(power_) * m < 1000) || !(m < 50) || !(top < 1e9)) return infinity;  // beyond what the grid can hold
    const double size = std::hypot(power_, top) + 1;                                   // bounds |β| and |β| + 1
    const double log_tolerance = std::log(tolerance) - 1.5;
    // To the left |(r^β - 1) - β(r - 1)| <= max(1, (1-q)^-c) + 1 + |β|.
    const double left_level = std::log(2 + size) + (power_ < 0 ? power_ * std::log1p(-q) : 0);
    const double left = std::sqrt(2 * std::max(1.0, left_level - log_tolerance));  // P(Z > z) <= e^(-z²/2)
    // To the right r^(c+1) <= 2^c ((1-q)^(c+1) + q^(c+1) e^((c+1)ℓ)), and |β| r.
    const auto right_level = [&](double z) {
      const double low = power_ < 0 && z < m / 2 ? power_ * std::log1p(-q) : 0;  // r^-c is above 1 as long as ℓ < 0
      double level = low + std::log(2 + size) + log_sum(pld_detail::log_normal_tail(z), std::log(q) + pld_detail::log_normal_tail(z - m));
      if (power_ > 0) {
        const double far = power_ * std::log(q) + c_ * power_ * m * m / 2 + pld_detail::log_normal_tail(z - power_ * m);
        level = log_sum(level, c_ * std::log(2.0) + log_sum(pld_detail::log_normal_tail(z), far));
      }
      return level;
    };
    double scale = 0;
    if (scaled_) {  // the largest term, found roughly: the cut is relative to it
      scale = -infinity;
      for (double z = -left; z < left + std::max(0.0, power_) * m; z += 0.25) {
        scale = std::max(scale, -z * z / 2 + power_ * log_ratio(q_, m * z - m * m / 2, 0).u);
      }
    }
    double right = 4;
    while (right_level(right) > log_tolerance + scale && right < 1e4) {
      spend(100);
      right += 1;
    }
    if (right >= 1e4) return infinity;
    // The step: 2 N_a / (e^(2πa/(μ step)) - 1), N_a the mean size of the integrand on Im ℓ = a.
    double step = 0;
    double level = infinity;
    double a = 0;
    for (const double height : {0.05, 0.15, 0.4, 0.9, 1.5, 2.6}) {
      if (height > 1.55 && direction_ == Direction::add) break;
      const double here = log_mean_on(height, top, size) - scale;
      const double candidate = 2 * pi * height / (m * std::max(1.0, here - log_tolerance));
      if (candidate > step) {
        step = candidate;
        level = here;
        a = height;
      }
    }
    step = std::min(step, 0.5);
    if ((left + right) / step > most_points) return infinity;
    const double quadrature = std::exp(std::log(2.1) + level - 2 * pi * a / (m * step));
    const auto first = static_cast<std::int64_t>(std::floor(-left / step)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil(right / step)) + 1;
    const double log_step = std::log(step / root_two_pi);
    for (std::int64_t j = first; j <= last; ++j) {
      const double z = static_cast<double>(j) * step;
      const double error_bound = (m * m + m * std::abs(z)) * (mu_.relative + 4 * unit);
      grid.add(log_ratio(q_, m * z - m * m / 2, error_bound), log_step - z * z / 2, (8 + z * z) * unit);
    }
    grid.settle();
    const double cut = std::exp(left_level + pld_detail::log_normal_tail(left) - scale) + std::exp(right_level(right) - scale);
    return (quadrature + cut) * std::exp(scale - grid.scale()) * 1.01;
  }

  // An upper bound on log of the mean of |(r^β - 1) - β(r - 1)| on Im ℓ = a, for |Im s| <= top: cell by cell, every factor at
  // its largest (|r| <= r(Re ℓ), |r| >= 1 - q for a <= π/2, and arg r grows with Re ℓ).
  double log_mean_on(double a, double top, double size) const {
    const double m = mu_.value;
    const double q = q_.value;
    if (top == 0) return a * a / (2 * m * m) + log_sum(lift_, std::log(1 + 2 * size)) + 0.01;
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    const double width = 0.5;
    const double reference = lift_ + top * a;  // an upper bound on what is summed
    double total = 0;
    double largest = -infinity;
    for (double z = -9; z < 1e6; z += width) {
      spend(100);
      const double loss = m * (z + width) - m * m / 2;
      const double e = q * std::exp(std::min(loss, 600.0));
      const double log_size = power_ > 0 ? std::log(1 - q + e) + std::max(0.0, loss - 600) : std::log1p(-q);
      const double arg = cosine > 0 && loss < 600 ? std::min(a, std::atan2(e * sine, 1 - q + e * cosine)) : a;
      const double value = power_ * log_size + top * arg;
      const double peak = z > 0 ? z : std::min(0.0, z + width);
      if (z == -9) total = std::exp(value + pld_detail::log_normal_tail(9) - reference);
      const double term = value - peak * peak / 2;
      total += width / root_two_pi * std::exp(term - reference);
      largest = std::max(largest, term);
      // beyond both peaks the terms fall faster than they did
      if (z > 9 && z > std::max(power_, 1.0) * m && term < largest - 45) break;
    }
    return a * a / (2 * m * m) + log_sum(reference + std::log(total + 1e-280), std::log(1 + 2 * size)) + 0.01;
  }

  RoundedDouble mu_;
  RoundedDouble q_;
  Direction direction_;
  double c_;
  double power_;
  double lift_;  // bounds log M(c)
  bool scaled_ = false;
  PoissonSum grid_;
  PoissonSum coarse_;
  pld_detail::ShiftedPath path_;
  double top_ = 0;
  double missing_ = infinity;
  double coarse_missing_ = 0;
};

class SampledGaussianLoss : public PrivacyLoss {
 public:
  SampledGaussianLoss(const Real& mu, const Real& rate, Direction direction)
      : mu_(mu), rate_(rate), direction_(direction), exact_mu_(mu), exact_rate_(rate) {
    if (direction == Direction::add) max_loss_ = (-log1p(-rate)).upper();
    if (!(mu_.value < 50)) return;
    spend(3e3);
    // what a cumulant needs at every c: points enough for usual ones
    for (double z = -9; z <= 12 + 12 * mu_.value && points_.size() < 400; z += step()) points_.push_back(point_at(z));
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<SampledGaussianLine>(mu_, rate_, direction_, c, cumulant(c) > 0.5);
  }
  double cumulant(double c) const override {
    // the trapezoidal rule as in the line, unbounded errors
    const double m = mu_.value;
    const double power = power_of(direction_, c);
    if (!(std::abs(power) * m < 1000) || !(m < 50)) return infinity;
    const double last = 9 + std::max(0.0, power) * m;
    const bool scaled = direction_ == Direction::remove && (c + 1) * std::log(rate_.value) + c * (c + 1) * m * m / 2 > 3;
    spend(20 * (9 + last) / step());
    double sum = 0;
    double scale = 0;
    std::size_t j = 0;
    for (double z = -9; z <= last; z += step(), ++j) {
      const RoughPoint point = j < points_.size() ? points_[j] : point_at(z);
      const double tilt = power * point.u;
      if (scaled) {
        const double log = tilt - z * z / 2;
        if (log > scale) {
          sum *= std::exp(scale - log);
          scale = log;
        }
        sum += std::exp(log - scale);
      } else {
        const double rise = tilt < 1 ? point.mass * exp_excess(tilt) : std::exp(tilt - z * z / 2) - point.mass * (1 + tilt);
        sum += rise - power * point.first;
      }
    }
    sum *= step() / root_two_pi;
    return scaled ? scale + std::log(sum) : std::log1p(sum);
  }
  double max_loss() const override { return max_loss_; }
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::poisson_distribution(pld_detail::gaussian_distribution(mu_), rate_, direction_);
  }
  PrivacyLossPtr reversed() const override { return poisson_gaussian_loss(exact_mu_, exact_rate_, pld_detail::opposite(direction_)); }
  double standard_deviation() const override { return rate_.value * std::sqrt(std::expm1(std::min(mu_.value * mu_.value, 30.0))); }
  std::optional<SampledFamily> sampled_family() const override {
    return SampledFamily{exact_mu_, exact_rate_,
                  [direction = direction_](const Real& mu, const Real& rate) { return poisson_gaussian_loss(mu, rate, direction); }};
  }

 private:
  struct RoughPoint {
    double u;
    double mass;   // e^(-z²/2)
    double first;  // times e^u - 1 - u
  };
  [[nodiscard]] double step() const { return std::min(0.7, 1 / mu_.value); }
  [[nodiscard]] RoughPoint point_at(double z) const {
    const double m = mu_.value;
    const double u = std::log1p(rate_.value * std::expm1(std::min(700.0, m * z - m * m / 2)));
    const double mass = std::exp(-z * z / 2);
    return {u, mass, mass * exp_excess(u)};
  }

  RoundedDouble mu_;
  RoundedDouble rate_;
  Direction direction_;
  std::vector<RoughPoint> points_;  // at -9, -9 + step, …
  Real exact_mu_;
  Real exact_rate_;
  double max_loss_ = infinity;
};

}  // namespace

PrivacyLossPtr poisson_gaussian_loss(const Real& mu, const Real& rate, Direction direction) {
  return std::make_shared<SampledGaussianLoss>(mu, rate, direction);
}

}  // namespace sotto
