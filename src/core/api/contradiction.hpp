// Two proofs that contradict each other: a bug of the library, told as such and never smoothed over.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "sotto/core/bound.hpp"

namespace sotto {

/// A bound from above that lies below one from below, by however little: one of the two proofs is wrong. Nothing that was asked for is at
/// fault; the message says what to report.
class Contradiction : public std::logic_error {
 public:
  /// `what` is the value that both bounds are of: "epsilon at delta = 1e-05 of laplace(1) by pld".
  Contradiction(const std::string& what, double lower, double upper);
};

/// The bracket of two bounds that were proved apart. Throws Contradiction if lower > upper.
Bound bracket(double lower, double upper, std::string_view what);

}  // namespace sotto
