// The privacy loss of the exponential mechanism's dominating pair [Dong2020]:
// M(s) = shc(εv)/shc(ε/2) with shc(z) = sinh(z)/z and v = s + 1/2.
#include <cmath>

#include "pld/arithmetic/support.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/mechanisms/bounded_loss.hpp"

namespace sotto {
namespace {

using pld_detail::RoundedDouble;
using pld_detail::unit;

class ExponentialLogMgf : public LogMgf {
 public:
  ExponentialLogMgf(RoundedDouble epsilon, double c) : epsilon_(epsilon), c_(c) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const double epsilon = epsilon_.value;
    if ((c_ + 1) * epsilon > 300) return from_exponentials(t);
    const double base =
        epsilon < 1e-3 ? 1 + epsilon * epsilon / 24 : 2 * std::sinh(epsilon / 2) / epsilon;
    const pld_detail::ShcDifference difference = pld_detail::shc_difference({c_, t}, epsilon_);
    const Complex excess = (1 / base) * difference.value;
    return pld_detail::log_of_excess(
        excess, difference.error / base + abs(excess) * (epsilon * epsilon_.relative + 16 * unit));
  }
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (t <= 0) return all;
    // |sinh z| <= cosh(Re z), and log(2 sinh(ε/2)) = ε/2 + log(1 - e^-ε)
    const double a = epsilon_.value * (c_ + 0.5);
    const double top = a + std::log1p(std::exp(-2 * a)) - std::log(2.0);
    const double bottom = epsilon_.value / 2 + std::log(-std::expm1(-epsilon_.value)) +
                          std::log(std::hypot(c_ + 0.5, t));
    return std::min(all, top - bottom + (2 + a) * (16 * unit + 2 * epsilon_.relative));
  }

 private:
  // Returns log M for large arguments, where sinh z is e^z/2 up to less than 2^-400.
  LogMgfValue from_exponentials(double t) const {
    const Complex v{c_ + 0.5, t};
    const double epsilon = epsilon_.value;
    const double bottom = epsilon / 2 + std::log(-std::expm1(-epsilon));
    return {{epsilon * v.re - std::log(2.0) - bottom - std::log(abs(v)),
             epsilon * t - std::atan2(v.im, v.re)},
            (3 + abs(v) * epsilon) * (16 * unit + 2 * epsilon_.relative)};
  }
  RoundedDouble epsilon_;
  double c_;
};

class ExponentialLoss : public pld_detail::BoundedLoss<ExponentialLogMgf> {
 public:
  explicit ExponentialLoss(const Real& epsilon)
      : BoundedLoss(epsilon, epsilon.estimate() / 2, std::nullopt), epsilon_(epsilon) {}
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::exponential_distribution(epsilon_);
  }

 private:
  RoundedDouble epsilon_;
};

}  // namespace

PrivacyLossPtr exponential_loss(const Real& epsilon) {
  return std::make_shared<ExponentialLoss>(epsilon);
}

}  // namespace sotto
