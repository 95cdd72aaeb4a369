// Confidence bounds on a probability from a count of successes.
#pragma once

#include <cstdint>

namespace sotto {

/// Bounds on the probability of success, from `successes` successes in n independent tries. Each
/// bound is wrong with probability at most `doubt`, exactly ([Clopper1934]), and is rounded
/// outward. Throws InvalidValue unless 0 <= successes <= n, 1 <= n <= 2^31 and 0 < doubt < 1.
double proportion_lower(std::int64_t successes, std::int64_t n, double doubt);
double proportion_upper(std::int64_t successes, std::int64_t n, double doubt);

}  // namespace sotto
