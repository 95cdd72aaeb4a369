// Factorials and binomial coefficients in log space.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// log Γ(x) for x >= 1, by Stirling's series. Its error is below the first omitted term, which the
/// ball includes.
Real log_gamma(const Real& x);

/// The logarithm of the binomial coefficient C(n, k), for 0 <= k <= n.
Real log_binomial(std::int64_t n, std::int64_t k);

}  // namespace sotto
