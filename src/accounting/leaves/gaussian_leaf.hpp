// Leaves that are μ-GDP: the outputs on neighbours are no easier to distinguish than N(0, 1) and
// N(μ, 1).
#pragma once

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"

namespace sotto::accounting_detail {

/// A leaf with the guarantee of Gaussian noise with μ = Δ2/σ.
class GaussianLeaf : public NeedsShare {
 public:
  GaussianLeaf(const Real& mu, bool reveals_nothing, std::int64_t units)
      : NeedsShare(units), mu_(mu), reveals_nothing_(reveals_nothing) {}

  [[nodiscard]] Proved<ApproximateDP> approximate(double share,
                                                  GaussianConversion conversion) const override {
    if (reveals_nothing()) return NeedsShare::approximate(share, conversion);
    const Condition at = "δ = " + rounded_to_nearest(share);
    if (conversion == GaussianConversion::classical) {
      const Real epsilon = gaussian_classical_epsilon(mu_.upper(), share);
      return {{epsilon, share},
              "Gaussian noise, classical bound: ε = μ sqrt(2 log(1.25/δ))",
              "Dwork2014",
              {at, "ε <= 1: " + rounded_up(epsilon)}};
    }
    return {{epsilon_of(gaussian_profile(mu_.upper()), share, Side::upper), share},
            "Gaussian noise, exact profile",
            "Balle2018a",
            {at}};
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    const Real m = mu_.at(side);
    return Proved<Real>{gaussian_renyi(m, order),
                        "Gaussian noise: α μ²/2 with μ = Δ2/σ",
                        "Mironov2017",
                        {"μ = " + rounded_to_nearest(m)}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion) const override {
    return Proved<Real>{gaussian_rho(mu_.upper()),
                        "Gaussian noise: ρ = μ²/2",
                        "Bun2016",
                        {"μ = " + rounded_to_nearest(mu_)}};
  }
  [[nodiscard]] std::optional<Real> squared_mu(Side) const override { return square(mu_); }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    return symmetric_pair(gaussian_loss(square(mu_)), "Gaussians merge into one: μ² adds",
                          "Dong2022");
  }
  [[nodiscard]] Base base() const override { return GaussianBase{square(mu_)}; }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return reveals_nothing_; }

 private:
  Real mu_;
  bool reveals_nothing_;
};

}  // namespace sotto::accounting_detail
