// Why a number holds: a tree of theorems, each with its reference, its conditions and what comes out.
#pragma once

#include <string>
#include <vector>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// A theorem's condition with the numbers put in. It holds: a theorem whose conditions fail is not in a tree.
using Condition = std::string;

struct Derivation {
  std::string plan;       ///< the part of the plan that this step is about; empty for a conversion
  std::string theorem;    ///< in words
  std::string reference;  ///< a key of docs/references.bib
  std::vector<Condition> conditions;
  std::string guarantee;  ///< what comes out
  std::vector<Derivation> premises;
};

/// Numbers as derivations print them: six digits, rounded up (or down).
std::string at_most(const Real& x);
std::string at_least(const Real& x);
/// The same to nearest: for what restates the plan's own parameters.
std::string about(const Real& x);

}  // namespace sotto
