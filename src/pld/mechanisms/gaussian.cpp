// The privacy loss of Gaussian noise: log M(s) = s(s+1) μ²/2 [Dong2022].
#include <cmath>

#include "pld/arithmetic/support.hpp"
#include "pld/grid/distribution.hpp"

namespace sotto {
namespace {

using pld_detail::RoundedDouble;
using pld_detail::unit;

// |M(c + it)| decreases in t, so it is its own decay bound.
class GaussianLogMgf : public LogMgf {
 public:
  GaussianLogMgf(RoundedDouble squared_mu, double c) : squared_mu_(squared_mu), c_(c) {}
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const double size = (c_ * (c_ + 1) + t * t + t * (2 * c_ + 1)) * squared_mu_.value;
    return {
        {squared_mu_.value * (c_ * (c_ + 1) - t * t) / 2, squared_mu_.value * t * (2 * c_ + 1) / 2},
        size * (squared_mu_.relative + 8 * unit)};
  }
  double decay_bound(double t, Extent /*reach*/) const override {
    const LogMgfValue here = at(t);
    return here.log.re + here.error;
  }

 private:
  RoundedDouble squared_mu_;
  double c_;
};

class GaussianLoss : public PrivacyLoss {
 public:
  explicit GaussianLoss(const Real& squared_mu) : squared_mu_(squared_mu) {}
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<GaussianLogMgf>(squared_mu_, c);
  }
  double standard_deviation() const override { return std::sqrt(squared_mu_.value); }
  bool symmetric() const override { return true; }
  pld_detail::DistributionPtr distribution() const override {
    RoundedDouble mu = squared_mu_;
    mu.value = std::sqrt(squared_mu_.value);
    mu.relative += 2 * unit;
    return pld_detail::gaussian_distribution(mu);
  }

 private:
  RoundedDouble squared_mu_;
};

}  // namespace

PrivacyLossPtr gaussian_loss(const Real& squared_mu) {
  return std::make_shared<GaussianLoss>(squared_mu);
}

}  // namespace sotto
