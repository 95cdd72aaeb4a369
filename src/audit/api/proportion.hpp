// What a count of successes says of a probability, with a stated confidence.
#pragma once

#include <cstdint>

namespace sotto {

/// Of n independent tries `successes` succeeded: bounds on the probability of success, each wrong with probability at most
/// `doubt`, exactly ([Clopper1934]), rounded outward.
double proportion_lower(std::int64_t successes, std::int64_t n, double doubt);
double proportion_upper(std::int64_t successes, std::int64_t n, double doubt);

}  // namespace sotto
