// Discrete Laplace (geometric) noise on one integer, from its probability mass function
// [Canonne2020]. A group of k moves the integer by k times the sensitivity.
#include <cmath>

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/discrete.hpp"

namespace sotto::accounting_detail {
namespace {

// The privacy loss for neighbours at distance d: (d - 2j)/b for the outcomes 0 < j < d between
// them, and ±d/b for all others.
PrivacyLossPtr loss_at(const Real& b, std::int64_t d) {
  const Real t = exp(-1 / b);
  std::vector<SymmetricAtom> atoms;
  for (std::int64_t j = 0; 2 * j < d; ++j) {
    const Real loss = real(d - 2 * j) / b;
    const Real mass = j == 0 ? 1 / (1 + t) : (1 - t) / (1 + t) * exp(-(real(j) / b));
    atoms.push_back({loss, mass * exp(-(loss / 2))});
  }
  const Real largest = real(d) / b;
  Lattice lattice = spaced(largest, 1);
  lattice.spacing = (2 / b).estimate();
  return symmetric_atoms_loss(atoms, lattice);
}

}  // namespace

template <>
class Description<DiscreteLaplace> final : public PureLeaf {
 public:
  Description(const DiscreteLaplace& node, std::int64_t units) : PureLeaf(units), node_(node) {}

  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * reading(node_.sensitivity) / reading(node_.b);
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    return Proved<Real>{
        discrete_laplace_renyi(reading(node_.b).at(opposite(side)), distance(), order),
        "discrete Laplace noise, from its pmf",
        "Canonne2020",
        {"integer sensitivity " + std::to_string(distance())}};
  }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    return Proved<Profile>{
        discrete_laplace_profile(reading(node_.b).at(opposite(side)), distance(), side),
        "discrete Laplace noise, from its pmf",
        "Canonne2020",
        {"integer sensitivity"}};
  }
  [[nodiscard]] std::optional<ApproximateDP> canonical(Side) const override {
    if (units() != 1 || node_.sensitivity.value() != 1 || !std::isfinite(epsilon().upper()))
      return std::nullopt;
    return ApproximateDP{epsilon()};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    constexpr std::int64_t most_losses = 20000;
    if (distance() > most_losses)
      return Refusal{"has a sensitivity too large for its losses to be listed: use rdp"};
    return symmetric_pair(loss_at(reading(node_.b), distance()),
                          "discrete Laplace noise, from its pmf", "Canonne2020");
  }

 private:
  [[nodiscard]] std::int64_t distance() const { return times(units(), node_.sensitivity); }

  DiscreteLaplace node_;
};
template LeafPtr describe(const DiscreteLaplace&, std::int64_t);

}  // namespace sotto::accounting_detail
