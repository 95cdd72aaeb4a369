// The standard normal distribution through its Mills ratio, to full relative accuracy in both
// tails.
#pragma once

#include "sotto/numerics/real.hpp"

namespace sotto {

/// The density (2π)^(-1/2) e^(-x²/2).
Real normal_density(const Real& x);

/// The Mills ratio R(x) = P(N > x) / density(x). Below 5 it is computed by a series, else by the
/// continued fraction 1/(x + 1/(x + 2/(x + 3/…))), whose successive convergents lie on either side
/// of R(x).
Real mills_ratio(const Real& x);

/// P(N > x).
Real normal_tail(const Real& x);

/// Φ(x) = P(N <= x).
Real normal_cdf(const Real& x);

/// Returns the largest double with Φ certainly at most p (Side::lower), or the smallest with Φ
/// certainly at least p (Side::upper), for p in (0, 1).
double normal_quantile(double p, Side side);

}  // namespace sotto
