// Elementary functions of certified reals (real.hpp): each result is a ball that holds the exact
// value for every number in the ball of the argument.
#pragma once

#include "sotto/numerics/real.hpp"

namespace sotto {

Real exp(const Real& x);
/// e^x - 1, accurate near 0.
Real expm1(const Real& x);
/// The natural logarithm; Real::unknown() if the ball of x meets (-inf, 0].
Real log(const Real& x);
/// log(1 + x), accurate near 0.
Real log1p(const Real& x);
/// The square root; Real::unknown() if the ball of x meets (-inf, 0], except for the exact number
/// 0.
Real sqrt(const Real& x);
/// The square root of a number that the caller knows to be at least 0, such as a square that
/// underflowed. The part of the ball below 0 is ignored.
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
