// The Rényi DP (moments) accountant: the Rényi divergence of a whole plan at any order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "accounting/api/pld.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

namespace accounting_detail {
class Leaf;
struct Sampling;
}  // namespace accounting_detail

/// The theorem that amplifies a Rényi curve by sampling without replacement (amplification.hpp).
enum class WithoutReplacementBound {
  best,         ///< the tightest theorem that applies
  every_order,  ///< the closed form without_replacement_renyi_loose
  one_order,    ///< the closed form without_replacement_renyi_one_order
};

/// The Rényi curve of one plan. On Side::upper it bounds every mechanism that satisfies the plan.
/// On Side::lower one such mechanism attains it, and it is unknown if nothing is proved. The curve
/// is conditional on the event that no approx() leaf fails; delta_set_aside() is the probability
/// that one fails. Divergences of one order add over a sum [Mironov2017]; parts in parallel take
/// the largest. Not thread-safe, not even for const calls: sums over orders are cached.
class RenyiAccountant {
 public:
  /// Throws OutsideConditions if `bound` is a closed form and the plan samples by Poisson, or not
  /// at all.
  RenyiAccountant(Plan plan, Side side,
                  WithoutReplacementBound bound = WithoutReplacementBound::best);

  /// Returns D_α for α in [1, inf]: the KL divergence at 1, the max divergence at inf.
  /// Real::unknown() if it is, or may be, infinite. Throws OutsideConditions if a part has no Rényi
  /// divergence (catastrophe) or the conditions of a theorem fail.
  [[nodiscard]] Real at(double order) const;
  /// Returns the probability 1 - ∏(1 - δ) that some approx() leaf fails.
  [[nodiscard]] Real delta_set_aside() const;
  /// Returns the derivation of at(order).
  [[nodiscard]] Derivation derive(double order) const;

 private:
  // `k` is the size of the group. If `why` is not null, it receives the derivation.
  Real evaluate(const Plan& plan, double order, std::int64_t k, Derivation* why) const;
  // A plan whose parts cannot carry the group: the group conversion of any mechanism.
  Real grouped(const Plan& plan, double order, std::int64_t k, Derivation* why) const;
  Real of_leaf(const Plan& plan, const accounting_detail::Leaf& leaf, double order, std::int64_t k,
               Derivation* why) const;
  // A sampling node, by the best theorem for its body.
  Real sampled(const Plan& plan, double order, Derivation* why) const;
  // A sampling node by amplification of (ε, δ)-DP [Balle2018b]: for the max divergence, and for a
  // body with a δ that is set aside, so that the rest is ε-DP.
  Real sampled_pure(const Plan& plan, const accounting_detail::Sampling& sampling, double order,
                    bool has_delta, Derivation* why) const;
  // A sampling node at an integer order, by a sum over orders.
  Real sampled_whole(const Plan& plan, int order) const;
  // A sampling node by the moment generating function of its privacy loss.
  Real by_transform(const Plan& plan, double order) const;
  // The divergence of arsinh noise by quadrature of its density; empty outside the conditions of
  // arsinh_loss.
  std::optional<Real> arsinh_curve(const Arsinh& noise, double order, std::int64_t k) const;

  Plan plan_;
  Side side_;
  WithoutReplacementBound bound_;
  bool samples_;
  // Caches for sampled nodes, by integer order: the divergence, and the excess of
  // poisson_log_excess.
  using OrderCache = std::map<std::tuple<const Node*, int>, Real>;
  mutable OrderCache whole_orders_;
  mutable OrderCache excesses_;
  mutable std::map<const Node*, PlanLoss> losses_;
  mutable std::map<std::tuple<const Arsinh*, std::int64_t, double>, Real> arsinh_;
};

}  // namespace sotto
