// Generalisation bounds that follow from differential privacy.
#pragma once

#include "sotto/core/values.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// Returns an upper bound on the generalisation gap of an (ε, δ)-DP learner: the difference between
/// its expected loss on its n independent training records and on a new record, for any loss in [0,
/// 1]. Under replace-one the bound is (e^ε - 1 + 2δ)/(e^ε + 1), which is at most the usual e^ε - 1
/// + δ [Dwork2015]. A guarantee under another relation, or as stated, is first converted to
/// replace-one (a removal and an addition): (2ε, (1 + e^ε)δ).
Real generalisation_gap(const Real& epsilon, const Real& delta, Relation relation);
/// Returns the usual bound e^ε - 1 + δ [Dwork2015], after that conversion.
Real usual_generalisation_gap(const Real& epsilon, const Real& delta, Relation relation);

}  // namespace sotto
