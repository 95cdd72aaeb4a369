// Exact confidence bounds on a probability, from a count of successes (Clopper and Pearson).
#pragma once

#include <cstdint>

namespace sotto {

/// Return bounds on the probability of success after `successes` of n independent trials
/// [Clopper1934]. Each bound is wrong with probability at most `doubt`, and is rounded outwards.
/// Throw InvalidValue unless 0 <= successes <= n, 1 <= n <= 2^31 and 0 < doubt < 1.
double proportion_lower(std::int64_t successes, std::int64_t n, double doubt);
double proportion_upper(std::int64_t successes, std::int64_t n, double doubt);

}  // namespace sotto
