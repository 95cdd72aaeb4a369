// The privacy loss of a whole plan: dominating pairs for its parts, composed and read off from both sides.
#pragma once

#include <vector>

#include "sotto/accounting/derivation.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"
#include "pld/api/compose.hpp"

namespace sotto {

/// A plan as independent losses. On Side::upper they dominate every mechanism that satisfies the plan's words; on
/// Side::lower some such mechanism reaches them (parts for which none is known are left out).
struct PlanLoss {
  std::vector<LossStep> removed;  ///< P has the record, Q does not
  std::vector<LossStep> added;    ///< the other way round; empty where it is the same
  Real failure = 0;               ///< the probability of losing everything: the atom at infinity
  bool attained = true;           ///< both sides are the same losses
  bool discretized = false;       ///< some losses are moved to a grid: no more than five digits are sought
  Derivation derivation;
};

/// OutsideConditions names the part that has no known pair, and what to ask instead. On the lower side `part` says which of several parts
/// in parallel a record is in, where none dominates the others.
PlanLoss loss_of(const Plan& plan, Side side, std::size_t part = 0);

/// δ for every ε >= 0 in a range, and ε for every δ of a range within (0, 1), worst over both directions.
Bracket composed_delta(const PlanLoss& loss, Bound epsilon, const Precision& precision = {});
Bracket composed_epsilon(const PlanLoss& loss, Bound delta, const Precision& precision = {});

}  // namespace sotto
