// The neighbouring relation under which a plan is costed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// A relation that fits a plan.
struct PlanRelation {
  Relation relation;
  /// Remarks for the user: that group(2, ·) counts as one replacement, or that parts are costed for
  /// different numbers of units.
  std::vector<std::string> notes;
};

/// Returns `requested` if the plan can be costed under it. If it is empty, returns the relation
/// that the plan fixes (poisson and parallel: add-remove; without_replacement and
/// randomized_response: replace-one), or "as stated" if the plan fixes none. group(2, A) of an A
/// under add-remove also counts as replace-one, if the rest of the plan or `requested` needs it.
/// Throws OutsideConditions, which names two parts that fix different relations, or the part that
/// cannot be costed under `requested`.
PlanRelation relation_of(const Plan& plan, std::optional<Relation> requested);

}  // namespace sotto
