// The privacy loss of Laplace noise. With shc(z) = sinh(z)/z and v = s + 1/2,
// M(s) - 1 = e^(-x/2) [2 sinh((s+1)x/2) sinh(sx/2) + (x/2)(shc(xv) - shc(x/2))].
#include <cmath>

#include "numerics/api/elementary.hpp"
#include "pld/arithmetic/support.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/mechanisms/bounded_loss.hpp"

namespace sotto {
namespace {

using pld_detail::RoundedDouble;
using pld_detail::unit;

class LaplaceLogMgf : public LogMgf {
 public:
  LaplaceLogMgf(RoundedDouble x, double c) : x_(x), c_(c) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const Complex s{c_, t};
    const double x = x_.value;
    if (std::hypot(c_ + 1, t) * x > 3) return from_exponentials(t);
    const Complex a{(c_ + 1) * x / 2, t * x / 2};
    const Complex b{c_ * x / 2, t * x / 2};
    const Complex product = 2 * (sinh(a) * sinh(b));
    const double product_error =
        4 * abs(a) * abs(b) * std::cosh(a.re) * std::cosh(b.re) * (32 * unit + 2 * x_.relative);
    const pld_detail::ShcDifference rest = pld_detail::shc_difference(s, x_);
    const double front = std::exp(-x / 2);
    const Complex excess = front * (product + (x / 2) * rest.value);
    const double error =
        front * (product_error + x / 2 * rest.error) + abs(excess) * (x * x_.relative + 16 * unit);
    return pld_detail::log_of_excess(excess, error);
  }
  double decay_bound(double t, Extent /*reach*/) const override {
    // |M| <= |s+1|/|2s+1| e^(cx) + |s|/|2s+1| e^(-(c+1)x), whose first factor decreases in t, and
    // whose second one increases to 1/2
    const double x = x_.value;
    const double first = std::log(std::hypot(c_ + 1, t) / std::hypot(2 * c_ + 1, 2 * t)) + c_ * x;
    const double second = -std::log(2.0) - (c_ + 1) * x;
    const double sum = std::max(first, second) + std::log1p(std::exp(-std::abs(first - second)));
    return std::min(sum + (1 + (c_ + 1) * x) * (16 * unit + x_.relative),
                    pld_detail::upper_log_mgf(at(0)));
  }

 private:
  // Returns log M where M is not near 1, or e^(cx) would overflow, from
  // M = (s+1)/(2s+1) e^(sx) (1 + s/(s+1) e^(-(2s+1)x)).
  LogMgfValue from_exponentials(double t) const {
    const Complex s{c_, t};
    const Complex next{c_ + 1, t};
    const Complex ratio = next / Complex{2 * c_ + 1, 2 * t};
    const double x = x_.value;
    const double error_bound = (2 + abs(s) * x) * (16 * unit + x_.relative);
    const Complex back = (s / next) * exp(Complex{-(2 * c_ + 1) * x, -2 * t * x});
    const LogMgfValue rest = pld_detail::log_of_excess(
        back, abs(back) * (2 * error_bound + x * (16 * unit + x_.relative)) + 1e-300);
    const Complex front{std::log(abs(ratio)) + c_ * x, std::atan2(ratio.im, ratio.re) + t * x};
    if (std::isinf(rest.error))
      return {{front.re + rest.log.re + error_bound, 0}, pld_detail::infinity};
    return {front + rest.log, error_bound + rest.error};
  }
  RoundedDouble x_;
  double c_;
};

class LaplaceLoss : public pld_detail::BoundedLoss<LaplaceLogMgf> {
 public:
  explicit LaplaceLoss(const Real& x)
      : BoundedLoss(x, x.estimate(), PrivacyLoss::MaxLossAtom{x.lower(), log(Real(0.5)).lower()}),
        x_(x) {}
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::laplace_distribution(x_);
  }

 private:
  RoundedDouble x_;
};

}  // namespace

PrivacyLossPtr laplace_loss(const Real& x) { return std::make_shared<LaplaceLoss>(x); }

}  // namespace sotto
