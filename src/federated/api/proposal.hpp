// A session in the making: what its members will be asked to agree to.
#pragma once

#include "sotto/core/values.hpp"
#include "federated/api/session.hpp"

namespace sotto {

/// The session with a fresh nonce, with the least sound threshold where it has none (0), and with the number of noises that are then sure to be
/// unknown to those who collude. `base` has the members, colluding, and what else is not said by the other functions here. InvalidValue where no
/// noise would be.
Session begin_session(Session base);

/// A session that sums this vector, with noise of at least this standard deviation in its sum. Sets the grid and the plan; InvalidValue as
/// require_sound.
Session session_of_sums(Session base, SumItem item, double sigma);
/// The same with the least noise, to one part in a thousand, for which all rounds, spare ones included, cost at most (epsilon, delta).
/// OutsideConditions where none was found.
Session session_of_sums(Session base, SumItem item, Epsilon epsilon, Delta delta);

/// What such a session sums where it is about the mean of values in these bounds, one of each unit, and no member has more units than `most`. The
/// noise is one standard deviation of both halves, on the count as on the sum. `base.relation` is set.
SumItem item_of_mean(const Session& base, ValueBounds bounds, double most);

}  // namespace sotto
