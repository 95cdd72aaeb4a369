// The privacy loss of a mixture of Gaussian steps whose μ² is revealed: M(s) = Σ p e^(s(s+1)μ²/2).
//
// A mixture is coarsened by splitting components. ∂δ(ε; μ)/∂μ = φ(μ/2 - ε/μ) is e^(ε/2 - ε²/(2μ²))
// times ∂δ(0; μ)/∂μ, and that factor increases with μ. So for every ε, δ(ε; ·) is a convex function
// of the total variation distance u = 2Φ(μ/2) - 1, and a component is dominated by two others, one
// smaller and one larger, whose u has the same mean. The excess is of second order in the distance
// of the two.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "pld/api/token_walk.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::root_two_pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct RoundedComponent {
  RoundedDouble squared_mu;
  RoundedDouble mass;
};

class GaussianMixtureLogMgf : public LogMgf {
 public:
  GaussianMixtureLogMgf(const std::vector<RoundedComponent>& components, double c)
      : components_(components), c_(c) {
    spend(4 * static_cast<double>(components.size()));
    for (const RoundedComponent& component : components)
      scale_ = std::max(scale_, c * (c + 1) * component.squared_mu.value / 2);
    if (scale_ < 300) scale_ = 0;  // M does not overflow, and is summed as M - 1
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    spend(50 * static_cast<double>(components_.size()));
    const Complex half{(c_ * (c_ + 1) - t * t) / 2, t * (2 * c_ + 1) / 2};
    const double size = (c_ * (c_ + 1) + t * t + t * (2 * c_ + 1)) / 2;
    Complex sum{0, 0};
    double error = 0;
    if (scale_ == 0) {
      // M - 1 = Σ p (e^z - 1), z = s(s+1)μ²/2
      for (const RoundedComponent& component : components_) {
        const Complex z = component.squared_mu.value * half;
        const Complex one = exp_excess(z) + z;
        sum += component.mass.value * one;
        const double reach = size * component.squared_mu.value;
        const double top = std::max(1.0, std::exp(z.re));
        error +=
            component.mass.value * top * reach *
            (160 * unit + sum_rounding() + component.mass.relative + component.squared_mu.relative);
      }
      return pld_detail::log_of_excess(sum, error);
    }
    double all = 0;
    for (const RoundedComponent& component : components_) {
      const Complex z = component.squared_mu.value * half;
      const Complex one = component.mass.value * exp(Complex{z.re - scale_, z.im});
      all += component.mass.value;
      sum += one;
      error += abs(one) *
               (64 * unit + sum_rounding() + component.mass.relative +
                size * component.squared_mu.value * (component.squared_mu.relative + 8 * unit));
    }
    const double rest = std::max(0.0, 1 - all) * std::exp(-scale_);
    return pld_detail::log_of_scaled(sum + Complex{rest, 0}, scale_,
                                     error + 1e-8 * std::exp(-scale_));
  }
  double work() const override { return 2 * static_cast<double>(components_.size()); }
  // The size of every term decreases in t.
  double decay_bound(double t, Extent /*reach*/) const override {
    spend(20 * static_cast<double>(components_.size()));
    double sum = 0;
    double all = 0;
    const double half = (c_ * (c_ + 1) - t * t) / 2;
    const double size = (c_ * (c_ + 1) + t * t) / 2;
    const double scale = std::max(0.0, scale_);
    double slack = 0;
    for (const RoundedComponent& component : components_) {
      const double z = half * component.squared_mu.value;
      sum += component.mass.value * (1 + component.mass.relative) * std::exp(z - scale);
      all += component.mass.value * (1 - component.mass.relative);
      slack = std::max(slack, size * component.squared_mu.value * component.squared_mu.relative);
    }
    const double rest = std::max(0.0, 1 - all + sum_rounding()) * std::exp(-scale);
    return scale + std::log(sum + rest + 1e-300) + slack + sum_rounding() +
           64 * unit * (1 + scale);  // 1e-300 bounds what underflows
  }

 private:
  // Returns a bound on the rounding of a sum over all components, relative to the sum of its terms'
  // sizes.
  [[nodiscard]] double sum_rounding() const {
    return 2 * unit * static_cast<double>(components_.size());
  }

  const std::vector<RoundedComponent>& components_;
  double c_;
  double scale_ = 0;
};

class GaussianMixtureLoss : public PrivacyLoss {
 public:
  explicit GaussianMixtureLoss(const std::vector<GaussianComponent>& components) {
    double sum = 0;
    double error = 0;
    for (const GaussianComponent& component : components) {
      if (component.squared_mu.upper() <= 0 || component.mass.upper() <= 0) continue;
      components_.push_back({RoundedDouble(component.squared_mu), RoundedDouble(component.mass)});
      sum += components_.back().mass.value;
      error += components_.back().mass.value * (components_.back().mass.relative +
                                                2 * unit * static_cast<double>(components.size()));
    }
    pld_detail::require_masses(sum, 2 * error + 4 * unit, pld_detail::MassSum::part);
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<GaussianMixtureLogMgf>(components_, c);
  }
  double cumulant(double c) const override {
    spend(20 * static_cast<double>(components_.size()));
    const double half = c * (c + 1) / 2;
    double scale = 0;
    for (const RoundedComponent& component : components_)
      scale = std::max(scale, half * component.squared_mu.value);
    double sum = 0;
    if (scale < 300) {
      for (const RoundedComponent& component : components_)
        sum += component.mass.value * std::expm1(half * component.squared_mu.value);
      return std::log1p(sum);
    }
    for (const RoundedComponent& component : components_)
      sum += component.mass.value * std::exp(half * component.squared_mu.value - scale);
    return scale + std::log(sum);
  }
  double standard_deviation() const override {
    double square = 0;
    for (const RoundedComponent& component : components_)
      square +=
          component.mass.value * component.squared_mu.value * (1 + component.squared_mu.value / 4);
    return std::sqrt(square);
  }
  bool symmetric() const override { return true; }

 private:
  std::vector<RoundedComponent> components_;
};

// Independent steps with one loss, as one step.
class RepeatedLogMgf : public LogMgf {
 public:
  RepeatedLogMgf(std::unique_ptr<LogMgf> one, double times) : one_(std::move(one)), times_(times) {}
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
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<RepeatedLogMgf>(one_->log_mgf(c), times_);
  }
  double cumulant(double c) const override { return times_ * one_->cumulant(c); }
  double max_loss() const override { return times_ * one_->max_loss() * (1 + 4 * unit); }
  double pole() const override { return one_->pole(); }
  bool symmetric() const override { return one_->symmetric(); }
  double standard_deviation() const override {
    return std::sqrt(times_) * one_->standard_deviation();
  }

 private:
  PrivacyLossPtr one_;
  double times_;
};

// Returns Mills' ratio R(t) = P(Z > t)/φ(t), to (30 + 8t²) units.
double mills(double t) {
  return std::erfc(t / std::sqrt(2.0)) / 2 * root_two_pi * std::exp(t * t / 2);
}

// Returns an upper bound on δ(ε; μ) for ε > 0: it is φ(x)(R(x) - R(y)) with x = ε/μ - μ/2 and y = x
// + μ. Each branch bounds the difference where the previous ones would cancel or overflow.
double delta_above(double epsilon, double mu) {
  const double centre = epsilon / mu;
  const double x = centre - mu / 2;
  const double y = centre + mu / 2;
  const double shift = 4 * unit * (centre + mu);  // the error of x and of y
  if (!(shift < 1e-3)) return 1;
  if (x > 39) return std::numeric_limits<double>::min();
  const double relative_error = 2 * shift * (1 + std::abs(x)) + unit * (64 + 16 * x * x);
  if (x >= 25) {  // R(x) <= 1/x, and -R'(x) = 1 - xR(x) <= 1/(1 + x²), which decreases
    return std::exp(-x * x / 2) / root_two_pi * std::min(1 / x, mu / (1 + x * x)) *
           (1 + relative_error);
  }
  if (mu < 1e-3) {  // -R' is convex, so the trapezium bounds its integral; here x > -1/2000
    const auto slope = [](double t) { return 1 - t * mills(t) + unit * (64 + 16 * t * t); };
    return std::exp(-x * x / 2) / root_two_pi * mu / 2 * (slope(x) + slope(y)) *
           (1 + 4 * relative_error);
  }
  const double above = std::erfc(x / std::sqrt(2.0)) / 2;
  if (!(epsilon < 600 && y < 36)) {  // e^ε P(Z > y) = φ(x) R(y), and R(y) >= y/(1 + y²)
    const double below =
        std::exp(-x * x / 2) / root_two_pi / (y + 1 / y) * std::max(0.0, 1 - 2 * relative_error);
    return std::max(0.0, above - below) + above * relative_error;
  }
  const double below = std::exp(epsilon) * std::erfc(y / std::sqrt(2.0)) / 2;
  const double rounding = 2 * shift * (1 + y) + unit * (64 + 16 * y * y + 4 * epsilon);
  return std::max(0.0, above - below) + above * relative_error + below * rounding;
}

// Returns the total variation distance 2Φ(μ/2) - 1, to 16 units of itself.
double total_variation(double squared_mu) { return std::erf(std::sqrt(squared_mu / 8)); }

}  // namespace

PrivacyLossPtr repeated_loss(const PrivacyLossPtr& one, std::int64_t times) {
  return times == 1 ? one : std::make_shared<RepeatedLoss>(one, static_cast<double>(times));
}

double gaussian_mixture_delta(const std::vector<GaussianComponent>& components, double epsilon) {
  spend(50 * static_cast<double>(components.size()));
  double sum = 0;
  for (const GaussianComponent& component : components) {
    const double mu = std::sqrt(component.squared_mu.upper()) * (1 + 2 * unit);
    if (!(mu > 0)) continue;
    const double one =
        epsilon > 0 ? delta_above(epsilon, mu) : std::erf(mu / std::sqrt(8.0)) * (1 + 16 * unit);
    sum += std::max(0.0, component.mass.upper()) * std::min(1.0, one);
  }
  // each addend that underflows loses less than the least normal number; NaN if a component is NaN
  const double rounded =
      sum * (1 + 2 * unit * static_cast<double>(components.size() + 2)) +
      static_cast<double>(components.size() + 1) * std::numeric_limits<double>::min();
  return std::isnan(rounded) ? 1 : std::min(1.0, rounded);
}

PrivacyLossPtr gaussian_mixture_loss(const std::vector<GaussianComponent>& components) {
  return std::make_shared<GaussianMixtureLoss>(components);
}

namespace {

// The grid of a coarsened mixture: μ² = 0, and a geometric progression from the smallest to the
// largest μ².
struct MuGrid {
  std::vector<double> squared_mu;
  std::vector<double> variation;  // total variation distances

  MuGrid(double smallest, double largest, std::size_t points) {
    const auto cells = static_cast<double>(points - 1);
    const double log_ratio = std::log(largest / smallest) / cells;
    squared_mu.push_back(0);
    for (double i = cells; i >= 0; --i)
      squared_mu.push_back(i == 0 ? largest : largest * std::exp(-i * log_ratio));
    for (const double at : squared_mu) variation.push_back(total_variation(at));
  }
};

}  // namespace

std::vector<GaussianComponent> coarsen_mixture(const std::vector<GaussianComponent>& components,
                                               std::size_t max_components) {
  if (components.size() <= max_components) return components;
  spend(150 * static_cast<double>(components.size()));
  double largest = 0;
  double smallest = infinity;
  for (const GaussianComponent& component : components) {
    if (!std::isfinite(component.squared_mu.upper()) || !std::isfinite(component.mass.upper())) {
      pld_detail::throw_unrepresentable("a component of a Gaussian mixture is not finite");
    }
    largest = std::max(largest, component.squared_mu.upper());
    if (component.squared_mu.upper() > 0)
      smallest = std::min(smallest, component.squared_mu.upper());
  }
  const MuGrid grid(smallest, largest, max_components);

  // each component goes to its two neighbours on the grid, rounded to the upper one
  std::vector<double> mass(grid.squared_mu.size(), 0);
  double relative = 0;
  for (const GaussianComponent& component : components) {
    const double at = component.squared_mu.upper();
    const auto above = static_cast<std::size_t>(
        std::lower_bound(grid.squared_mu.begin() + 1, grid.squared_mu.end() - 1, at) -
        grid.squared_mu.begin());
    const double width = grid.variation[above] - grid.variation[above - 1];
    double share = 1;  // of the upper one
    if (at < grid.squared_mu[above] && width > 0) {
      share = std::clamp((total_variation(at) - grid.variation[above - 1]) / width +
                             64 * unit * grid.variation[above] / width,
                         0.0, 1.0);
    }
    const RoundedDouble own(component.mass);
    mass[above] += share * own.value;
    mass[above - 1] += (1 - share) * own.value;
    relative = std::max(relative, own.relative);
  }
  relative += 2 * unit * (static_cast<double>(components.size()) + 8);
  std::vector<GaussianComponent> result;
  for (std::size_t i = 1; i < grid.squared_mu.size(); ++i) {
    if (mass[i] > 0)
      result.push_back({grid.squared_mu[i], Real(mass[i]).widened(relative * mass[i])});
  }
  return result;
}

}  // namespace sotto
