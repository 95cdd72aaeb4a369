// Bounds ε of a plan from both sides, as the command does by privacy loss distributions: from above
// by dominating losses, and, if they are discretised, from below by losses that the plan attains.
#pragma once

#include <string>

#include "accounting/api/pld.hpp"
#include "core/api/work.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/plan/text.hpp"

namespace bench {

inline sotto::Bound epsilon_bracket(const std::string& plan, double delta) {
  using namespace sotto;
  const WorkLimit limit(allowance_of({}));  // as the command does
  const PlanLoss above = loss_of(parse(plan), Side::upper);
  if (!above.discretized) return composed_epsilon(above, {delta, delta});
  Bound bracket = composed_epsilon(above, {delta, delta});
  if (above.attained || above.added.empty())
    return bracket;  // without replacement, no attained losses are known
  bracket.lower = 0;
  finishes_within(1, [&] {
    bracket.lower = composed_epsilon(loss_of(parse(plan), Side::lower), {delta, delta}).lower;
  });
  return bracket;
}

}  // namespace bench
