// Bounds that hold for every mechanism with a given (ε, δ), zCDP or tCDP guarantee: the defaults of
// PureLeaf and NeedsShare.
#include <cmath>

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/pure.hpp"

namespace sotto::accounting_detail {
namespace {

// The (ε, δ)-DP guarantee that the leaf has at no choice of δ.
Proved<ApproximateDP> own_guarantee_of(const Leaf& leaf) {
  return {{leaf.pure_epsilon(1)->upper(), leaf.delta()},
          leaf.stated() ? "as stated" : "the mechanism's own ε",
          leaf.noise() == Noise::laplace ? "Dwork2006b" : "Dwork2014"};
}

// (ρ, ω) of tCDP. A leaf with a zCDP guarantee has ω = all_orders.
TruncatedConcentratedDP concentrated(const Leaf& leaf) {
  if (const auto tcdp = leaf.tcdp()) return std::get<Proved<TruncatedConcentratedDP>>(*tcdp).value;
  return {std::get<Proved<Real>>(leaf.rho(RhoConversion::better)).value, all_orders};
}

}  // namespace

std::optional<Proved<Real>> pure_renyi_of(const Leaf& leaf, double order, Side side) {
  const bool has_delta = leaf.delta().upper() > 0;
  if (side == Side::lower && (has_delta || (leaf.units() > 1 && !std::isinf(order))))
    return std::nullopt;
  const Real e = leaf.pure_epsilon(1)->at(side);
  return Proved<Real>{pure_renyi(e, order),
                      has_delta ? "(ε, δ)-DP with δ set aside: randomized response dominates"
                                : "ε-DP: randomized response dominates",
                      "Bun2016",
                      {"ε = " + rounded_to_nearest(e)}};
}

Proved<Real> pure_rho_of(const Real& epsilon, RhoConversion conversion) {
  const Real e = epsilon.upper();
  const Condition is = "ε = " + rounded_to_nearest(e);
  if (conversion == RhoConversion::classic)
    return {pure_rho_classic(e), "ε-DP: ρ = ε²/2", "Bun2016", {is}};
  return {pure_rho(e), "ε-DP: ρ = ε tanh(ε/2)", "Harrison2025", {is}};
}

std::optional<Proved<Real>> truncated_renyi(const TruncatedConcentratedDP& tcdp, double order,
                                            Side side, const std::string& theorem,
                                            const std::string& reference) {
  if (!(order <= tcdp.omega.at(opposite(side)))) return std::nullopt;
  return Proved<Real>{
      order == 1 ? tcdp.rho : Real(order) * tcdp.rho,
      theorem,
      reference,
      {"order " + rounded_to_nearest(order) + " <= ω = " + rounded_down(tcdp.omega)}};
}

Lattice spaced(const Real& loss, double spacings) {
  const double value = loss.estimate();
  return {value, spacings * value, (loss.upper() - loss.lower()) / value + 0x1p-50};
}

PrivacyLossPtr response_loss(const Real& epsilon) {
  return symmetric_atoms_loss({{epsilon, 1 / (exp(epsilon / 2) + exp(-(epsilon / 2)))}},
                              spaced(epsilon, 2));
}

Proved<DominatingPair> symmetric_pair(PrivacyLossPtr loss, std::string theorem,
                                      std::string reference) {
  return {{.removed = std::move(loss), .added = nullptr}, std::move(theorem), std::move(reference)};
}

// --- ε-DP, with or without a δ ---

Proved<ApproximateDP> PureLeaf::approximate(double, GaussianConversion) const {
  return own_guarantee_of(*this);
}

std::optional<Proved<Real>> PureLeaf::renyi(double order, Side side) const {
  if (side == Side::lower) return std::nullopt;
  return pure_renyi_of(*this, order, side);
}

ProvedOrRefused<Real> PureLeaf::rho(RhoConversion conversion) const {
  return pure_rho_of(epsilon(), conversion);
}

ProvedOrRefused<DominatingPair> PureLeaf::pair() const {
  auto pair = symmetric_pair(
      response_loss(epsilon()),
      "(ε, δ)-DP: randomized response, with an atom δ at infinity, dominates", "Kairouz2015");
  pair.value.failure = delta();
  pair.value.attained = false;
  return pair;
}

Base PureLeaf::base() const { return CanonicalBase{{epsilon(), delta()}, false}; }

// --- Leaves that need a share of δ ---

Proved<ApproximateDP> NeedsShare::approximate(double share, GaussianConversion) const {
  if (reveals_nothing()) return own_guarantee_of(*this);
  const BestOrder best = epsilon_from_tcdp(concentrated(*this), share);
  return {{best.value, share},
          "concentrated DP to (ε, δ)",
          "Canonne2020",
          {"δ = " + rounded_to_nearest(share), "order " + rounded_to_nearest(best.order)}};
}

ProvedOrRefused<Real> NeedsShare::rho(RhoConversion conversion) const {
  if (reveals_nothing()) return pure_rho_of(0, conversion);
  return Refusal{"is no zCDP guarantee: it bounds only orders up to its own; use rdp or tcdp"};
}

ProvedOrRefused<DominatingPair> NeedsShare::pair() const {
  return Refusal{
      "is a guarantee that many mechanisms satisfy: no pair of distributions is worst among them; "
      "use rdp or tight"};
}

Base NeedsShare::base() const {
  if (reveals_nothing()) return CanonicalBase{{0, 0}, false};
  return NoBase{};
}

}  // namespace sotto::accounting_detail
