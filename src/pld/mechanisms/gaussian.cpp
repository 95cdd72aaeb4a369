// The loss of Gaussian noise: log M(s) = s(s+1) μ²/2.
#include <cmath>

#include "pld/grid/distribution.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto {
namespace {

using pld_detail::RoundedDouble;
using pld_detail::unit;

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

}  // namespace

PrivacyLossPtr gaussian_loss(const Real& squared_mu) { return std::make_shared<GaussianLoss>(squared_mu); }

}  // namespace sotto
