// A mechanism that reveals everything with probability δ and else adds Laplace noise [Dwork2014].
// No Rényi divergence is finite, and its δ cannot be set aside as the δ of approx() can.
#include <limits>

#include "accounting/api/composition.hpp"
#include "accounting/leaves/description.hpp"
#include "privacy/api/group.hpp"
#include "privacy/api/laplace.hpp"

namespace sotto::accounting_detail {

template <>
class Description<Catastrophe> final : public PureLeaf {
 public:
  Description(const Catastrophe& node, std::int64_t units) : PureLeaf(units), node_(node) {}

  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * reading(node_.eps);
  }
  [[nodiscard]] Real delta() const override {
    const Real one = node_.delta.value() == 0 ? Real(0) : reading(node_.delta);
    return units() == 1 ? one : group_of(units(), ApproximateDP{reading(node_.eps), one}).delta;
  }
  [[nodiscard]] bool can_set_delta_aside() const override { return node_.delta.value() == 0; }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (node_.delta.value() > 0) return std::nullopt;
    const Real x = epsilon().at(side);
    return Proved<Real>{laplace_renyi(x, order),
                        "Laplace noise",
                        "Mironov2017",
                        {"Δ1/b = " + rounded_to_nearest(x)}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion conversion) const override {
    if (node_.delta.value() == 0) return PureLeaf::rho(conversion);
    return Refusal{
        "has no zCDP guarantee: with probability delta it reveals everything; use basic, optimal "
        "or pld"};
  }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    if (units() > 1) return std::nullopt;
    const double x = epsilon().at(side);
    const Real failure = delta().at(side);
    const double worst = node_.delta.value() > 0 ? std::numeric_limits<double>::infinity() : x;
    return Proved<Profile>{
        {[=](double epsilon) { return either_failure(failure, laplace_delta(epsilon, x)); }, worst,
         failure},
        "Laplace noise, or everything with probability δ",
        "Dwork2014",
        {"δ = " + rounded_to_nearest(failure)}};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    if (units() > 1) return PureLeaf::pair();
    auto pair = symmetric_pair(laplace_loss(epsilon()),
                               "Laplace noise, or everything with probability δ", "Dwork2014");
    pair.value.failure = delta();
    return pair;
  }

 private:
  Catastrophe node_;
};
template LeafPtr describe(const Catastrophe&, std::int64_t);

}  // namespace sotto::accounting_detail
