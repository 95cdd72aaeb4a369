// The exponential mechanism with pure ε. It has bounded range, which gives tighter bounds than ε-DP
// [Dong2020; Cesar2021].
#include "privacy/api/exponential.hpp"

#include "accounting/leaves/description.hpp"
#include "privacy/api/pure.hpp"

namespace sotto::accounting_detail {

template <>
class Description<Exponential> final : public PureLeaf {
 public:
  Description(const Exponential& node, std::int64_t units) : PureLeaf(units), node_(node) {}

  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * reading(node_.eps);
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (side == Side::lower) return std::nullopt;
    const Real e = epsilon().upper();
    return Proved<Real>{exponential_renyi(e, order),
                        "exponential mechanism: bounded range",
                        "Cesar2021",
                        {"ε = " + rounded_to_nearest(e)}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion) const override {
    const Real e = epsilon().upper();
    return Proved<Real>{exponential_rho(e),
                        "exponential mechanism: ρ = ε²/8",
                        "Cesar2021",
                        {"ε = " + rounded_to_nearest(e)}};
  }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    const double e = epsilon().at(side);
    if (e == 0) return Proved<Profile>{pure_profile(0), "nothing is revealed", "Dong2020"};
    return Proved<Profile>{exponential_profile(e),
                           "exponential mechanism, one use: the pointwise maximum over its pairs",
                           "Dong2020"};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    auto pair = symmetric_pair(exponential_loss(epsilon()),
                               "exponential mechanism: the pair of its worst profile", "Dong2020");
    pair.value.attained = false;
    return pair;
  }

 private:
  Exponential node_;
};
template LeafPtr describe(const Exponential&, std::int64_t);

}  // namespace sotto::accounting_detail
