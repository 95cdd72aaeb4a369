// Elementary functions of certified reals. Each result encloses the exact value over the whole argument ball.
#pragma once

#include "sotto/numerics/real.hpp"

namespace sotto {

Real exp(const Real& x);
/// e^x - 1, accurate near 0.
Real expm1(const Real& x);
/// Natural logarithm; unknown where the ball touches (-inf, 0].
Real log(const Real& x);
/// log(1 + x), accurate near 0.
Real log1p(const Real& x);
/// Square root; unknown where the ball touches (-inf, 0), except that sqrt(0) = 0.
Real sqrt(const Real& x);
/// Square root of a number that is known to be at least 0, as a square is that underflows: the part of the ball below 0 is left out.
Real sqrt_of_nonnegative(const Real& x);
/// e^(y log x) for x > 0.
Real pow(const Real& x, const Real& y);
Real sinh(const Real& x);
Real tanh(const Real& x);
Real square(const Real& x);
/// log(1 + e^x), without overflow.
Real log1pexp(const Real& x);

Real pi();
Real log_two();

}  // namespace sotto
