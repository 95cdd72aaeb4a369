// Privacy loss distribution (PLD) accounting of a plan: dominating pairs of its parts, composed,
// with ε and δ bounded from both sides.
#pragma once

#include <vector>

#include "pld/api/compose.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// A plan as a composition of independent privacy losses [Zhu2022]. On Side::upper they dominate
/// every mechanism that satisfies the plan. On Side::lower some such mechanism has them; parts
/// without a known attained pair are left out, which cannot increase the cost.
struct PlanLoss {
  std::vector<LossStep> removed;  ///< P has the record, Q does not
  std::vector<LossStep> added;    ///< P and Q exchanged; empty if both directions are equal
  Real failure = 0;               ///< the mass of the atom at infinity: everything is revealed
  bool attained = true;           ///< the upper and the lower side have the same losses
  bool discretized = false;  ///< some losses are rounded to a grid, so brackets reach five digits
  Derivation derivation;
};

/// Returns the losses of the plan. Of parts in parallel the dominating one is used. If none
/// dominates the others, the upper side uses the pointwise maximum of their profiles, and the lower
/// side the part with index `part`. Throws OutsideConditions, which names the part of the plan
/// without a known dominating pair and a method that applies.
PlanLoss loss_of(const Plan& plan, Side side, std::size_t part = 0);

/// Return a bracket that holds δ(ε) for every ε >= 0 in a range, or ε(δ) for every δ in a range
/// within (0, 1); the larger of both directions.
Bracket composed_delta(const PlanLoss& loss, Bound epsilon, const Precision& precision = {});
Bracket composed_epsilon(const PlanLoss& loss, Bound delta, const Precision& precision = {});

}  // namespace sotto
