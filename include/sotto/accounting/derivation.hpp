// A derivation: the tree of theorems that proves a bound, each with its reference, conditions and
// result.
#pragma once

#include <string>
#include <vector>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// A condition of a theorem, with its numbers. It holds: a theorem whose conditions fail is never
/// part of a derivation.
using Condition = std::string;

/// One step of a proof. Its premises are the derivations of the guarantees that it uses.
struct Derivation {
  std::string plan;       ///< the part of the plan that this step bounds; empty for a conversion
  std::string theorem;    ///< the theorem's name or formula
  std::string reference;  ///< a key of docs/references.bib
  std::vector<Condition> conditions;
  std::string guarantee;  ///< the result, such as "(1.2, 1e-06)-DP"
  std::vector<Derivation> premises;
};

/// Returns the upper (or lower) end of x with six digits, rounded up (or down).
std::string rounded_up(const Real& x);
std::string rounded_down(const Real& x);
/// Returns the estimate of x with six digits, rounded to nearest. For numbers that restate
/// parameters of the plan, not for bounds.
std::string rounded_to_nearest(const Real& x);

}  // namespace sotto
