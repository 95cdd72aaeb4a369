// The privacy loss of Poisson-sampled Gaussian noise, the step of DP-SGD. The base's loss is ℓ = μz
// - μ²/2 with z standard normal under Q, and M(s) = E_Q[r^β] is summed by the trapezoidal rule in
// z, on the real line or on a path above it (docs/theory/pld/moment-generating-functions.md).
#include <cmath>
#include <optional>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/subsampling/poisson_sum.hpp"
#include "pld/subsampling/shifted_path.hpp"

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

constexpr double max_points = 50000;  // of the trapezoidal rule

class PoissonGaussianLogMgf : public LogMgf {
 public:
  // `scaled` is for an M(c) far from 1.
  PoissonGaussianLogMgf(RoundedDouble mu, RoundedDouble rate, Direction direction, double c,
                        bool scaled)
      : mu_(mu),
        q_(rate),
        direction_(direction),
        c_(c),
        power_(power_of(direction, c)),
        sum_(power_, false),
        real_sum_(power_, false) {
    // M(c) <= (1-q) + q e^(c(c+1)μ²/2) by convexity, and M(c) <= (1-q)^-c for an added record
    log_mgf_bound_ = direction == Direction::remove
                         ? log_sum(std::log1p(-q_.value),
                                   std::log(q_.value) + c * (c + 1) * mu.value * mu.value / 2)
                         : power_ * std::log1p(-q_.value);
    scaled_ = scaled;
    real_sum_ = PoissonSum(power_, scaled_);
    // the tolerance is relative to M - 1, which is about β(β-1)/2 times the variance of r
    const double variance = q_.value * q_.value * std::expm1(std::min(mu.value * mu.value, 100.0));
    real_sum_error_ = fill(real_sum_, 0, std::clamp(1e-15 * variance * c * (c + 1), 1e-200, 1e-13));
  }
  void prepare(double top, double tolerance) override {
    sum_ = PoissonSum(power_, scaled_);
    sum_error_ = fill(sum_, top, tolerance);
    top_ = top;
    // if the real line takes many points, use the moved path instead, if it takes few
    if (sum_.size() == 0 || sum_.size() > 400) {
      const double scale = real_sum_.at(0, real_sum_error_).log.re;
      const double bound = direction_ == Direction::remove
                               ? pld_detail::upper_log_mgf(real_sum_.at(0, real_sum_error_))
                               : log_mgf_bound_;
      if (std::isfinite(scale))
        path_ = pld_detail::ShiftedPath(mu_, q_, power_, bound, scale, tolerance);
    }
    if (path_.size() > 0 && (sum_.size() == 0 || 3 * path_.size() < sum_.size()))
      sum_ = PoissonSum(power_, scaled_);
  }
  LogMgfValue at(double t) const override {
    if (t == 0) return real_sum_.at(0, real_sum_error_);
    if (t > top_) return {{infinity, 0}, infinity};
    if (sum_.size() > 0) return sum_.at(imaginary_of(direction_, t), sum_error_);
    LogMgfValue value = path_.at(t);
    if (direction_ == Direction::add) value.log.im = -value.log.im;  // β = -s
    return value;
  }
  double work() const override { return static_cast<double>(sum_.size() + 4 * path_.size()); }
  // Moves the path of integration to Im ℓ = a:
  // |M(c+iτ)| <= ∫ |w(ℓ+ia)| |r(ℓ+ia)|^power e^(-τ arg r(ℓ+ia)) dℓ.
  // The bound decreases in τ, because arg r >= 0 there. (For an added record the path moves down,
  // with the same result.) The integral is evaluated by the trapezoidal rule, whose own
  // error and truncation are added.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double m = mu_.value;
    const double squared = m * m;
    if (std::isinf(real_sum_error_)) return infinity;
    const double a = choose_height(t);
    const double all =
        pld_detail::upper_log_mgf(real_sum_.at(imaginary_of(direction_, 0), real_sum_error_));
    // bounds log of the mean of |r|^power on the lines Im ℓ = a ± y, which the rule's error below
    // needs
    const double bound = direction_ == Direction::remove ? all : power_ * std::log1p(-q_.value);

    // the range of z, as far out as the bounds on the tails are small; they are crude if |power| is
    // large
    constexpr double farthest = 400;
    const double half =
        std::min(farthest, std::max(10.0, std::sqrt(2 * (60 + std::max(0.0, bound)))));
    const double y = std::min(0.6, 8 * m);
    const double step = std::min(
        0.25, 2 * pi * y / (m * (45 + std::max(0.0, bound) + (a * a + y * y) / (2 * squared))));
    const double needed = direction_ == Direction::remove
                              ? std::min(farthest, step + std::sqrt(2 * (60 + c_ * std::log(2.0))))
                              : 0;
    const double last = std::max(half + (direction_ == Direction::remove ? power_ * m : 0), needed);
    double total = log_integral_above(a, t, -half, last, step);

    // the rule's error: its integrand is analytic for |Im ℓ| <= y, and its mean there at most
    // e^(y²/(2μ²)) e^bound
    total = log_sum(total, std::log(2.1) + y * y / (2 * squared) + bound - 2 * pi * y / (m * step));
    // the truncated tails
    total = log_sum(
        total, std::log(2.0) + std::max(0.0, bound) + pld_detail::log_normal_tail(half - step));
    if (direction_ == Direction::remove) {
      total =
          log_sum(total, c_ * std::log(2.0) + power_ * std::log(q_.value) +
                             c_ * power_ * squared / 2 + pld_detail::log_normal_tail(half - step));
      total = log_sum(total, c_ * std::log(2.0) + pld_detail::log_normal_tail(last - step));
    }
    total += a * a / (2 * squared);
    return std::min(all, total + 256 * unit * (4 + std::abs(total) + last * last));
  }

 private:
  // Returns the height a of a decay bound at t, near the best one: a²/(2μ²) against t times the
  // mean of arg r, which is about a times the mean of q e^ℓ/r. Any a is valid; beyond 40μ it would
  // take too many points.
  [[nodiscard]] double choose_height(double t) const {
    const double highest = std::max(1e-6, std::min(0.9, 40 * mu_.value));
    return std::clamp(t * real_sum_.mean([&](double u) {
      return std::max(0.0, 1 - (1 - q_.value) * std::exp(-u));
    }) * (mu_.value * mu_.value),
                      1e-6, highest);
  }

  // Returns the log of the trapezoidal rule for ∫ φ(z) |r|^power e^(-t arg r) dz on Im ℓ = a,
  // without the factor e^(a²/(2μ²)) of the normal weight.
  [[nodiscard]] double log_integral_above(double a, double t, double first, double last,
                                          double step) const {
    const double m = mu_.value;
    const double squared = m * m;
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    spend(80 * (-first + last) / step);
    std::vector<double> logs;
    double scale = -infinity;
    for (double z = first; z <= last; z += step) {
      const double loss = m * z - squared / 2;
      const double e = std::exp(std::min(loss, 600.0)) * q_.value;
      const double re = 1 - q_.value + e * cosine;
      const double im = e * sine;
      logs.push_back(-z * z / 2 +
                     power_ * (std::log(re * re + im * im) / 2 + std::max(0.0, loss - 600)) -
                     t * std::atan2(im, re));
      scale = std::max(scale, logs.back());
    }
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - scale);
    return scale + std::log(sum * step / root_two_pi);
  }

  // The range of the trapezoidal rule, from -left to right in z. The truncated tails are at most
  // e^log_left + e^log_right.
  struct Range {
    double left, log_left;
    double right, log_right;
  };

  // Fills a sum for |Im s| <= top. Returns a bound on the errors of quadrature and truncation, over
  // e^(the sum's scale); infinite if the sum would be too large.
  double fill(PoissonSum& sum, double top, double tolerance) const {
    const double m = mu_.value;
    if (!(std::abs(power_) * m < 1000) || !(m < 50) || !(top < 1e9))
      return infinity;                                // e^(βu) would overflow
    const double size = std::hypot(power_, top) + 1;  // bounds |β| and |β| + 1
    const double log_tolerance = std::log(tolerance) - 1.5;
    double scale = 0;
    const auto range = choose_range(size, log_tolerance, scale);
    if (!range) return infinity;

    // the step: the error is 2 N_a / (e^(2πa/(μ step)) - 1), N_a the mean size of the integrand on
    // Im ℓ = a
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
    if ((range->left + range->right) / step > max_points) return infinity;
    const double quadrature = std::exp(std::log(2.1) + level - 2 * pi * a / (m * step));

    const auto first = static_cast<std::int64_t>(std::floor(-range->left / step)) - 1;
    const auto last = static_cast<std::int64_t>(std::ceil(range->right / step)) + 1;
    const double log_step = std::log(step / root_two_pi);
    for (std::int64_t j = first; j <= last; ++j) {
      const double z = static_cast<double>(j) * step;
      const double loss_error = (m * m + m * std::abs(z)) * (mu_.relative + 4 * unit);
      sum.add(log_ratio(q_, m * z - m * m / 2, loss_error), log_step - z * z / 2,
              (8 + z * z) * unit);
    }
    sum.finish();
    const double truncation =
        std::exp(range->log_left - scale) + std::exp(range->log_right - scale);
    return (quadrature + truncation) * std::exp(scale - sum.scale()) * 1.01;
  }

  // Chooses the range of z for |β| < size, and the scale: log of about the largest term, 0 without
  // scaling, to which the truncation is relative. nullopt if no range suffices.
  [[nodiscard]] std::optional<Range> choose_range(double size, double log_tolerance,
                                                  double& scale) const {
    const double m = mu_.value;
    const double q = q_.value;
    // on the left |(r^β - 1) - β(r - 1)| <= max(1, (1-q)^-c) + 1 + |β|, and P(Z > z) <= e^(-z²/2)
    const double left_level = std::log(2 + size) + (power_ < 0 ? power_ * std::log1p(-q) : 0);
    const double left = std::sqrt(2 * std::max(1.0, left_level - log_tolerance));
    // on the right r^(c+1) <= 2^c ((1-q)^(c+1) + q^(c+1) e^((c+1)ℓ)), and |β| r
    const auto right_level = [&](double z) {
      const double low =
          power_ < 0 && z < m / 2 ? power_ * std::log1p(-q) : 0;  // r^-c is above 1 only for ℓ < 0
      double level =
          low + std::log(2 + size) +
          log_sum(pld_detail::log_normal_tail(z), std::log(q) + pld_detail::log_normal_tail(z - m));
      if (power_ > 0) {
        const double far = power_ * std::log(q) + c_ * power_ * m * m / 2 +
                           pld_detail::log_normal_tail(z - power_ * m);
        level = log_sum(level, c_ * std::log(2.0) + log_sum(pld_detail::log_normal_tail(z), far));
      }
      return level;
    };
    if (scaled_) {
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
    if (right >= 1e4) return std::nullopt;
    return Range{left, left_level + pld_detail::log_normal_tail(left), right, right_level(right)};
  }

  // Returns an upper bound on the log of the mean of |(r^β - 1) - β(r - 1)| on Im ℓ = a, for |Im s|
  // <= top: cell by cell of z with every factor at its largest, since |r| <= r(Re ℓ), |r| >= 1 - q
  // for a <= π/2, and arg r increases with Re ℓ.
  double log_mean_on(double a, double top, double size) const {
    const double m = mu_.value;
    const double q = q_.value;
    if (top == 0)
      return a * a / (2 * m * m) + log_sum(log_mgf_bound_, std::log(1 + 2 * size)) + 0.01;
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    const double width = 0.5;
    const double reference = log_mgf_bound_ + top * a;  // bounds the sum, so that nothing overflows
    double total = 0;
    double largest = -infinity;
    for (double z = -9; z < 1e6; z += width) {
      spend(100);
      const double loss = m * (z + width) - m * m / 2;
      const double e = q * std::exp(std::min(loss, 600.0));
      const double log_size =
          power_ > 0 ? std::log(1 - q + e) + std::max(0.0, loss - 600) : std::log1p(-q);
      const double arg =
          cosine > 0 && loss < 600 ? std::min(a, std::atan2(e * sine, 1 - q + e * cosine)) : a;
      const double value = power_ * log_size + top * arg;
      const double peak = z > 0 ? z : std::min(0.0, z + width);
      if (z == -9) total = std::exp(value + pld_detail::log_normal_tail(9) - reference);
      const double term = value - peak * peak / 2;
      total += width / root_two_pi * std::exp(term - reference);
      largest = std::max(largest, term);
      // beyond both peaks the terms decrease ever faster
      if (z > 9 && z > std::max(power_, 1.0) * m && term < largest - 45) break;
    }
    return a * a / (2 * m * m) +
           log_sum(reference + std::log(total + 1e-280), std::log(1 + 2 * size)) + 0.01;
  }

  RoundedDouble mu_;
  RoundedDouble q_;
  Direction direction_;
  double c_;
  double power_;
  double log_mgf_bound_;  // an upper bound on log M(c) in closed form
  bool scaled_ = false;
  PoissonSum sum_;       // for 0 < t <= top_; empty if the path is used
  PoissonSum real_sum_;  // for t = 0
  pld_detail::ShiftedPath path_;
  double top_ = 0;
  double sum_error_ = infinity;
  double real_sum_error_ = 0;
};

class PoissonGaussianLoss : public PrivacyLoss {
 public:
  PoissonGaussianLoss(const Real& mu, const Real& rate, Direction direction)
      : mu_(mu), rate_(rate), direction_(direction), exact_mu_(mu), exact_rate_(rate) {
    if (direction == Direction::add) max_loss_ = (-log1p(-rate)).upper();
    if (!(mu_.value < 50)) return;
    spend(3e3);
    // points of the trapezoidal rule that cumulant() needs at every usual c
    for (double z = -9; z <= 12 + 12 * mu_.value && points_.size() < 400; z += step())
      points_.push_back(point_at(z));
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<PoissonGaussianLogMgf>(mu_, rate_, direction_, c, cumulant(c) > 0.5);
  }
  double cumulant(double c) const override {
    // the trapezoidal rule with a coarse step, without bounds on its errors
    const double m = mu_.value;
    const double power = power_of(direction_, c);
    if (!(std::abs(power) * m < 1000) || !(m < 50)) return infinity;
    const double last = 9 + std::max(0.0, power) * m;
    const bool scaled = direction_ == Direction::remove &&
                        (c + 1) * std::log(rate_.value) + c * (c + 1) * m * m / 2 > 3;
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
        const double rise = tilt < 1 ? point.mass * exp_excess(tilt)
                                     : std::exp(tilt - z * z / 2) - point.mass * (1 + tilt);
        sum += rise - power * point.base_excess;
      }
    }
    sum *= step() / root_two_pi;
    return scaled ? scale + std::log(sum) : std::log1p(sum);
  }
  double max_loss() const override { return max_loss_; }
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::poisson_distribution(pld_detail::gaussian_distribution(mu_), rate_,
                                            direction_);
  }
  PrivacyLossPtr reversed() const override {
    return poisson_gaussian_loss(exact_mu_, exact_rate_, pld_detail::opposite(direction_));
  }
  double standard_deviation() const override {
    return rate_.value * std::sqrt(std::expm1(std::min(mu_.value * mu_.value, 30.0)));
  }
  std::optional<SampledFamily> sampled_family() const override {
    return SampledFamily{exact_mu_, exact_rate_,
                         [direction = direction_](const Real& mu, const Real& rate) {
                           return poisson_gaussian_loss(mu, rate, direction);
                         }};
  }

 private:
  struct RoughPoint {
    double u;
    double mass;         // e^(-z²/2)
    double base_excess;  // mass (e^u - 1 - u)
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
  std::vector<RoughPoint> points_;  // at z = -9, -9 + step, …
  Real exact_mu_;
  Real exact_rate_;
  double max_loss_ = infinity;
};

}  // namespace

PrivacyLossPtr poisson_gaussian_loss(const Real& mu, const Real& rate, Direction direction) {
  return std::make_shared<PoissonGaussianLoss>(mu, rate, direction);
}

}  // namespace sotto
