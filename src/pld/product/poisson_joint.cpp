// Poisson sampling of Gaussian noise together with other steps: the trapezoidal rule in the loss itself, whose density the Gaussian
// makes entire. On Im ℓ = a it is at most e^(a²/(2μ²)) times that at Re ℓ, as for a Gaussian alone, so the bounds are the same.
#include <cmath>

#include "exact/exact.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "subsampling/poisson_sum.hpp"
#include "tail_split/base_noise.hpp"

namespace sotto {
namespace {

using pld_detail::imaginary_of;
using pld_detail::infinity;
using pld_detail::JointDensity;
using pld_detail::log_ratio;
using pld_detail::log_sum;
using pld_detail::pi;
using pld_detail::PoissonSum;
using pld_detail::power_of;
using pld_detail::RoundedDouble;
using pld_detail::unit;

constexpr double most_points = 20000;

// The density, and its values at whole multiples of a step.
struct Base {
  std::shared_ptr<const JointDensity> shared;
  const JointDensity& density;
  double step;
  std::vector<JointDensity::Value> values;  // at 0, step, 2 step, … up to the density's reach

  Base(const Real& squared_mu, const std::vector<LossStep>& rest) : shared(std::make_shared<const JointDensity>(squared_mu, rest)), density(*shared) {
    step = std::min(0.25 * density.mu().value, 0.07);
    for (double j = 0; j * step < density.reach(); ++j) values.push_back(density.at(j * step));
  }
  [[nodiscard]] JointDensity::Value at(std::int64_t j) const {
    const auto index = static_cast<std::size_t>(std::abs(j));
    if (index >= values.size()) return {-infinity, infinity};
    const double loss = static_cast<double>(index) * step;
    return {values[index].log + (j < 0 ? loss : 0), values[index].error_bound + (j < 0 ? 4 * unit * loss : 0)};
  }
};

class SampledJointLine : public LogMgf {
 public:
  // `scaled`: M(c) is far from 1.
  SampledJointLine(const Base& base, RoundedDouble rate, Direction direction, double c, bool scaled)
      : base_(base),
        q_(rate),
        direction_(direction),
        power_(power_of(direction, c)),
        scaled_(scaled),
        grid_(power_, scaled),
        coarse_(power_, scaled) {
    const JointDensity& density = base.density;
    // M(c) <= (1-q) + q E_Q[e^((c+1)L)] by convexity; for an added record M(c) <= (1-q)^-c
    lift_ =
        direction == Direction::remove ? log_sum(std::log1p(-q_.value), std::log(q_.value) + density.moment(c + 1)) : power_ * std::log1p(-q_.value);
    if (!std::isfinite(lift_)) return;
    width_ = std::max(density.mu().value / 2, density.rest() / 100);
    const double variance = q_.value * q_.value * std::expm1(std::min(density.moment(2), 100.0));
    coarse_missing_ = fill(coarse_, 0, std::clamp(1e-15 * variance * c * (c + 1), 1e-200, 1e-13));
  }
  void reach(double top, double tolerance) override {
    grid_ = PoissonSum(power_, scaled_);
    missing_ = fill(grid_, top, tolerance);
    top_ = top;
  }
  LogMgfValue at(double t) const override {
    if (t == 0) return coarse_.at(0, coarse_missing_);
    if (t > top_) return {{infinity, 0}, infinity};
    return grid_.at(imaginary_of(direction_, t), missing_);
  }
  double work() const override { return static_cast<double>(grid_.size()); }
  // The path moved to Im ℓ = a, as for a Gaussian alone: |M(c+iτ)| <= e^(a²/(2μ²)) ∫ density |r(ℓ+ia)|^power e^(-τ arg r(ℓ+ia)) dℓ.
  double decay_bound(double t, Extent /*reach*/) const override {
    if (!(coarse_missing_ < infinity)) return infinity;
    const JointDensity& density = base_.density;
    const double squared = density.mu().value * density.mu().value;
    const double q = q_.value;
    const double most = std::max(1e-6, std::min(0.9, 40 * density.mu().value));
    const double a = std::clamp(t * coarse_.mean([&](double u) { return std::max(0.0, 1 - (1 - q) * std::exp(-u)); }) * squared, 1e-6, most);
    const double all = pld_detail::top_of(coarse_.at(0, coarse_missing_));
    const double bound = direction_ == Direction::remove ? all : power_ * std::log1p(-q);  // on the lines nearby
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    const double h = base_.step;
    const double tolerance = -45 - a * a / (2 * squared);
    const auto first = -steps_to(left_cut(tolerance), h);
    const auto last = steps_to(right_cut(1, tolerance + std::min(0.0, all)), h);
    spend(100 * static_cast<double>(last - first + 1));
    double sum = 0;
    double worst_error = 0;
    for (std::int64_t j = first; j <= last; ++j) {
      const JointDensity::Value value = base_.at(j);
      if (std::isinf(value.error_bound)) return all;
      const double loss = static_cast<double>(j) * h;
      const double e = std::exp(std::min(loss, 600.0)) * q;
      const double re = 1 - q + e * cosine;
      const double im = e * sine;
      const double size = power_ * (std::log(re * re + im * im) / 2 + std::max(0.0, loss - 600)) - t * std::atan2(im, re);
      sum += std::exp(value.log + size - bound);
      worst_error = std::max(worst_error, value.error_bound);
    }
    double total = bound + std::log(sum * h);
    // the sum's own error: its integrand is analytic for |Im ℓ| <= y, and there at most e^(y²/(2μ²)) e^bound in the mean
    const double y = std::min(0.6, 2 * pi * squared / h);
    total = log_sum(total, std::log(2.1) + y * y / (2 * squared) + bound - 2 * pi * y / h);
    total = log_sum(total, log_sum(left_level(1, static_cast<double>(-first) * h), right_level(1, static_cast<double>(last) * h)));
    total += a * a / (2 * squared);
    return std::min(all, total + worst_error + 256 * unit * (4 + std::abs(total) + std::abs(power_) * static_cast<double>(last) * h));
  }

 private:
  static std::int64_t steps_to(double loss, double h) { return static_cast<std::int64_t>(std::ceil(loss / h)) + 1; }

  // log of bounds on what lies beyond a loss on either side, of (|r^β| + 1 + |β| |r - 1|); size >= |β| + 1.
  // To the left |(r^β - 1) - β(r - 1)| <= max(1, (1-q)^-c) + 1 + |β|, and Q(L < -R) = E_Q[e^L; L > R].
  [[nodiscard]] double left_level(double size, double from) const {
    return std::log(2 + size) + (power_ < 0 ? power_ * std::log1p(-q_.value) : 0) + base_.density.tail(1, from);
  }
  // To the right r^(c+1) <= (1-q) + q e^((c+1)ℓ), |r|^-c <= (1-q)^-c also on Im ℓ <= π/2, and r <= 1 + q e^ℓ.
  [[nodiscard]] double right_level(double size, double from) const {
    const JointDensity& density = base_.density;
    const double level = std::log(2 + size) + log_sum(density.tail(0, from), std::log(q_.value) + density.tail(1, from));
    return power_ > 0 ? log_sum(level, std::log(q_.value) + density.tail(power_, from)) : level + power_ * std::log1p(-q_.value);
  }
  [[nodiscard]] double left_cut(double log_tolerance) const {
    double from = base_.density.mu().value;
    while (from < base_.density.reach() && left_level(1, from) > log_tolerance) from += 0.5 * base_.density.mu().value;
    return std::min(from, base_.density.reach() - 12 * base_.step);
  }
  [[nodiscard]] double right_cut(double size, double log_tolerance) const {
    double from = base_.density.mu().value;
    while (from < base_.density.reach() && right_level(size, from) > log_tolerance) from += 0.5 * base_.density.mu().value;
    return from;
  }

  // Fills the grid for |Im s| <= top; returns a bound on what it leaves out, relative to e^(the grid's scale).
  double fill(PoissonSum& grid, double top, double tolerance) const {
    const JointDensity& density = base_.density;
    const double m = density.mu().value;
    if (!std::isfinite(lift_) || !(top < 1e9)) return infinity;
    const double size = std::hypot(power_, top) + 1;  // bounds |β| and |β| + 1
    const double log_tolerance = std::log(tolerance) - 1.5;
    double scale = 0;
    if (scaled_) {  // the largest term, found roughly: the cut is relative to it
      scale = -infinity;
      for (std::int64_t j = -steps_to(density.rest() + 9 * m, base_.step); static_cast<double>(j) * base_.step < density.reach(); j += 2) {
        const JointDensity::Value value = base_.at(j);
        if (std::isinf(value.error_bound)) continue;
        scale = std::max(scale, value.log + std::log(m) + power_ * log_ratio(q_, static_cast<double>(j) * base_.step, 0).u);
      }
    }
    const double left = left_cut(log_tolerance + scale - std::log(2 + size));
    const double right = right_cut(size, log_tolerance + scale);
    if (!(right < density.reach() - 12 * base_.step)) return infinity;
    const double cut = log_sum(left_level(size, left), right_level(size, right));
    // The step: 2 N_a / (e^(2πa/step) - 1), N_a the mean size of the integrand on Im ℓ = a.
    const std::vector<double> cells = top > 0 ? cells_to(right) : std::vector<double>{};
    double step = 0;
    double level = infinity;
    double a = 0;
    for (const double height : {3 * m, 6 * m, 10 * m, 0.05, 0.15, 0.4, 0.9, 1.5, 2.6}) {
      if (height > 1.55 && (direction_ == Direction::add || height != 2.6)) continue;
      const double here = log_mean_on(height, top, size, cells, right) - scale;
      const double candidate = 2 * pi * height / std::max(1.0, here - log_tolerance);
      if (candidate > step) {
        step = candidate;
        level = here;
        a = height;
      }
    }
    // a multiple of the step at which values are kept, or a part of it
    double times = std::floor(step / base_.step);
    times = times >= 1 ? std::min(times, 4.0) : 1 / std::ceil(base_.step / step);
    step = times * base_.step;
    if (!(step > 0) || (left + right) / step > most_points) return infinity;
    const double quadrature = std::exp(std::log(2.1) + level - 2 * pi * a / step);
    const double log_step = std::log(step);
    for (std::int64_t j = -steps_to(left, step); j <= steps_to(right, step); ++j) {
      const double loss = static_cast<double>(j) * step;
      const JointDensity::Value value = times >= 1 ? base_.at(j * static_cast<std::int64_t>(times)) : density.at(loss);
      if (std::isinf(value.error_bound)) return infinity;
      grid.add(log_ratio(q_, loss, 2 * unit * std::abs(loss)), log_step + value.log, value.error_bound + 8 * unit);
    }
    grid.settle();
    return (quadrature + std::exp(cut - scale)) * std::exp(scale - grid.scale()) * 1.01;
  }

  // log of the mass, from above, of cells of a given width from -right to right.
  [[nodiscard]] std::vector<double> cells_to(double right) const {
    std::vector<double> cells;
    for (double low = -right; low < right; low += width_) cells.push_back(base_.density.above(low, low + width_) + std::log(width_));
    return cells;
  }

  // An upper bound on log of the mean of |(r^β - 1) - β(r - 1)| on Im ℓ = a, for |Im s| <= top: cell by cell, every factor at
  // its largest (|r| <= r(Re ℓ), |r| >= 1 - q for a <= π/2, and arg r grows with Re ℓ).
  [[nodiscard]] double log_mean_on(double a, double top, double size, const std::vector<double>& cells, double right) const {
    const double m = base_.density.mu().value;
    const double q = q_.value;
    const double lifted = a * a / (2 * m * m) + 0.01;
    const double others = std::log(1 + 2 * size);
    if (top == 0) return lifted + log_sum(lift_, others);
    spend(120 * static_cast<double>(cells.size()));
    const double cosine = std::cos(a);
    const double sine = std::sin(a);
    double total = -infinity;
    for (std::size_t j = 0; j < cells.size(); ++j) {
      const double loss = -right + static_cast<double>(j + 1) * width_;
      const double e = q * std::exp(std::min(loss, 600.0));
      const double log_size = power_ > 0 ? std::log(1 - q + e) + std::max(0.0, loss - 600) : std::log1p(-q);
      const double arg = cosine > 0 && loss < 600 ? std::min(a, std::atan2(e * sine, 1 - q + e * cosine)) : a;
      const double value = power_ * log_size + top * arg;
      total = log_sum(total, value + cells[j]);
      if (j == 0) total = log_sum(total, value + base_.density.tail(1, right));
    }
    total = log_sum(total, top * a + right_level(1, right));
    return lifted + log_sum(total, others);
  }

  const Base& base_;
  RoundedDouble q_;
  Direction direction_;
  double power_;
  bool scaled_;
  double lift_ = infinity;  // bounds log M(c)
  double width_ = 0;
  PoissonSum grid_;
  PoissonSum coarse_;
  double top_ = 0;
  double missing_ = infinity;
  double coarse_missing_ = infinity;
};

class SampledJointLoss : public pld_detail::SampledStep, public pld_detail::OnSample {
 public:
  SampledJointLoss(std::shared_ptr<const Base> base, const Real& rate, Direction direction)
      : base_(std::move(base)),
        exact_rate_(rate),
        rate_(rate),
        direction_(direction),
        spread_(rate_.value * std::sqrt(std::expm1(std::min(base_->density.moment(2), 30.0)))) {
    if (direction == Direction::add) max_loss_ = (-log1p(-rate)).upper();
    for (std::int64_t j = 1 - static_cast<std::int64_t>(base_->values.size()); j < static_cast<std::int64_t>(base_->values.size()); ++j) {
      const JointDensity::Value value = base_->at(j);
      if (!std::isinf(value.error_bound))
        points_.push_back({static_cast<double>(j) * base_->step, log_ratio(rate_, static_cast<double>(j) * base_->step, 0).u, value.log});
    }
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<SampledJointLine>(*base_, rate_, direction_, c, cumulant(c) > 0.5);
  }
  double cumulant(double c) const override {
    // the trapezoidal rule as in the line, unbounded errors
    spend(25 * static_cast<double>(points_.size()));
    const double power = power_of(direction_, c);
    double scale = 0;
    double place = 0;  // of the largest term
    for (const RoughPoint& point : points_) {
      if (point.log + power * point.u <= scale) continue;
      scale = point.log + power * point.u;
      place = point.loss;
    }
    if (std::abs(place) > base_->density.reach() - 14 * base_->density.mu().value) return infinity;  // too near where the density is no longer known
    const bool scaled = scale > 3;
    double sum = 0;
    for (const auto& [loss, u, log] : points_) {
      const double tilt = power * u;
      if (scaled) {
        sum += std::exp(log + tilt - scale);
      } else if (log + std::max({tilt, u, 0.0}) > -60) {
        const double mass = std::exp(log);
        sum += std::abs(tilt) < 1 ? mass * exp_excess(tilt) : std::exp(log + tilt) - mass * (1 + tilt);
        sum -= power * (u < 1 ? mass * exp_excess(u) : std::exp(log + u) - mass * (1 + u));
      }
    }
    sum *= base_->step;
    return scaled ? scale + std::log(sum) : std::log1p(sum);
  }
  double max_loss() const override { return max_loss_; }
  double standard_deviation() const override { return spread_; }
  RoundedDouble mu() const override {  // only what the loss is measured in: the density has the room of its parameters
    RoundedDouble scale = base_->density.mu();
    scale.relative = 0;
    return scale;
  }
  RoundedDouble rate() const override { return rate_; }
  Direction direction() const override { return direction_; }
  std::shared_ptr<const pld_detail::BaseNoise> noise() const override { return pld_detail::joint_noise(base_->shared); }
  Parts parts() const override { return {base_->density.steps(), rate_, direction_}; }
  PrivacyLossPtr reversed() const override { return std::make_shared<SampledJointLoss>(base_, exact_rate_, pld_detail::opposite(direction_)); }

 private:
  struct RoughPoint {
    double loss;
    double u;
    double log;  // of the density
  };
  std::shared_ptr<const Base> base_;
  Real exact_rate_;
  RoundedDouble rate_;
  Direction direction_;
  double spread_;
  double max_loss_ = infinity;
  std::vector<RoughPoint> points_;
};

}  // namespace

PoissonPair poisson_joint_losses(const Real& squared_mu, const std::vector<LossStep>& rest, const Real& rate) {
  const auto base = std::make_shared<const Base>(squared_mu, rest);
  return {std::make_shared<SampledJointLoss>(base, rate, Direction::remove), std::make_shared<SampledJointLoss>(base, rate, Direction::add)};
}

}  // namespace sotto
