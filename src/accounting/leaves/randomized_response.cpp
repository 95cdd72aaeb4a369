// Randomized response over k values. The units of a group respond separately, so a group has only
// the bound kε, which is not attained.
#include "privacy/api/randomized_response.hpp"

#include <cmath>

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"

namespace sotto::accounting_detail {

template <>
class Description<RandomizedResponse> final : public PureLeaf {
 public:
  Description(const RandomizedResponse& node, std::int64_t units) : PureLeaf(units), node_(node) {}

  [[nodiscard]] std::optional<Relation> fixed_relation() const override {
    return Relation::replace_one;
  }
  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * response_epsilon(response());
  }
  [[nodiscard]] bool reaches_pure_epsilon() const override { return units() == 1; }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (units() > 1) return PureLeaf::renyi(order, side);
    return Proved<Real>{
        response_renyi(response(), order), "randomized response", "Mironov2017", {"replace-one"}};
  }
  [[nodiscard]] bool has_exact_renyi_curve() const override { return true; }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    if (units() > 1) return std::nullopt;
    const ResponseProbabilities own = response();
    return Proved<Profile>{{[own](double epsilon) { return response_delta(epsilon, own); },
                            response_epsilon(own).at(side)},
                           "randomized response, exact profile",
                           "Kairouz2015",
                           {"replace-one"}};
  }
  [[nodiscard]] std::optional<ApproximateDP> canonical(Side side) const override {
    if (node_.k.value() != 2 || (side == Side::lower && units() > 1) ||
        !std::isfinite(epsilon().upper()))
      return std::nullopt;
    return ApproximateDP{epsilon()};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    if (units() > 1) return PureLeaf::pair();
    const ResponseProbabilities own = response();
    const Real e = response_epsilon(own);
    if (node_.k.value() == 2)
      return symmetric_pair(response_loss(e), "binary randomized response", "Kairouz2015");
    const std::vector<SymmetricAtom> atoms{{e, sqrt(own.truth * own.other)}};
    return symmetric_pair(symmetric_atoms_loss(atoms, spaced(e, 1)),
                          "randomized response over k values", "Kairouz2015");
  }

 private:
  [[nodiscard]] ResponseProbabilities response() const {
    return response_probabilities(reading(node_.p), count(node_.k));
  }

  RandomizedResponse node_;
};
template LeafPtr describe(const RandomizedResponse&, std::int64_t);

}  // namespace sotto::accounting_detail
