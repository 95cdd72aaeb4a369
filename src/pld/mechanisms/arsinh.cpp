// The privacy loss of arsinh noise. The scaled noise u = y/A has log density log cosh u - κ sinh²u
// + const with κ = A²/(2σ²). With the shift D = Δ/A the loss is
// L(u) = log cosh u - log cosh(u-D) - κ sinh(D) sinh(2u-D). For κ >= 1/2 the noise is log-concave,
// so no smaller shift costs more. M(s) = E_Q[e^((s+1)L)] by the trapezoidal rule in u, whose error
// is bounded in a strip (docs/theory/pld/moment-generating-functions.md).
#include <cmath>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/subsampling/poisson_sum.hpp"

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

// An upper bound on log |p(u+ia) e^(sL(u+ia))| over the constant of the density p, on a line with
// Im u = a and for |Im s| = t. It uses cos a cosh u <= |cosh(u+ia)| <= cosh u, and
// Re sinh²(u+ia) = (cosh 2u cos 2a - 1)/2. The sign is +1 to bound both signs of t, and -1 for the
// sign for which |e^(isL)| decreases in t.
struct IntegrandBound {
  double kappa, shift, c, t, a, sign;

  [[nodiscard]] double at(double u) const {
    const double cosine = std::cos(2 * a);
    const double own = log_cosh(u) - kappa * (std::cosh(2 * u) * cosine - 1) / 2;
    const double other = log_cosh(u - shift) + std::log(std::cos(a)) -
                         kappa * (std::cosh(2 * (u - shift)) * cosine - 1) / 2;
    // |Im L| is κ sinh D cosh(2u-D) sin 2a, up to the difference of the arguments of two cosh
    const double swing = kappa * std::sinh(shift) * std::cosh(2 * u - shift) * std::sin(2 * a);
    const double angles =
        std::atan(std::tanh(u) * std::tan(a)) - std::atan(std::tanh(u - shift) * std::tan(a));
    return (c + 1) * own - c * other + sign * t * (sign > 0 ? swing + angles : swing - angles);
  }
  // Returns a bound on |second derivative| for |u| <= size.
  [[nodiscard]] double curvature_bound(double size) const {
    const double wide = std::cosh(2 * size + 2 * shift);
    return (2 * c + 1) * (1 + 2 * kappa * wide) +
           t * (4 * kappa * std::sinh(shift) * wide * std::sin(2 * a) + 4 * std::tan(a));
  }
  // Returns an upper bound on the log of the integral of e^at(u): cell by cell the larger end, plus
  // the largest rise that the curvature allows between the ends.
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
      tops.push_back(std::max(left, right) +
                     width * width / 8 *
                         curvature_bound(std::max(std::abs(x), std::abs(x + width))));
      largest = std::max(largest, tops.back());
      left = right;
    }
    double sum = 0;
    for (const double top : tops) sum += std::exp(top - largest);
    return largest + std::log(sum * width) + 1e-12;
  }
};

class ArsinhLogMgf : public LogMgf {
 public:
  ArsinhLogMgf(RoundedDouble kappa, RoundedDouble shift, double c)
      : kappa_(kappa), shift_(shift), c_(c) {
    spend(4e5);
    if (choose_range()) fill(real_sum_, 0, 1e-14, real_sum_error_);
  }
  void prepare(double top, double tolerance) override {
    prepared_top_ = top;
    fill(sum_, top, tolerance, sum_error_);
  }
  LogMgfValue at(double t) const override {
    if (t == 0) return real_sum_.at(0, real_sum_error_);
    return sum_.at(t, t <= prepared_top_ ? sum_error_ : infinity);
  }
  double work() const override { return static_cast<double>(sum_.size()); }
  // Moves the path of u to |Im u| = a, on the side on which |e^(isL)| decreases in t. There t Im L
  // >= 0 for every u, because κ sinh D sin 2a >= 2 sin a cos a sinh D exceeds the difference of the
  // angles, which is at most D tan a. The smallest bound of several a is returned.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    double best = all;
    const double spread = std::min(1.0, 1 / std::sqrt(kappa_.value));
    for (const double share : {0.02, 0.1, 0.3, 0.8, 1.6}) {
      const double a =
          std::min(0.5, share * spread *
                            std::min(4.0, 1 + t * shift_.value * std::sqrt(kappa_.value) * 0.02));
      const IntegrandBound integrand{kappa_.value, shift_.value, c_, t, a, -1};
      // outside of [low, high] the integrand is below e^-70 of its maximum
      const double inside = integrand.log_integral(low_, high_, 3000);
      const double outside = top_ + 4 * kappa_.value * a * a - 60;
      best = std::min(best, constant() + log_sum(inside, outside) +
                                64 * unit * (1 + std::abs(inside)) + parameter_error());
    }
    return best;
  }

 private:
  // Chooses the range of u in which the integrand at s = c, p or q are above e^-80 of their
  // maximum.
  bool choose_range() {
    const IntegrandBound integrand{kappa_.value, shift_.value, c_, 0, 0, 1};
    const double scale = std::min(1.0, 1 / std::sqrt(kappa_.value));
    // the maximum of -κ((c+1) sinh²u - c sinh²(u-D)), which is close to that of the integrand
    const double middle = 0.25 * std::log((c_ + 1 - c_ * std::exp(2 * shift_.value)) /
                                          (c_ + 1 - c_ * std::exp(-2 * shift_.value)));
    if (!std::isfinite(middle)) return false;
    double top = -infinity;
    double peak = 0;
    for (int i = -200; i <= 200; ++i) {
      const double u = middle + 0.02 * i * scale;
      if (integrand.at(u) > top) {
        top = integrand.at(u);
        peak = u;
      }
    }
    low_ = std::min(peak, -shift_.value);
    high_ = std::max(peak, 2 * shift_.value);
    const IntegrandBound density{kappa_.value, shift_.value, 0, 0, 0, 1};
    const auto is_relevant = [&](double u, double density_at) {
      return integrand.at(u) > top - 80 || density.at(density_at) > density.at(0) - 80;
    };
    for (double step = 0.05 * scale; low_ > -40 && is_relevant(low_, low_); step *= 1.02)
      low_ -= step;
    for (double step = 0.05 * scale; high_ < 40 && is_relevant(high_, high_ - shift_.value);
         step *= 1.02)
      high_ += step;
    top_ = top;
    return true;
  }
  // The log of the density's constant.
  [[nodiscard]] double constant() const { return 0.5 * std::log(kappa_.value / pi); }
  // Returns a bound on the change of log M when the parameters move within their errors: the
  // exponent is linear in κ, and its slope in the shift is at most 2κ(2c+1) times a hyperbolic
  // cosine.
  [[nodiscard]] double parameter_error() const {
    const double largest_cosh = std::cosh(2 * std::max(-low_, high_) + 2 * shift_.value);
    return 4 * (2 * c_ + 1) * kappa_.value * largest_cosh * (kappa_.relative + shift_.relative);
  }

  // Fills a sum for |Im s| <= top: chooses the strip that allows the largest step, and adds the
  // points. `error` is the bound on quadrature and truncation, over e^(the sum's scale).
  void fill(PoissonSum& sum, double top, double tolerance, double& error) const {
    const double kappa = kappa_.value;
    const double d = shift_.value;
    sum = PoissonSum(c_ + 1, true);
    error = infinity;
    const double size = std::hypot(c_ + 1, top) + 1;
    const double log_tolerance = std::log(tolerance) - 1.5;
    // relative to M(c), which is about the integral on the real line
    const double level =
        constant() + IntegrandBound{kappa, d, c_, 0, 0, 1}.log_integral(low_, high_, 400);
    double step = 0;
    double log_error = infinity;
    for (const double a : {0.005, 0.02, 0.05, 0.1, 0.2, 0.35}) {
      const double integrand =
          constant() + IntegrandBound{kappa, d, c_, top, a, 1}.log_integral(low_, high_, 400) -
          level;
      const double density =
          constant() + IntegrandBound{kappa, d, 0, 0, a, 1}.log_integral(low_, high_, 400) - level;
      const double mean = log_sum(integrand, density + std::log(1 + 2 * size));
      const double candidate = 2 * pi * a / std::max(1.0, mean - log_tolerance);
      if (candidate > step) {
        step = candidate;
        log_error = std::log(2.1) + mean - 2 * pi * a / step;
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
      const double loss_error = (std::abs(swing) * (1 + 2 * std::abs(u) + d) + d) *
                                    (kappa_.relative + shift_.relative + 8 * unit) +
                                8 * unit;
      sum.add(
          {loss, loss_error}, log_mass,
          (kappa * square * (2 + d)) * (kappa_.relative + shift_.relative + 8 * unit) + 32 * unit);
    }
    sum.finish();
    error = (std::exp(log_error) + std::exp(-60)) * std::exp(level - sum.scale()) * 1.01;
  }

  RoundedDouble kappa_;
  RoundedDouble shift_;
  double c_;
  double low_ = 0;
  double high_ = 0;
  double top_ = 0;  // log of the integrand's maximum
  double prepared_top_ = 0;
  PoissonSum sum_{1, true};       // for 0 < t <= prepared_top_
  PoissonSum real_sum_{1, true};  // for t = 0
  double sum_error_ = infinity;
  double real_sum_error_ = infinity;
};

class ArsinhLoss : public PrivacyLoss {
 public:
  ArsinhLoss(const Real& kappa, const Real& shift)
      : kappa_(kappa), shift_(shift), pole_((1 / expm1(2 * shift)).lower()) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<ArsinhLogMgf>(kappa_, shift_, c);
  }
  double pole() const override { return 0.98 * pole_; }
  double standard_deviation() const override { return shift_.value * std::sqrt(2 * kappa_.value); }
  bool symmetric() const override { return true; }  // L(D - u) = -L(u)
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::arsinh_distribution(kappa_, shift_);
  }

 private:
  RoundedDouble kappa_;
  RoundedDouble shift_;
  double pole_;
};

}  // namespace

PrivacyLossPtr arsinh_loss(const Real& kappa, const Real& shift) {
  return std::make_shared<ArsinhLoss>(kappa, shift);
}

}  // namespace sotto
