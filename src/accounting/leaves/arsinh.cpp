// Arsinh-normal noise on one number: A arsinh(N(0, Δ²/(2ρ))/A), which is (16ρ, A/(8Δ))-tCDP
// [Bun2018].
#include "privacy/api/arsinh.hpp"

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"

namespace sotto::accounting_detail {

template <>
class Description<Arsinh> final : public NeedsShare {
 public:
  Description(const Arsinh& node, std::int64_t units) : NeedsShare(units), node_(node) {}

  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (side == Side::lower) return std::nullopt;
    const TruncatedConcentratedDP tcdp = guarantee();
    if (!(order <= tcdp.omega.lower())) return std::nullopt;
    return Proved<Real>{
        Real(order) * tcdp.rho,
        "arsinh noise: (16ρ, A/(8Δ))-tCDP",
        "Bun2018",
        {"1 < 1/sqrt(ρ) <= A/Δ", "A > 8Δ",
         "order " + rounded_to_nearest(order) + " <= ω = " + rounded_down(tcdp.omega)}};
  }
  [[nodiscard]] std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const override {
    return Proved<TruncatedConcentratedDP>{guarantee(),
                                           "arsinh noise: (16ρ, A/(8Δ))-tCDP",
                                           "Bun2018",
                                           {"1 < 1/sqrt(ρ) <= A/Δ", "A > 8Δ"}};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    const Real ratio = reading(node_.a) / reading(node_.sensitivity);
    const Real kappa = reading(node_.rho) * square(ratio);  // A²/(2σ²) with σ² = Δ²/(2ρ)
    if (!(kappa.lower() >= 1 && ratio.lower() > 4 * static_cast<double>(units()))) {
      return Refusal{
          "has a known dominating pair only if rho (a/sensitivity)^2 >= 1 and a > 4 sensitivity: "
          "use rdp or tcdp"};
    }
    auto pair = symmetric_pair(arsinh_loss(kappa, k() / ratio), "arsinh noise, from its density",
                               "Bun2018");
    pair.conditions = {"log-concave: ρA²/Δ² = " + rounded_down(kappa) + " >= 1"};
    return pair;
  }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return false; }

 private:
  // Throws OutsideConditions unless the conditions of the theorem hold.
  [[nodiscard]] TruncatedConcentratedDP guarantee() const {
    return arsinh_tcdp(square(k()) * reading(node_.rho), reading(node_.a),
                       k() * reading(node_.sensitivity));
  }

  Arsinh node_;
};
template LeafPtr describe(const Arsinh&, std::int64_t);

}  // namespace sotto::accounting_detail
