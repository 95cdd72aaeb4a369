// Losses whose transform has a closed form: Gaussian, Laplace, exponential mechanism.
#include <cmath>

#include "grid/distribution.hpp"
#include "sotto/numerics/elementary.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::RoundedDouble;
using pld_detail::unit;

// --- Gaussian: log M(s) = s(s+1) μ²/2. ---

class GaussianLine : public LogMgf {
 public:
  GaussianLine(RoundedDouble squared, double c) : squared_(squared), c_(c) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const double size = (c_ * (c_ + 1) + t * t + t * (2 * c_ + 1)) * squared_.value;
    return {{squared_.value * (c_ * (c_ + 1) - t * t) / 2, squared_.value * t * (2 * c_ + 1) / 2}, size * (squared_.relative + 8 * unit)};
  }
  double decay_bound(double t, Extent /*reach*/) const override {
    const LogMgfValue here = at(t);
    return here.log.re + here.error;
  }

 private:
  RoundedDouble squared_;
  double c_;
};

class GaussianLoss : public PrivacyLoss {
 public:
  explicit GaussianLoss(const Real& squared) : squared_(squared) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<GaussianLine>(squared_, c); }
  double standard_deviation() const override { return std::sqrt(squared_.value); }
  bool symmetric() const override { return true; }
  pld_detail::DistributionPtr distribution() const override {
    RoundedDouble mu = squared_;
    mu.value = std::sqrt(squared_.value);
    mu.relative += 2 * unit;
    return pld_detail::gaussian_distribution(mu);
  }

 private:
  RoundedDouble squared_;
};

// --- shc(z) = sinh(z)/z: shc(xv) - shc(x/2) with v = s + 1/2, which vanishes like s(s+1). ---

struct Difference {
  Complex value;
  double error;
};

Difference shc_difference(Complex s, RoundedDouble x) {
  const Complex v{s.re + 0.5, s.im};
  const Complex a = x.value * v;
  const double b = x.value / 2;
  if (abs(a) <= 1.5) {
    // sum over n >= 1 of (A^n - B^n)/(2n+1)!, A = a², B = b²; A - B = x² s(s+1) is taken out
    const Complex A = a * a;
    const double B = b * b;
    Complex powers{1, 0};  // A^(n-1) + A^(n-2) B + … + B^(n-1)
    double last = 1;       // B^(n-1)
    double inverse = 1.0 / 6;
    Complex sum = inverse * powers;
    for (int n = 2; n <= 14; ++n) {
      last *= B;
      powers = A * powers + Complex{last, 0};
      inverse /= 2.0 * n * (2 * n + 1);
      sum += inverse * powers;
    }
    const Complex factor = (x.value * x.value) * (s * Complex{s.re + 1, s.im});
    return {factor * sum, abs(factor) * (64 * unit + 2 * x.relative)};
  }
  // here |a| > 1.5, since |a| >= b for c >= 0
  const double second = b < 1e-3 ? 1 + b * b / 6 : std::sinh(b) / b;
  return {sinh(a) / a - Complex{second, 0}, (std::cosh(a.re) + std::cosh(b)) * (64 * unit + 2 * x.relative)};
}

// --- Laplace: M(s) - 1 = e^(-x/2) [2 sinh((s+1)x/2) sinh(sx/2) + (x/2)(shc(xv) - shc(x/2))]. ---

class LaplaceLine : public LogMgf {
 public:
  LaplaceLine(RoundedDouble x, double c) : x_(x), c_(c) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const Complex s{c_, t};
    const double x = x_.value;
    if (std::hypot(c_ + 1, t) * x > 3) return far(t);
    const Complex a{(c_ + 1) * x / 2, t * x / 2};
    const Complex b{c_ * x / 2, t * x / 2};
    const Complex product = 2 * (sinh(a) * sinh(b));
    const double product_error = 4 * abs(a) * abs(b) * std::cosh(a.re) * std::cosh(b.re) * (32 * unit + 2 * x_.relative);
    const Difference rest = shc_difference(s, x_);
    const double front = std::exp(-x / 2);
    const Complex excess = front * (product + (x / 2) * rest.value);
    const double error = front * (product_error + x / 2 * rest.error) + abs(excess) * (x * x_.relative + 16 * unit);
    return pld_detail::log_of_excess(excess, error);
  }
  double decay_bound(double t, Extent /*reach*/) const override {
    // |M| <= |s+1|/|2s+1| e^(cx) + |s|/|2s+1| e^(-(c+1)x); the first factor falls to 1/2 with t, the second rises to it
    const double x = x_.value;
    const double first = std::log(std::hypot(c_ + 1, t) / std::hypot(2 * c_ + 1, 2 * t)) + c_ * x;
    const double second = -std::log(2.0) - (c_ + 1) * x;
    const double sum = std::max(first, second) + std::log1p(std::exp(-std::abs(first - second)));
    return std::min(sum + (1 + (c_ + 1) * x) * (16 * unit + x_.relative), pld_detail::upper_value(at(0)));
  }

 private:
  // Where M is not near 1, or e^(cx) would overflow: M = (s+1)/(2s+1) e^(sx) (1 + s/(s+1) e^(-(2s+1)x)).
  LogMgfValue far(double t) const {
    const Complex s{c_, t};
    const Complex next{c_ + 1, t};
    const Complex ratio = next / Complex{2 * c_ + 1, 2 * t};
    const double x = x_.value;
    const double error_bound = (2 + abs(s) * x) * (16 * unit + x_.relative);
    const Complex back = (s / next) * exp(Complex{-(2 * c_ + 1) * x, -2 * t * x});
    const LogMgfValue rest = pld_detail::log_of_excess(back, abs(back) * (2 * error_bound + x * (16 * unit + x_.relative)) + 1e-300);
    const Complex front{std::log(abs(ratio)) + c_ * x, std::atan2(ratio.im, ratio.re) + t * x};
    if (std::isinf(rest.error)) return {{front.re + rest.log.re + error_bound, 0}, pld_detail::infinity};
    return {front + rest.log, error_bound + rest.error};
  }
  RoundedDouble x_;
  double c_;
};

// --- Exponential mechanism: M(s) = shc(εv)/shc(ε/2), v = s + 1/2. ---

class ExponentialLine : public LogMgf {
 public:
  ExponentialLine(RoundedDouble epsilon, double c) : epsilon_(epsilon), c_(c) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const double epsilon = epsilon_.value;
    if ((c_ + 1) * epsilon > 300) return far(t);
    const double base = epsilon < 1e-3 ? 1 + epsilon * epsilon / 24 : 2 * std::sinh(epsilon / 2) / epsilon;
    const Difference difference = shc_difference({c_, t}, epsilon_);
    const Complex excess = (1 / base) * difference.value;
    return pld_detail::log_of_excess(excess, difference.error / base + abs(excess) * (epsilon * epsilon_.relative + 16 * unit));
  }
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_value(at(0));
    if (t <= 0) return all;
    // |sinh| <= cosh of the real part; log(2 sinh(ε/2)) = ε/2 + log(1 - e^-ε)
    const double a = epsilon_.value * (c_ + 0.5);
    const double top = a + std::log1p(std::exp(-2 * a)) - std::log(2.0);
    const double bottom = epsilon_.value / 2 + std::log(-std::expm1(-epsilon_.value)) + std::log(std::hypot(c_ + 0.5, t));
    return std::min(all, top - bottom + (2 + a) * (16 * unit + 2 * epsilon_.relative));
  }

 private:
  LogMgfValue far(double t) const {  // both hyperbolic sines are their growing halves, but for 2^-400 and 1 - e^-ε
    const Complex v{c_ + 0.5, t};
    const double epsilon = epsilon_.value;
    const double bottom = epsilon / 2 + std::log(-std::expm1(-epsilon));
    return {{epsilon * v.re - std::log(2.0) - bottom - std::log(abs(v)), epsilon * t - std::atan2(v.im, v.re)},
            (3 + abs(v) * epsilon) * (16 * unit + 2 * epsilon_.relative)};
  }
  RoundedDouble epsilon_;
  double c_;
};

// A loss that is never above its parameter.
template <class Line>
class BoundedLoss : public PrivacyLoss {
 public:
  BoundedLoss(const Real& most, double spread, std::optional<PrivacyLoss::MaxLossAtom> top)
      : most_(most), max_loss_(most.upper()), spread_(spread), top_(top) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<Line>(most_, c); }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return top_; }
  double standard_deviation() const override { return spread_; }
  bool symmetric() const override { return true; }

 private:
  RoundedDouble most_;
  double max_loss_;
  double spread_;
  std::optional<MaxLossAtom> top_;
};

class LaplaceLoss : public BoundedLoss<LaplaceLine> {
 public:
  explicit LaplaceLoss(const Real& x) : BoundedLoss(x, x.estimate(), PrivacyLoss::MaxLossAtom{x.lower(), log(Real(0.5)).lower()}), x_(x) {}
  pld_detail::DistributionPtr distribution() const override { return pld_detail::laplace_distribution(x_); }

 private:
  RoundedDouble x_;
};

class ExponentialLoss : public BoundedLoss<ExponentialLine> {
 public:
  explicit ExponentialLoss(const Real& epsilon) : BoundedLoss(epsilon, epsilon.estimate() / 2, std::nullopt), epsilon_(epsilon) {}
  pld_detail::DistributionPtr distribution() const override { return pld_detail::exponential_distribution(epsilon_); }

 private:
  RoundedDouble epsilon_;
};

}  // namespace

PrivacyLossPtr gaussian_loss(const Real& squared_mu) { return std::make_shared<GaussianLoss>(squared_mu); }
PrivacyLossPtr laplace_loss(const Real& x) { return std::make_shared<LaplaceLoss>(x); }
PrivacyLossPtr exponential_loss(const Real& epsilon) { return std::make_shared<ExponentialLoss>(epsilon); }

}  // namespace sotto
