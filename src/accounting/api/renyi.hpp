// The Rényi accountant: the divergence of a whole plan at any order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "sotto/accounting/derivation.hpp"
#include "accounting/api/pld.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// Which theorem amplifies a Rényi curve by sampling without replacement: the best known, or one of the two closed forms of the cheat sheets
/// (without_replacement_renyi_loose, without_replacement_renyi_one_order).
enum class SamplingLine { best, every_order, one_order };

/// The Rényi curve of one plan. On Side::upper it bounds every mechanism that satisfies the plan's words; on
/// Side::lower it is reached by one of them (unknown where nothing is proved). The δ of `approx` leaves is set aside
/// first; sums add at equal orders; parts in parallel take the largest.
class RenyiAccountant {
 public:
  /// OutsideConditions for a closed form where the plan samples by Poisson, or does not sample at all.
  RenyiAccountant(Plan plan, Side side, SamplingLine line = SamplingLine::best);

  /// D_α for α in [1, inf]: KL at 1, max divergence at inf. Unknown where it is, or may be, infinite.
  /// OutsideConditions where a part has no Rényi divergence (catastrophe) or a theorem's conditions fail.
  [[nodiscard]] Real at(double order) const;
  /// What the `approx` leaves set aside: 1 - prod(1 - δ).
  [[nodiscard]] Real aside() const;
  /// Why `at(order)` holds.
  [[nodiscard]] Derivation derive(double order) const;

 private:
  // k: the size of the group; why: filled if not null.
  Real evaluate(const Plan& plan, double order, std::int64_t k, Derivation* why) const;
  Real sampled(const Plan& plan, double order, Derivation* why) const;
  Real sampled_whole(const Plan& plan, int order) const;
  Real by_transform(const Plan& plan, double order) const;
  // The noise's own divergence, by quadrature; empty outside of what is known of its density.
  std::optional<Real> arsinh_curve(const Arsinh& noise, double order, std::int64_t k) const;

  Plan plan_;
  Side side_;
  SamplingLine line_;
  bool samples_;
  // What sampled parts cost a sum for, kept: their value at a whole order, and what each order adds to such sums.
  using Kept = std::map<std::tuple<const Node*, int>, Real>;
  mutable Kept whole_orders_;
  mutable Kept excesses_;
  mutable std::map<const Node*, PlanLoss> losses_;
  mutable std::map<std::tuple<const Arsinh*, std::int64_t, double>, Real> arsinh_;
};

}  // namespace sotto
