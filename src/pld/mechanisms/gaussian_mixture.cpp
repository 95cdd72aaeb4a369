// A mixture of Gaussian steps whose μ² is revealed: M(s) = Σ p e^(s(s+1)μ²/2).
//
// ∂δ(ε; μ)/∂μ = φ(μ/2 - ε/μ) is e^(ε/2 - ε²/(2μ²)) times ∂δ(0; μ)/∂μ, and that factor grows with μ: δ(ε; ·) is a convex function of the total
// variation u = 2Φ(μ/2) - 1, for every ε. So a step is dominated by two others, one smaller and one larger, drawn so that u has its mean: off in
// second order of their distance alone.
#include <algorithm>
#include <cmath>

#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/numerics/normal.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct NearShare {
  RoundedDouble squared;
  RoundedDouble mass;
};

class MixtureLine : public LogMgf {
 public:
  MixtureLine(const std::vector<NearShare>& shares, double c) : shares_(shares), c_(c) {
    for (const NearShare& share : shares) scale_ = std::max(scale_, c * (c + 1) * share.squared.value / 2);
    if (scale_ < 300) scale_ = 0;
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
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
  explicit MixtureLoss(const std::vector<GaussianShare>& shares) {
    for (const GaussianShare& share : shares) {
      if (share.squared_mu.upper() > 0 && share.mass.upper() > 0) shares_.push_back({RoundedDouble(share.squared_mu), RoundedDouble(share.mass)});
    }
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<MixtureLine>(shares_, c); }
  double standard_deviation() const override {
    double square = 0;
    for (const NearShare& share : shares_) square += share.mass.value * share.squared.value * (1 + share.squared.value / 4);
    return std::sqrt(square);
  }
  bool symmetric() const override { return true; }

 private:
  std::vector<NearShare> shares_;
};

// 2Φ(μ/2) - 1, to 16 units of itself.
double total_variation(double squared) { return std::erf(std::sqrt(squared / 8)); }

}  // namespace

PrivacyLossPtr gaussian_mixture_loss(const std::vector<GaussianShare>& shares) { return std::make_shared<MixtureLoss>(shares); }

std::vector<GaussianShare> split_shares(const std::vector<GaussianShare>& shares, std::size_t most) {
  if (shares.size() <= most) return shares;
  spend(20 * static_cast<double>(shares.size()));
  double largest = 0;
  double smallest = infinity;
  for (const GaussianShare& share : shares) {
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
  for (const GaussianShare& share : shares) {
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
  std::vector<GaussianShare> result;
  for (std::size_t i = 1; i < squared.size(); ++i) {
    if (mass[i] > 0) result.push_back({squared[i], Real(mass[i]).widened(relative * mass[i])});
  }
  return result;
}

}  // namespace sotto
