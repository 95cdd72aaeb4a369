// Arsinh noise from its density: y = Au has log p = log cosh u - κ sinh²u + const, κ = A²/(2σ²), and with the shift D = Δ/A
// the loss is L(u) = log cosh u - log cosh(u-D) - κ sinh(D) sinh(2u-D). For κ >= 1/2 the noise is log-concave, so that no
// smaller shift costs more. M(s) = E_Q[e^((s+1)L)], by the trapezoidal rule in u.
#include <cmath>

#include "grid/distribution.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "subsampling/poisson_sum.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::log_sum;
using pld_detail::pi;
using pld_detail::PoissonSum;
using pld_detail::RoundedDouble;
using pld_detail::unit;

double log_cosh(double x) {
  const double size = std::abs(x);
  return size + std::log1p(std::exp(-2 * size)) - std::log(2.0);
}

// log of |p(u+ia) e^(sL(u+ia))| over the constant of p, from above, with Im s = t: the size of cosh is between cos a cosh u
// and cosh u, and Re sinh²(u+ia) = (cosh 2u cos 2a - 1)/2. `turn` is the sign with which t Im L counts: +1 bounds any t of
// that size, -1 is for the side on which it falls.
struct Height {
  double kappa, shift, c, t, a, turn;

  [[nodiscard]] double at(double u) const {
    const double cosine = std::cos(2 * a);
    const double own = log_cosh(u) - kappa * (std::cosh(2 * u) * cosine - 1) / 2;
    const double other = log_cosh(u - shift) + std::log(std::cos(a)) - kappa * (std::cosh(2 * (u - shift)) * cosine - 1) / 2;
    // |Im L| is κ sinh D cosh(2u-D) sin 2a less a difference of two arguments, each a tangent's angle
    const double swing = kappa * std::sinh(shift) * std::cosh(2 * u - shift) * std::sin(2 * a);
    const double angles = std::atan(std::tanh(u) * std::tan(a)) - std::atan(std::tanh(u - shift) * std::tan(a));
    return (c + 1) * own - c * other + turn * t * (turn > 0 ? swing + angles : swing - angles);
  }
  // A bound on |second derivative| within |u| <= size.
  [[nodiscard]] double bend(double size) const {
    const double wide = std::cosh(2 * size + 2 * shift);
    return (2 * c + 1) * (1 + 2 * kappa * wide) + t * (4 * kappa * std::sinh(shift) * wide * std::sin(2 * a) + 4 * std::tan(a));
  }
  // log of the integral, from above: cell by cell, the larger end and what the curve may bulge between.
  [[nodiscard]] double log_integral(double low, double high, int cells) const {
    spend(200.0 * cells);
    const double width = (high - low) / cells;
    double left = at(low);
    double largest = -infinity;
    std::vector<double> tops;
    tops.reserve(static_cast<std::size_t>(cells));
    for (int i = 0; i < cells; ++i) {
      const double x = low + width * i;
      const double right = at(x + width);
      tops.push_back(std::max(left, right) + width * width / 8 * bend(std::max(std::abs(x), std::abs(x + width))));
      largest = std::max(largest, tops.back());
      left = right;
    }
    double sum = 0;
    for (const double top : tops) sum += std::exp(top - largest);
    return largest + std::log(sum * width) + 1e-12;
  }
};

class ArsinhLine : public LogMgf {
 public:
  ArsinhLine(RoundedDouble kappa, RoundedDouble shift, double c) : kappa_(kappa), shift_(shift), c_(c) {
    // where the integrand at s = c, or p or q themselves, are above e^-80 of their top
    spend(4e5);
    const Height height{kappa.value, shift.value, c, 0, 0, 1};
    const double scale = std::min(1.0, 1 / std::sqrt(kappa.value));
    // the top of -κ((c+1) sinh²u - c sinh²(u-D)), about which the logarithms of cosh move it little
    const double middle = 0.25 * std::log((c + 1 - c * std::exp(2 * shift.value)) / (c + 1 - c * std::exp(-2 * shift.value)));
    if (!std::isfinite(middle)) return;
    double top = -infinity;
    for (int i = -200; i <= 200; ++i) {
      const double u = middle + 0.02 * i * scale;
      if (height.at(u) > top) {
        top = height.at(u);
        peak_ = u;
      }
    }
    low_ = std::min(peak_, -shift.value);
    high_ = std::max(peak_, 2 * shift.value);
    const Height plain{kappa.value, shift.value, 0, 0, 0, 1};
    for (double step = 0.05 * scale; low_ > -40 && (height.at(low_) > top - 80 || plain.at(low_) > plain.at(0) - 80); step *= 1.02) low_ -= step;
    for (double step = 0.05 * scale; high_ < 40 && (height.at(high_) > top - 80 || plain.at(high_ - shift.value) > plain.at(0) - 80); step *= 1.02) {
      high_ += step;
    }
    top_ = top;
    fill(coarse_, 0, 1e-14, coarse_missing_);
  }
  void prepare(double top, double tolerance) override {
    top_reached_ = top;
    fill(grid_, top, tolerance, missing_);
  }
  LogMgfValue at(double t) const override {
    if (t == 0) return coarse_.at(0, coarse_missing_);
    return grid_.at(t, t <= top_reached_ ? missing_ : infinity);
  }
  double work() const override { return static_cast<double>(grid_.size()); }
  // The path moved to the side on which e^(isL) falls: there t Im L >= 0 for every u, because
  // κ sinh D sin 2a >= 2 sin a cos a sinh D exceeds the difference of the angles, at most tan(a) D.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    double best = all;
    const double spread = std::min(1.0, 1 / std::sqrt(kappa_.value));
    for (const double share : {0.02, 0.1, 0.3, 0.8, 1.6}) {
      const double a = std::min(0.5, share * spread * std::min(4.0, 1 + t * shift_.value * std::sqrt(kappa_.value) * 0.02));
      const Height height{kappa_.value, shift_.value, c_, t, a, -1};
      // what lies beyond [low, high] is below e^-70 of the top
      const double inside = height.log_integral(low_, high_, 3000);
      const double outside = top_ + 4 * kappa_.value * a * a - 60;
      best = std::min(best, constant() + log_sum(inside, outside) + 64 * unit * (1 + std::abs(inside)) + error_bound());
    }
    return best;
  }

 private:
  [[nodiscard]] double constant() const { return 0.5 * std::log(kappa_.value / pi); }
  // how far the parameters' errors move log M: the exponent is linear in κ and has slope at most 2κ(2c+1) cosh in the shift
  [[nodiscard]] double error_bound() const {
    const double most = std::cosh(2 * std::max(-low_, high_) + 2 * shift_.value);
    return 4 * (2 * c_ + 1) * kappa_.value * most * (kappa_.relative + shift_.relative);
  }

  void fill(PoissonSum& grid, double top, double tolerance, double& missing) const {
    const double kappa = kappa_.value;
    const double d = shift_.value;
    grid = PoissonSum(c_ + 1, true);
    missing = infinity;
    const double size = std::hypot(c_ + 1, top) + 1;
    const double log_tolerance = std::log(tolerance) - 1.5;
    // relative to M(c), about the integral of the height
    const double level = constant() + Height{kappa, d, c_, 0, 0, 1}.log_integral(low_, high_, 400);
    double step = 0;
    double error = infinity;
    for (const double a : {0.005, 0.02, 0.05, 0.1, 0.2, 0.35}) {
      const double here = constant() + Height{kappa, d, c_, top, a, 1}.log_integral(low_, high_, 400) - level;
      const double plain = constant() + Height{kappa, d, 0, 0, a, 1}.log_integral(low_, high_, 400) - level;
      const double mean = log_sum(here, plain + std::log(1 + 2 * size));
      const double candidate = 2 * pi * a / std::max(1.0, mean - log_tolerance);
      if (candidate > step) {
        step = candidate;
        error = std::log(2.1) + mean - 2 * pi * a / step;
      }
    }
    if (!(step > 0) || (high_ - low_) / step > 20000) return;
    const auto first = static_cast<std::int64_t>(std::floor(low_ / step));
    const auto last = static_cast<std::int64_t>(std::ceil(high_ / step));
    for (std::int64_t j = first; j <= last; ++j) {
      const double u = static_cast<double>(j) * step;
      const double swing = kappa * std::sinh(d) * std::sinh(2 * u - d);
      const double loss = log_cosh(u) - log_cosh(u - d) - swing;
      const double square = std::sinh(u - d) * std::sinh(u - d);
      const double log_mass = std::log(step) + constant() + log_cosh(u - d) - kappa * square;
      const double moved = (std::abs(swing) * (1 + 2 * std::abs(u) + d) + d) * (kappa_.relative + shift_.relative + 8 * unit) + 8 * unit;
      grid.add({loss, moved}, log_mass, (kappa * square * (2 + d)) * (kappa_.relative + shift_.relative + 8 * unit) + 32 * unit);
    }
    grid.settle();
    missing = (std::exp(error) + std::exp(-60)) * std::exp(level - grid.scale()) * 1.01;
  }

  RoundedDouble kappa_;
  RoundedDouble shift_;
  double c_;
  double low_ = 0;
  double high_ = 0;
  double peak_ = 0;
  double top_ = 0;
  double top_reached_ = 0;
  PoissonSum grid_{1, true};
  PoissonSum coarse_{1, true};
  double missing_ = infinity;
  double coarse_missing_ = infinity;
};

class ArsinhLoss : public PrivacyLoss {
 public:
  ArsinhLoss(const Real& kappa, const Real& shift) : kappa_(kappa), shift_(shift), pole_((1 / expm1(2 * shift)).lower()) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<ArsinhLine>(kappa_, shift_, c); }
  double pole() const override { return 0.98 * pole_; }
  double standard_deviation() const override { return shift_.value * std::sqrt(2 * kappa_.value); }
  bool symmetric() const override { return true; }  // L(D - u) = -L(u)
  pld_detail::DistributionPtr distribution() const override { return pld_detail::arsinh_distribution(kappa_, shift_); }

 private:
  RoundedDouble kappa_;
  RoundedDouble shift_;
  double pole_;
};

}  // namespace

PrivacyLossPtr arsinh_loss(const Real& kappa, const Real& shift) { return std::make_shared<ArsinhLoss>(kappa, shift); }

}  // namespace sotto
