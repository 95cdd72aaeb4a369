#include "tail_split/base_noise.hpp"

#include <cmath>

namespace sotto::pld_detail {
namespace {

class GaussianNoise : public BaseNoise {
 public:
  explicit GaussianNoise(const RoundedDouble& mu) : mu_(mu) {}
  Value at(double x, double b) const override {
    const double turn = x * b;
    return {(b * b - x * x) / 2 - std::log(root_two_pi), {std::cos(turn), -std::sin(turn)}, unit * (16 + 2 * (b * b + x * x) + 4 * std::abs(turn))};
  }
  double log_near(double z) const override { return -z * z / 2 - std::log(root_two_pi); }
  double log_above(double low, double high) const override {
    const double nearest = low > 0 ? low : std::min(0.0, high);
    return -nearest * nearest / 2 - std::log(root_two_pi) + 1e-9;
  }
  double log_left(double x) const override { return log_tail(x); }
  double log_right(double x) const override { return log_tail(x); }
  double log_right_raised(double x) const override { return log_tail(x - mu_.value * (1 + 1e-8)); }
  double log_square() const override { return mu_.value * mu_.value * (1 + 1e-8); }
  double variation() const override { return std::erf(mu_.value / std::sqrt(8.0)) * (1 + mu_.relative + 16 * unit); }
  double beside() const override { return 0; }

 private:
  RoundedDouble mu_;
};

class JointNoise : public BaseNoise {
 public:
  explicit JointNoise(std::shared_ptr<const JointDensity> density)
      : density_(std::move(density)), mu_(density_->mu().value), beside_(density_->rest() / mu_ * (1 + 1e-9)), square_(density_->moment(2)) {
    const double last = density_->reach() / mu_ - mu_;
    for (double z = -last; z <= last; z += spacing) {
      const JointDensity::Value value = density_->at(mu_ * z - mu_ * mu_ / 2);
      const bool known = !std::isinf(value.error_bound);
      bends_.push_back(known ? value.log + std::log(mu_) + z * z / 2 : infinity);
      rooms_.push_back(known ? value.error_bound + 16 * unit * (1 + z * z) + 1e-9 : 0);
    }
    first_ = -last;
  }
  Value at(double x, double b) const override {
    const JointDensity::ComplexValue value = density_->at(Complex{mu_ * x - mu_ * mu_ / 2, mu_ * b});
    if (std::isinf(value.error_bound)) {  // far out, where it counts for nothing
      const double loss = mu_ * x - mu_ * mu_ / 2;
      const double off = 1e-9 * (1 + std::abs(loss));
      return {density_->above(loss - off, loss + off) + std::log(mu_) + b * b / 2 + 1e-9, {0, 0}, 1};
    }
    // the loss is rounded: by so much times the slope of log density, at most (|z| + B/μ)/μ
    const double moved = 8 * unit * (std::abs(x) + b + mu_) * (std::abs(x) + b + mu_ + beside_);
    const double rounding = 16 * unit * (1 + std::abs(value.log));
    return {value.log + std::log(mu_), value.factor, value.error_bound + (2 * moved * std::exp(b * b / 2) + rounding) * value.size};
  }
  double log_near(double z) const override {
    const double bend = bend_at(z).value;
    const double beyond = std::max(0.0, std::abs(z) - beside_);
    return std::isfinite(bend) ? bend - z * z / 2 : -beyond * beyond / 2;
  }
  // log density + z²/2 is convex: below the line through its values at the ends, which minus z²/2 has one peak.
  double log_above(double low, double high) const override {
    const auto [left, left_room] = bend_at(low);
    const auto [right, right_room] = bend_at(high);
    if (!(std::isfinite(left) && std::isfinite(right))) {
      const double half = mu_ * mu_ / 2;
      return density_->above(mu_ * low - half - 1e-9 * (1 + std::abs(low)), mu_ * high - half + 1e-9 * (1 + std::abs(high))) + std::log(mu_) + 1e-9;
    }
    const double slope = (right - left) / (high - low);
    const double peak = std::clamp(slope, low, high);
    return left + slope * (peak - low) - peak * peak / 2 + std::max(left_room, right_room);
  }
  double log_left(double x) const override { return density_->tail(1, std::max(0.0, mu_ * x + mu_ * mu_ / 2) * (1 - 1e-12)); }
  double log_right(double x) const override { return std::min(0.0, density_->tail(0, std::max(0.0, mu_ * x - mu_ * mu_ / 2) * (1 - 1e-12))); }
  double log_right_raised(double x) const override { return std::min(0.0, density_->tail(1, std::max(0.0, mu_ * x - mu_ * mu_ / 2) * (1 - 1e-12))); }
  double log_square() const override { return square_; }
  double variation() const override { return 1; }
  double beside() const override { return beside_; }

 private:
  static constexpr double spacing = 0.25;
  struct Bend {
    double value;  // of log density + z²/2, from above but for its room
    double error_bound;
  };
  // By the line between two values that are known.
  [[nodiscard]] Bend bend_at(double z) const {
    const double place = (z - first_) / spacing;
    if (!(place >= 0) || !(place + 1 < static_cast<double>(bends_.size()))) return {infinity, 0};
    const auto j = static_cast<std::size_t>(place);
    const double part = place - static_cast<double>(j);
    return {bends_[j] + part * (bends_[j + 1] - bends_[j]), std::max(rooms_[j], rooms_[j + 1])};
  }

  std::shared_ptr<const JointDensity> density_;
  double mu_;
  double beside_;
  double square_;
  double first_ = 0;
  std::vector<double> bends_, rooms_;  // at first, first + spacing, …
};

}  // namespace

std::shared_ptr<const BaseNoise> gaussian_noise(const RoundedDouble& mu) { return std::make_shared<GaussianNoise>(mu); }

std::shared_ptr<const BaseNoise> joint_noise(std::shared_ptr<const JointDensity> density) { return std::make_shared<JointNoise>(std::move(density)); }

}  // namespace sotto::pld_detail
