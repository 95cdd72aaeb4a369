// The inverse of a privacy profile that is bounded from both sides: the ε at which δ(ε) crosses δ.
#pragma once

#include <functional>

#include "pld/api/compose.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// Bounds on δ(ε), as a function of ε.
using Profile = std::function<Bound(double)>;

/// Returns true if a bracket of ε has the precision that is wanted where losses are smooth.
bool is_narrow(Bound epsilon, const Precision& precision);

/// Returns bounds on ε(δ) within [0, max_loss], for every δ of a range. The search starts at
/// `from`, assumes that δ(ε) first falls like e^(-cε), and stops at a relative distance of `fine`
/// from the root. Its result is valid whatever the search does: both ends are checked by the
/// profile.
Bound bracket_crossing(const Profile& profile, double c, double max_loss, Bound delta, double from,
                       double fine);

}  // namespace sotto::pld_detail
