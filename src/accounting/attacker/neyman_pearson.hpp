// The best test of one pair: the largest P(E) with Q(E) <= α.
#pragma once

#include "accounting/attacker/hockey_stick.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto::accounting_detail {

/// inf over a >= 0 of h(a) + aα, α in [0, 1], from both sides; at most `most` new values of h, besides a first look.
///
/// Above: any a will do. Below: h is convex, so a line through two known points lies below it beyond them, and so does
/// every mixture of two such lines from left and right (docs/theory/tradeoff.md).
Bound largest_power(HockeyStick& stick, const Real& alpha, int most);

}  // namespace sotto::accounting_detail
