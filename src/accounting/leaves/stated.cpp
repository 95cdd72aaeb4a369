// A stated (ε, δ)-DP guarantee, for any mechanism. Randomized response with an atom δ at infinity
// is the worst such mechanism [Kairouz2015].
#include <cmath>

#include "accounting/leaves/description.hpp"
#include "privacy/api/group.hpp"

namespace sotto::accounting_detail {
namespace {

class StatedLeaf : public PureLeaf {
 public:
  StatedLeaf(const Parameter& epsilon, const Parameter& delta, std::int64_t units)
      : PureLeaf(units), epsilon_(epsilon), delta_(delta) {}

  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * reading(epsilon_);
  }
  [[nodiscard]] Real delta() const override {
    const Real one = delta_.value() == 0 ? Real(0) : reading(delta_);
    return units() == 1 ? one : group_of(units(), ApproximateDP{reading(epsilon_), one}).delta;
  }
  [[nodiscard]] std::optional<Stated> stated() const override {
    return Stated{epsilon_.value(), delta_.value()};
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    return pure_renyi_of(*this, order, side);
  }
  // For a group the canonical pair is only an upper bound.
  [[nodiscard]] std::optional<ApproximateDP> canonical(Side side) const override {
    if ((side == Side::lower && units() > 1) || !std::isfinite(epsilon().upper()))
      return std::nullopt;
    return ApproximateDP{epsilon(), delta()};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    auto pair = std::get<Proved<DominatingPair>>(PureLeaf::pair());
    pair.value.attained = units() == 1;
    return pair;
  }

 private:
  Parameter epsilon_;
  Parameter delta_;
};

}  // namespace

template <>
class Description<Pure> final : public StatedLeaf {
 public:
  Description(const Pure& node, std::int64_t units) : StatedLeaf(node.eps, 0, units) {}
  [[nodiscard]] Base base() const override { return CanonicalBase{{epsilon(), 0}, units() == 1}; }
};
template LeafPtr describe(const Pure&, std::int64_t);

template <>
class Description<Approx> final : public StatedLeaf {
 public:
  Description(const Approx& node, std::int64_t units) : StatedLeaf(node.eps, node.delta, units) {}
};
template LeafPtr describe(const Approx&, std::int64_t);

}  // namespace sotto::accounting_detail
