// The staircase mechanism with pure ε and γ = 1/(1 + e^(ε/2)) [Geng2014]. With t = e^(-ε/2), P has
// mass 1 - t/2 on the loss ε, t(1-t)²/2 on 0, and the rest on -ε; neighbours at shorter distances
// are dominated (docs/theory/privacy.md). A group of k has only its kε-DP guarantee.
#include <cmath>

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/pure.hpp"

namespace sotto::accounting_detail {

template <>
class Description<Staircase> final : public PureLeaf {
 public:
  Description(const Staircase& node, std::int64_t units) : PureLeaf(units), node_(node) {}

  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * reading(node_.eps);
  }
  // log E_P[e^((α-1)L)]/(α-1), in forms that avoid cancellation near order 1 and overflow at large
  // orders.
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (units() > 1) return PureLeaf::renyi(order, side);
    const Real e = epsilon();
    const auto answer = [&](const Real& value) {
      return Proved<Real>{value,
                          "staircase noise, from its losses ε, 0 and -ε",
                          "Geng2014",
                          {"ε = " + rounded_to_nearest(e)}};
    };
    if (std::isinf(order) || e.upper() == 0) return answer(e);
    if (order == 1) return answer(e * (mass_above() - mass_below()));
    const Real c = Real(order) - 1;
    if ((c * e).upper() < 1)
      return answer(log1p(mass_above() * expm1(c * e) + mass_below() * expm1(-(c * e))) / c);
    return answer(
        e + log(mass_above() + mass_zero() * exp(-(c * e)) + mass_below() * exp(-(2 * c * e))) / c);
  }
  [[nodiscard]] bool has_exact_renyi_curve() const override { return units() == 1; }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    if (units() > 1) return std::nullopt;
    const Real e = epsilon();
    const Real above = mass_above();
    return Proved<Profile>{
        {[e, above](double at) { return max(0, -(above * expm1(Real(at) - e))); }, e.at(side)},
        "staircase noise, exact profile: (1 - t/2)(1 - e^(ε'-ε)) with t = e^(-ε/2)",
        "Geng2014"};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    if (units() > 1) return PureLeaf::pair();
    const std::vector<SymmetricAtom> atoms{{epsilon(), mass_above() * t()}};
    return symmetric_pair(symmetric_atoms_loss(atoms, spaced(epsilon(), 1)),
                          "staircase noise, from its losses ε, 0 and -ε", "Geng2014");
  }
  [[nodiscard]] Base base() const override {
    if (units() > 1) return PureLeaf::base();
    return LatticeBase{.spacing = epsilon(), .masses = {mass_above(), mass_zero(), mass_below()}};
  }

 private:
  [[nodiscard]] Real t() const { return exp(-(epsilon() / 2)); }
  // The masses of the losses ε, 0 and -ε under P. Under Q they are reversed.
  [[nodiscard]] Real mass_above() const { return 1 - t() / 2; }
  [[nodiscard]] Real mass_zero() const { return t() * square(-expm1(-(epsilon() / 2))) / 2; }
  [[nodiscard]] Real mass_below() const { return square(t()) * mass_above(); }

  Staircase node_;
};
template LeafPtr describe(const Staircase&, std::int64_t);

}  // namespace sotto::accounting_detail
