// Two proofs that contradict each other: a library bug, which is reported and never clamped away.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "sotto/core/bound.hpp"

namespace sotto {

/// The error for an upper bound that lies below a lower bound of the same number, by however
/// little: one of the two proofs is wrong. The caller's input is not at fault. The message says
/// what to report.
class Contradiction : public std::logic_error {
 public:
  /// `what` names the number that both bounds are for: "epsilon at delta = 1e-05 of laplace(1) by
  /// pld".
  Contradiction(const std::string& what, double lower, double upper);
};

/// Returns [lower, upper], for two bounds with separate proofs. Throws Contradiction if
/// lower > upper.
Bound bracket(double lower, double upper, std::string_view what);

}  // namespace sotto
