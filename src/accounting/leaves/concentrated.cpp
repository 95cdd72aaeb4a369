// Stated zCDP, tCDP and RDP guarantees, for any mechanism. Gaussian noise with μ² = 2ρ has exactly
// ρ-zCDP, so it attains a stated zCDP or tCDP guarantee.
#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/best_order.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/group.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto::accounting_detail {

template <>
class Description<Zcdp> final : public NeedsShare {
 public:
  Description(const Zcdp& node, std::int64_t units) : NeedsShare(units), node_(node) {}

  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (reveals_nothing()) return pure_renyi_of(*this, order, side);
    const Real rho = whole_rho().at(side);
    return Proved<Real>{gaussian_renyi(sqrt(2 * rho), order),
                        "zCDP: ρ α at every order",
                        "Bun2016",
                        {"ρ = " + rounded_to_nearest(rho)}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion) const override {
    return Proved<Real>{whole_rho(), "zCDP as stated", "Bun2016"};
  }
  [[nodiscard]] std::optional<Real> squared_mu(Side side) const override {
    if (side == Side::upper || units() > 1) return std::nullopt;
    return 2 * reading(node_.rho);
  }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return node_.rho.value() == 0; }

 private:
  [[nodiscard]] Real whole_rho() const { return square(k()) * reading(node_.rho); }

  Zcdp node_;
};
template LeafPtr describe(const Zcdp&, std::int64_t);

template <>
class Description<Tcdp> final : public NeedsShare {
 public:
  Description(const Tcdp& node, std::int64_t units) : NeedsShare(units), node_(node) {}

  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (reveals_nothing()) return pure_renyi_of(*this, order, side);
    return truncated_renyi(guarantee(), order, side, "tCDP: ρ α up to order ω", "Bun2018");
  }
  [[nodiscard]] std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const override {
    return Proved<TruncatedConcentratedDP>{guarantee(), "tCDP as stated", "Bun2018"};
  }
  [[nodiscard]] std::optional<Real> squared_mu(Side side) const override {
    if (side == Side::upper || units() > 1) return std::nullopt;
    return 2 * reading(node_.rho);
  }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return node_.rho.value() == 0; }

 private:
  [[nodiscard]] TruncatedConcentratedDP guarantee() const {
    const TruncatedConcentratedDP one{reading(node_.rho), reading(node_.omega)};
    return units() == 1 ? one : group_of(units(), one);
  }

  Tcdp node_;
};
template LeafPtr describe(const Tcdp&, std::int64_t);

template <>
class Description<Rdp> final : public NeedsShare {
 public:
  Description(const Rdp& node, std::int64_t units) : NeedsShare(units), node_(node) {}

  [[nodiscard]] bool carries_group() const override { return false; }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share,
                                                  GaussianConversion conversion) const override {
    if (reveals_nothing()) return NeedsShare::approximate(share, conversion);
    const Condition at = "δ = " + rounded_to_nearest(share);
    const double alpha = reading(node_.alpha).lower();
    if (units() > 1) {
      const RenyiDP grouped = group_of(units(), RenyiDP{alpha, reading(node_.eps)});
      return {{epsilon_from_renyi(grouped, share), share},
              "group privacy of RDP, then RDP to (ε, δ)",
              "Canonne2020",
              {at}};
    }
    const BestOrder best = best_order(alpha, [&](double a) {
      return epsilon_from_renyi({a, reading(node_.eps)}, share);
    });
    return {{best.value, share},
            "RDP to (ε, δ)",
            "Canonne2020",
            {at, "order " + rounded_to_nearest(best.order)}};
  }
  // For one unit only: the group conversion changes the order, and RenyiAccountant applies it.
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (reveals_nothing()) return pure_renyi_of(*this, order, side);
    if (side == Side::lower || units() > 1 || !(order <= reading(node_.alpha).lower()))
      return std::nullopt;
    return Proved<Real>{reading(node_.eps),
                        "RDP as stated, at every order up to its own",
                        "Mironov2017",
                        {"order " + shortest(order) + " <= " + shortest(node_.alpha.value())}};
  }
  [[nodiscard]] std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const override {
    return Refusal{"has no tCDP guarantee: its bound is not proportional to the order; use rdp"};
  }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return node_.eps.value() == 0; }

 private:
  Rdp node_;
};
template LeafPtr describe(const Rdp&, std::int64_t);

}  // namespace sotto::accounting_detail
