// Under which neighbouring relation a plan is costed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

struct PlanRelation {
  Relation relation;
  /// Said beside the number: that group(2, ·) stands for one replacement; that parts are costed for different numbers of units.
  std::vector<std::string> notes;
};

/// The relation that was asked for, or the one that the plan's sampling fixes (poisson, parallel: add-remove;
/// without_replacement, randomized_response: replace-one), or "as stated". group(2, A), A under add-remove, also
/// counts as replace-one where the rest of the plan or the question asks for it.
/// OutsideConditions names two parts that fix different relations, or the part that does not fit the question.
PlanRelation relation_of(const Plan& plan, std::optional<Relation> asked);

}  // namespace sotto
