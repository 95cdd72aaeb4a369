// Laplace noise with x = Δ1/b, where e^x is the largest ratio of densities. A group of k has k
// times the distance.
#include "privacy/api/laplace.hpp"

#include "accounting/leaves/description.hpp"

namespace sotto::accounting_detail {

template <>
class Description<Laplace> final : public PureLeaf {
 public:
  Description(const Laplace& node, std::int64_t units) : PureLeaf(units), node_(node) {}

  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * reading(node_.sensitivity) / reading(node_.b);
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    const Real x = epsilon().at(side);
    return Proved<Real>{laplace_renyi(x, order),
                        "Laplace noise",
                        "Mironov2017",
                        {"Δ1/b = " + rounded_to_nearest(x)}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion conversion) const override {
    if (conversion == RhoConversion::classic) return PureLeaf::rho(conversion);
    const Real x = epsilon().upper();
    return Proved<Real>{laplace_rho(x),
                        "Laplace noise: ρ = x + e^-x - 1 with x = Δ1/b",
                        "Harrison2025",
                        {"Δ1/b = " + rounded_to_nearest(x)}};
  }
  [[nodiscard]] Noise noise() const override { return Noise::laplace; }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    const double x = epsilon().at(side);
    return Proved<Profile>{laplace_profile(x),
                           "Laplace noise, exact profile",
                           "Balle2018b",
                           {"Δ1/b = " + rounded_to_nearest(x)}};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    return symmetric_pair(laplace_loss(epsilon()), "Laplace noise", "Balle2018b");
  }
  [[nodiscard]] Base base() const override { return LaplaceBase{epsilon()}; }

 private:
  Laplace node_;
};
template LeafPtr describe(const Laplace&, std::int64_t);

}  // namespace sotto::accounting_detail
