// Factorials and binomial coefficients in log space.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// log Γ(x) for x >= 1, by Stirling's series, whose error is below its first omitted term.
Real log_gamma(const Real& x);

/// log of the binomial coefficient C(n, k), 0 <= k <= n.
Real log_binomial(std::int64_t n, std::int64_t k);

}  // namespace sotto
