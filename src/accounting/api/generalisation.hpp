// What a guarantee says of overfitting.
#pragma once

#include "sotto/core/values.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// A bound on how far the expected loss of what an (ε, δ)-DP algorithm learns differs between its n independent records and a new one, for any loss
/// from 0 to 1: (e^ε - 1 + 2δ)/(e^ε + 1) under replace-one, which is at most the usual e^ε - 1 + δ [Dwork2015]. Another relation's guarantee is first
/// turned into one for replace-one, a removal and an addition: (2ε, (1 + e^ε)δ). A relation that is as stated is taken for one of those.
Real generalisation_gap(const Real& epsilon, const Real& delta, Relation relation);
/// e^ε - 1 + δ of the same.
Real usual_generalisation_gap(const Real& epsilon, const Real& delta, Relation relation);

}  // namespace sotto
