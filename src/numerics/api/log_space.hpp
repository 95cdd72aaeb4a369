// Sums of numbers given by their logarithms.
#pragma once

#include <vector>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// log(sum of e^t) over the terms; without terms, the logarithm of nothing: a certified "at most -1e300".
/// Unknown if any term is.
Real log_sum_exp(const std::vector<Real>& terms);

}  // namespace sotto
