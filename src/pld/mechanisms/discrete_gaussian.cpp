// The privacy loss of discrete Gaussian noise [Canonne2020], d the sensitivity:
// M(s) = e^(s(s+1)d²/(2σ²)) V(s)/V(0) with the theta function V(s) = Σ_j e^(-(j+sd)²/(2σ²)).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "pld/arithmetic/support.hpp"
#include "pld/grid/distribution.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

class DiscreteGaussianLogMgf : public LogMgf {
 public:
  DiscreteGaussianLogMgf(RoundedDouble sigma, double d, double c)
      : sigma_(sigma), d_(d), c_(c), period_(2 * pi * sigma.value * sigma.value / d) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    // All losses are d²/(2σ²) plus a multiple of d/σ², so after one period M has the factor (-1)^d.
    const double turns = std::floor(t / period_ + 0.5);
    const double inside = t - turns * period_;
    LogMgfValue here = in_first_period(std::abs(inside));
    if (inside < 0) here.log.im = -here.log.im;
    if (std::fmod(turns, 2) != 0 && std::fmod(d_, 2) != 0) here.log.im += pi;
    if (turns != 0)
      here.error += (c_ + std::abs(inside)) * 4 * (unit + sigma_.relative) * turns * period_ * d_ *
                    d_ / (sigma_.value * sigma_.value);
    return here;
  }
  double decay_bound(double t, Extent reach) const override {
    // The product form of the theta function V shows that |V| decreases over half a period.
    const double all = pld_detail::upper_log_mgf(at(0));
    return reach == Extent::half_period
               ? std::min(all, pld_detail::upper_log_mgf(in_first_period(std::min(t, period_ / 2))))
               : all;
  }

 private:
  LogMgfValue in_first_period(double t) const {
    const double square = sigma_.value * sigma_.value;
    const double factor = d_ * d_ / (2 * square);
    const Complex main{factor * (c_ * (c_ + 1) - t * t), factor * t * (2 * c_ + 1)};
    const double main_error =
        factor * (c_ * (c_ + 1) + t * t + t * (2 * c_ + 1)) * (16 * unit + 3 * sigma_.relative);
    const LogMgfValue theta = sigma_.value >= 0.8 ? from_dual_series(t) : from_series(t);
    if (std::isinf(theta.error)) return {{main.re + main_error + theta.log.re, 0}, infinity};
    return {main + theta.log, main_error + theta.error};
  }
  // Returns log V(s)/V(0) by Poisson summation, which converges fast for large σ: with
  // p = e^(-2π²σ²) it is 1 + (Σ over m != 0 of p^(m²) (e^(2πimsd) - 1)) / Σ p^(m²).
  LogMgfValue from_dual_series(double t) const {
    const double slope = 2 * pi * pi * sigma_.value * sigma_.value;
    const double phase = 2 * pi * std::fmod(c_ * d_, 1.0);
    Complex sum{0, 0};
    double total = 1;
    double error = 0;
    for (int m = 1; m <= 6; ++m) {
      const double base = -slope * m * m;
      const double wave = 2 * pi * m * t * d_;
      const Complex forward = exp(Complex{base - wave, m * phase});
      const Complex backward = exp(Complex{base + wave, -m * phase});
      const double at_zero = std::exp(base);
      sum += forward + backward - Complex{2 * at_zero, 0};
      total += 2 * at_zero;
      error += (abs(forward) + abs(backward) + 2 * at_zero) *
               (32 * unit + (slope * m * m + wave + m * 2 * pi * (1 + c_ * d_)) *
                                (4 * unit + 2 * sigma_.relative));
      if (base + wave < -60) break;
    }
    error += 1e-22;  // the terms m >= 7 are below e^(-2π²σ²(49 - 7)) at the end of the period
    return pld_detail::log_of_excess((1 / total) * sum, error + abs(sum) * 16 * unit);
  }
  // Returns log V(s)/V(0) by its definition, which converges fast for small σ.
  LogMgfValue from_series(double t) const {
    const double square = sigma_.value * sigma_.value;
    const double centre = c_ * d_;
    const double nearest = std::floor(-centre + 0.5);
    // all terms are relative to e^(t²d²/(2σ²)) times the largest term
    const double largest = -(nearest + centre) * (nearest + centre) / (2 * square);
    Complex sum{0, 0};
    double total = 0;
    double error = 0;
    for (int i = -12; i <= 12; ++i) {
      const double x = nearest + i + centre;
      const double size = -x * x / (2 * square);
      const double phase = -x * t * d_ / square;
      sum += exp(Complex{size - largest, phase});
      total += std::exp(-static_cast<double>(i) * i / (2 * square));
      error +=
          std::exp(size - largest) *
          (64 * unit + (std::abs(size) + std::abs(phase) + std::abs(centre) * t * d_ / square) *
                           (8 * unit + 4 * sigma_.relative));
    }
    const double log_factor = t * t * d_ * d_ / (2 * square);
    LogMgfValue log =
        pld_detail::log_of_scaled(sum, log_factor + largest - std::log(total), error + 1e-40);
    log.error +=
        (log_factor - largest) * (8 * unit + 3 * sigma_.relative) + 64 * unit + 4 * sigma_.relative;
    return log;
  }
  RoundedDouble sigma_;
  double d_;
  double c_;
  double period_;
};

class DiscreteGaussianLoss : public PrivacyLoss {
 public:
  DiscreteGaussianLoss(const Real& sigma, std::int64_t sensitivity)
      : sigma_(sigma), d_(static_cast<double>(sensitivity)) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<DiscreteGaussianLogMgf>(sigma_, d_, c);
  }
  std::optional<Lattice> lattice() const override {
    const double square = sigma_.value * sigma_.value;
    return Lattice{d_ * d_ / (2 * square), d_ / square, 2 * sigma_.relative + 8 * unit};
  }
  double standard_deviation() const override { return d_ / sigma_.value; }
  bool symmetric() const override { return true; }
  // Under Q the noise is x and the loss (xd - d²/2)/σ². Outcomes with less than e^-600 of the
  // mode's mass under both P and Q are left out.
  pld_detail::DistributionPtr distribution() const override {
    constexpr double depth = 600;
    const double square = sigma_.value * sigma_.value;
    const double end = std::ceil(sigma_.value * std::sqrt(2 * depth));
    if (2 * end + d_ > 4000) return nullptr;
    double all = 0;
    for (double n = -end; n <= end; ++n) all += std::exp(-n * n / (2 * square));
    std::vector<pld_detail::LossDistribution::PointMass> atoms;
    const double relative = 2 * sigma_.relative + 4 * unit;
    for (double x = -end; x <= end + d_; ++x) {
      const double loss = (x * d_ - d_ * d_ / 2) / square;
      const double log = -x * x / (2 * square);
      atoms.push_back({loss, (std::abs(loss) + d_ * d_ / square) * relative, 1 / all,
                       (2 + std::abs(log)) * (relative + 8 * unit) + 256 * unit, log});
    }
    return pld_detail::atoms_distribution(std::move(atoms), 8 * std::exp(-depth));
  }

 private:
  RoundedDouble sigma_;
  double d_;
};

}  // namespace

PrivacyLossPtr discrete_gaussian_loss(const Real& sigma, std::int64_t sensitivity) {
  return std::make_shared<DiscreteGaussianLoss>(sigma, sensitivity);
}

}  // namespace sotto
