// Shares written as percentages.
#pragma once

#include <string>

#include "sotto/core/bound.hpp"

namespace sotto {

/// Returns 100 * `share` with at most `digits` significant digits, rounded to `side`, and a percent
/// sign: "12.3 %". The product is the double nearest to it, so a bound that must hold to the last
/// bit is rounded to its side before it comes here.
std::string percent_text(double share, int digits, Side side);

}  // namespace sotto
