// A mixture of Gaussian steps whose μ² is revealed: M(s) = Σ p e^(s(s+1)μ²/2).
//
// ∂δ(ε; μ)/∂μ = φ(μ/2 - ε/μ) is e^(ε/2 - ε²/(2μ²)) times ∂δ(0; μ)/∂μ, and that factor grows with μ: δ(ε; ·) is a convex function of the total
// variation u = 2Φ(μ/2) - 1, for every ε. So a step is dominated by two others, one smaller and one larger, drawn so that u has its mean: off in
// second order of their distance alone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/numerics/normal.hpp"
#include "sotto/pld/token_walk.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::root_two_pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct NearShare {
  RoundedDouble squared;
  RoundedDouble mass;
};

class MixtureLine : public LogMgf {
 public:
  MixtureLine(const std::vector<NearShare>& shares, double c) : shares_(shares), c_(c) {
    spend(4 * static_cast<double>(shares.size()));
    for (const NearShare& share : shares) scale_ = std::max(scale_, c * (c + 1) * share.squared.value / 2);
    if (scale_ < 300) scale_ = 0;
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    spend(50 * static_cast<double>(shares_.size()));
    const Complex half{(c_ * (c_ + 1) - t * t) / 2, t * (2 * c_ + 1) / 2};
    const double size = (c_ * (c_ + 1) + t * t + t * (2 * c_ + 1)) / 2;
    Complex sum{0, 0};
    double error = 0;
    if (scale_ == 0) {
      // M - 1 = Σ p (e^z - 1)
      for (const NearShare& share : shares_) {
        const Complex z = share.squared.value * half;
        const Complex one = exp_excess(z) + z;
        sum += share.mass.value * one;
        const double reach = size * share.squared.value;
        const double top = std::max(1.0, std::exp(z.re));
        error += share.mass.value * top * reach * (160 * unit + adding() + share.mass.relative + share.squared.relative);
      }
      return pld_detail::log_of_excess(sum, error);
    }
    double all = 0;
    for (const NearShare& share : shares_) {
      const Complex z = share.squared.value * half;
      const Complex one = share.mass.value * exp(Complex{z.re - scale_, z.im});
      all += share.mass.value;
      sum += one;
      error += abs(one) * (64 * unit + adding() + share.mass.relative + size * share.squared.value * (share.squared.relative + 8 * unit));
    }
    const double rest = std::max(0.0, 1 - all) * std::exp(-scale_);
    return pld_detail::log_of_scaled(sum + Complex{rest, 0}, scale_, error + 1e-8 * std::exp(-scale_));
  }
  double work() const override { return 2 * static_cast<double>(shares_.size()); }
  // Every term's size falls with t.
  double decay_bound(double t, Extent /*reach*/) const override {
    spend(20 * static_cast<double>(shares_.size()));
    double sum = 0;
    double all = 0;
    const double half = (c_ * (c_ + 1) - t * t) / 2;
    const double size = (c_ * (c_ + 1) + t * t) / 2;
    const double scale = std::max(0.0, scale_);
    double slack = 0;
    for (const NearShare& share : shares_) {
      const double z = half * share.squared.value;
      sum += share.mass.value * (1 + share.mass.relative) * std::exp(z - scale);
      all += share.mass.value * (1 - share.mass.relative);
      slack = std::max(slack, size * share.squared.value * share.squared.relative);
    }
    const double rest = std::max(0.0, 1 - all + adding()) * std::exp(-scale);
    return scale + std::log(sum + rest + 1e-300) + slack + adding() + 64 * unit * (1 + scale);  // no more underflows than that
  }

 private:
  // the rounding of a sum, relative to the sum of its terms' sizes
  [[nodiscard]] double adding() const { return 2 * unit * static_cast<double>(shares_.size()); }

  const std::vector<NearShare>& shares_;
  double c_;
  double scale_ = 0;
};

class MixtureLoss : public PrivacyLoss {
 public:
  explicit MixtureLoss(const std::vector<GaussianComponent>& shares) {
    double sum = 0;
    double error = 0;
    for (const GaussianComponent& share : shares) {
      if (share.squared_mu.upper() <= 0 || share.mass.upper() <= 0) continue;
      shares_.push_back({RoundedDouble(share.squared_mu), RoundedDouble(share.mass)});
      sum += shares_.back().mass.value;
      error += shares_.back().mass.value * (shares_.back().mass.relative + 2 * unit * static_cast<double>(shares.size()));
    }
    pld_detail::require_masses(sum, 2 * error + 4 * unit, pld_detail::MassSum::part);
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<MixtureLine>(shares_, c); }
  double cumulant(double c) const override {
    spend(20 * static_cast<double>(shares_.size()));
    const double half = c * (c + 1) / 2;
    double scale = 0;
    for (const NearShare& share : shares_) scale = std::max(scale, half * share.squared.value);
    double sum = 0;
    if (scale < 300) {
      for (const NearShare& share : shares_) sum += share.mass.value * std::expm1(half * share.squared.value);
      return std::log1p(sum);
    }
    for (const NearShare& share : shares_) sum += share.mass.value * std::exp(half * share.squared.value - scale);
    return scale + std::log(sum);
  }
  double standard_deviation() const override {
    double square = 0;
    for (const NearShare& share : shares_) square += share.mass.value * share.squared.value * (1 + share.squared.value / 4);
    return std::sqrt(square);
  }
  bool symmetric() const override { return true; }

 private:
  std::vector<NearShare> shares_;
};

// So many steps as one.
class RepeatedLine : public LogMgf {
 public:
  RepeatedLine(std::unique_ptr<LogMgf> one, double times) : one_(std::move(one)), times_(times) {}
  void prepare(double top, double tolerance) override { one_->prepare(top, tolerance / times_); }
  LogMgfValue at(double t) const override {
    const LogMgfValue one = one_->at(t);
    return {times_ * one.log, times_ * one.error + 4 * unit * times_ * abs(one.log)};
  }
  double decay_bound(double t, Extent reach) const override {
    const double one = times_ * one_->decay_bound(t, reach);
    return one + 4 * unit * std::abs(one);
  }
  double work() const override { return one_->work(); }

 private:
  std::unique_ptr<LogMgf> one_;
  double times_;
};

class RepeatedLoss : public PrivacyLoss {
 public:
  RepeatedLoss(PrivacyLossPtr one, double times) : one_(std::move(one)), times_(times) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<RepeatedLine>(one_->log_mgf(c), times_); }
  double cumulant(double c) const override { return times_ * one_->cumulant(c); }
  double max_loss() const override { return times_ * one_->max_loss() * (1 + 4 * unit); }
  double pole() const override { return one_->pole(); }
  bool symmetric() const override { return one_->symmetric(); }
  double standard_deviation() const override { return std::sqrt(times_) * one_->standard_deviation(); }

 private:
  PrivacyLossPtr one_;
  double times_;
};

// R(t) = P(Z > t)/φ(t), to (30 + 8t²) units.
double mills(double t) { return std::erfc(t / std::sqrt(2.0)) / 2 * root_two_pi * std::exp(t * t / 2); }

// δ(ε; μ) for an ε > 0, rounded up: φ(x)(R(x) - R(y)) with x = ε/μ - μ/2 and y = x + μ.
double delta_above(double epsilon, double mu) {
  const double centre = epsilon / mu;
  const double x = centre - mu / 2;
  const double y = centre + mu / 2;
  const double shift = 4 * unit * (centre + mu);  // how far off x and y are
  if (!(shift < 1e-3)) return 1;
  if (x > 39) return std::numeric_limits<double>::min();
  const double off = 2 * shift * (1 + std::abs(x)) + unit * (64 + 16 * x * x);
  if (x >= 25) {  // R(x) <= 1/x, and -R'(x) = 1 - xR(x) <= 1/(1 + x²) falls
    return std::exp(-x * x / 2) / root_two_pi * std::min(1 / x, mu / (1 + x * x)) * (1 + off);
  }
  if (mu < 1e-3) {  // -R' is convex, so that the trapezium is above its integral; here x > -1/2000
    const auto fall = [](double t) { return 1 - t * mills(t) + unit * (64 + 16 * t * t); };
    return std::exp(-x * x / 2) / root_two_pi * mu / 2 * (fall(x) + fall(y)) * (1 + 4 * off);
  }
  const double above = std::erfc(x / std::sqrt(2.0)) / 2;
  if (!(epsilon < 600 && y < 36)) {  // e^ε P(Z > y) = φ(x) R(y), and R(y) >= y/(1 + y²)
    const double least = std::exp(-x * x / 2) / root_two_pi / (y + 1 / y) * std::max(0.0, 1 - 2 * off);
    return std::max(0.0, above - least) + above * off;
  }
  const double below = std::exp(epsilon) * std::erfc(y / std::sqrt(2.0)) / 2;
  const double rounding = 2 * shift * (1 + y) + unit * (64 + 16 * y * y + 4 * epsilon);
  return std::max(0.0, above - below) + above * off + below * rounding;
}

// 2Φ(μ/2) - 1, to 16 units of itself.
double total_variation(double squared) { return std::erf(std::sqrt(squared / 8)); }

}  // namespace

PrivacyLossPtr repeated_loss(const PrivacyLossPtr& one, std::int64_t times) {
  return times == 1 ? one : std::make_shared<RepeatedLoss>(one, static_cast<double>(times));
}

double gaussian_mixture_delta(const std::vector<GaussianComponent>& shares, double epsilon) {
  spend(50 * static_cast<double>(shares.size()));
  double sum = 0;
  for (const GaussianComponent& share : shares) {
    const double mu = std::sqrt(share.squared_mu.upper()) * (1 + 2 * unit);
    if (!(mu > 0)) continue;
    const double one = epsilon > 0 ? delta_above(epsilon, mu) : std::erf(mu / std::sqrt(8.0)) * (1 + 16 * unit);
    sum += std::max(0.0, share.mass.upper()) * std::min(1.0, one);
  }
  // an addend below the least normal number loses less than that; NaN where a loss is no number
  const double rounded =
      sum * (1 + 2 * unit * static_cast<double>(shares.size() + 2)) + static_cast<double>(shares.size() + 1) * std::numeric_limits<double>::min();
  return std::isnan(rounded) ? 1 : std::min(1.0, rounded);
}

PrivacyLossPtr gaussian_mixture_loss(const std::vector<GaussianComponent>& shares) { return std::make_shared<MixtureLoss>(shares); }

std::vector<GaussianComponent> coarsen_mixture(const std::vector<GaussianComponent>& shares, std::size_t most) {
  if (shares.size() <= most) return shares;
  spend(150 * static_cast<double>(shares.size()));
  double largest = 0;
  double smallest = infinity;
  for (const GaussianComponent& share : shares) {
    if (!std::isfinite(share.squared_mu.upper()) || !std::isfinite(share.mass.upper()))
      pld_detail::throw_unrepresentable("a component of a Gaussian mixture is not finite");
    largest = std::max(largest, share.squared_mu.upper());
    if (share.squared_mu.upper() > 0) smallest = std::min(smallest, share.squared_mu.upper());
  }
  // 0, then a geometric grid up to the largest
  const auto cells = static_cast<double>(most - 1);
  const double log_ratio = std::log(largest / smallest) / cells;
  std::vector<double> squared{0};
  for (double i = cells; i >= 0; --i) squared.push_back(i == 0 ? largest : largest * std::exp(-i * log_ratio));
  std::vector<double> variation;
  for (const double at : squared) variation.push_back(total_variation(at));
  std::vector<double> mass(squared.size(), 0);
  double relative = 0;
  for (const GaussianComponent& share : shares) {
    const double at = share.squared_mu.upper();
    const auto above = static_cast<std::size_t>(std::lower_bound(squared.begin() + 1, squared.end() - 1, at) - squared.begin());
    const double width = variation[above] - variation[above - 1];
    double part = 1;
    if (at < squared[above] && width > 0) {
      part = std::clamp((total_variation(at) - variation[above - 1]) / width + 64 * unit * variation[above] / width, 0.0, 1.0);
    }
    const RoundedDouble own(share.mass);
    mass[above] += part * own.value;
    mass[above - 1] += (1 - part) * own.value;
    relative = std::max(relative, own.relative);
  }
  relative += 2 * unit * (static_cast<double>(shares.size()) + 8);
  std::vector<GaussianComponent> result;
  for (std::size_t i = 1; i < squared.size(); ++i) {
    if (mass[i] > 0) result.push_back({squared[i], Real(mass[i]).widened(relative * mass[i])});
  }
  return result;
}

}  // namespace sotto
