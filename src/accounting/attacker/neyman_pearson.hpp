// The power of the Neyman-Pearson test of one pair: the largest P(E) with Q(E) <= α.
#pragma once

#include "accounting/attacker/hockey_stick.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto::accounting_detail {

/// Returns a bracket of the infimum over a >= 0 of h(a) + aα, for α in [0, 1]. After the initial
/// points it computes at most `most` further values of h.
///
/// Upper end: the value at any a is an upper bound. Lower end: h is convex, so the line through two
/// of its points lies below h beyond them, and so does every mixture of such a line from the left
/// and one from the right (docs/theory/tradeoff.md).
Bound largest_power(HockeyStick& stick, const Real& alpha, int most);

}  // namespace sotto::accounting_detail
