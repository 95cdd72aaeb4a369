// Builds the session that its members then approve of.
#pragma once

#include "federated/api/session.hpp"
#include "sotto/core/values.hpp"

namespace sotto {

/// Returns the session with a new nonce, with the least sound threshold if it is 0, and with honest
/// = threshold - colluding. `base` has the members, `colluding`, and every field that the other
/// functions here do not set. Throws InvalidValue if `honest` would be below 1.
Session begin_session(Session base);

/// Returns a session with this one sum, whose noise has at least this standard deviation. Sets the
/// grid and the plan. Throws InvalidValue as require_sound() does.
Session session_of_sums(Session base, SumItem item, double sigma);
/// Returns a session with this one sum and the least noise, to one part in a thousand, for which
/// all rounds, spare ones included, cost at most (epsilon, delta). Throws OutsideConditions if no
/// noise was found.
Session session_of_sums(Session base, SumItem item, Epsilon epsilon, Delta delta);

/// Returns the item for the mean of values in these bounds. Each unit has one value, and no member
/// has more than `most` units. Both halves of the mean get noise of equal standard deviation.
/// `base.relation` must be set.
SumItem item_of_mean(const Session& base, ValueBounds bounds, double most);

}  // namespace sotto
