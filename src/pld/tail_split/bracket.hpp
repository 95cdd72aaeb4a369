// Brackets by splitting the losses, and where a profile crosses δ.
#pragma once

#include "exact/exact.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/pld/compose.hpp"
#include "tail_split/rare.hpp"

namespace sotto::pld_detail {

/// The relative error in δ that a bracket of ε as narrow as asked needs.
double rare_tolerance(const Precision& precision, double log_delta);
/// As narrow as asked, where losses are smooth.
bool is_narrow(Bound epsilon, const Precision& precision);

/// Where a profile that falls like e^(-cε) at first crosses δ, from both sides, within [0, worst]; a root need not be sharper than `fine`.
Bound crossing_of(const Profile& profile, double c, double worst, Bound delta, double from, double fine);

/// ε by splitting the losses, again where it turned out to be elsewhere: what is known of it is narrowed. What was narrowed before the work ran
/// out stays so.
void rare_epsilon(const RarePlan& plan, Bound& epsilon, Bound delta, const Precision& precision);

}  // namespace sotto::pld_detail
