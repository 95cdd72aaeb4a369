// The sensitivities as certified reals, from exact bounds.
#include "sotto/privacy/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "numerics/api/elementary.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace {

// Returns whether the relation is replace-one. Throws InvalidValue for "as stated".
bool replaces(Relation relation) {
  if (relation == Relation::as_stated)
    throw InvalidValue(
        "a sensitivity depends on the relation, which is as stated: name add-remove, replace-one "
        "or zero-out");
  return relation == Relation::replace_one;
}

// Returns max(|low|, |high|). Throws InvalidValue unless the bounds are finite and in order.
double largest(Clamp clamp) {
  if (!std::isfinite(clamp.low) || !std::isfinite(clamp.high) || clamp.low > clamp.high) {
    throw InvalidValue("the bounds [" + shortest(clamp.low) + ", " + shortest(clamp.high) +
                       "] are not allowed: they must be numbers, the lower one first");
  }
  return std::max(std::fabs(clamp.low), std::fabs(clamp.high));
}

}  // namespace

Sensitivity count_sensitivity(Relation relation) {
  replaces(relation);
  return {1, 1};
}

Sensitivity sum_sensitivity(Clamp clamp, Relation relation, Presence presence) {
  const Real one_row = largest(clamp);
  if (!replaces(relation)) return {one_row, one_row};
  const Real change = Real(clamp.high) - Real(clamp.low);
  const Real both = presence == Presence::certain ? change : max(one_row, change);
  return {both, both};
}

Sensitivity histogram_sensitivity(Relation relation) {
  if (replaces(relation)) return {2, sqrt(Real(2))};
  return {1, 1};
}

Sensitivity grouped_sum_sensitivity(Clamp clamp, Contribution contribution, Relation relation) {
  const Real m = static_cast<double>(require_count(contribution.groups, 1, "groups"));
  const Real r = static_cast<double>(require_count(contribution.rows, 1, "rows"));
  const Real b = largest(clamp);
  if (!replaces(relation)) return {m * r * b, sqrt(m) * r * b};
  return {2 * m * r * b, sqrt(m) * r * max(sqrt(Real(2)) * b, Real(clamp.high) - Real(clamp.low))};
}

}  // namespace sotto
