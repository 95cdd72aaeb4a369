// Sums of positive numbers that are represented by their logarithms.
#pragma once

#include <vector>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// Returns log(sum of e^t) over the terms t. Without terms the sum is 0, and the result -1e300 is
/// an upper bound of its logarithm, not an enclosure. Returns Real::unknown() if a term is unknown.
Real log_sum_exp(const std::vector<Real>& terms);

}  // namespace sotto
