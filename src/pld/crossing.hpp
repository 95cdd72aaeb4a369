// The inverse of a privacy profile that is known from both sides: where δ(ε) crosses a given δ.
#pragma once

#include <functional>

#include "sotto/core/bound.hpp"
#include "pld/api/compose.hpp"

namespace sotto::pld_detail {

/// δ at ε, from both sides.
using Profile = std::function<Bound(double)>;

/// As narrow as asked, where losses are smooth.
bool is_narrow(Bound epsilon, const Precision& precision);

/// Where a profile that falls like e^(-cε) at first crosses δ, from both sides, within [0, max_loss]; a root need not be sharper than `fine`.
Bound crossing_of(const Profile& profile, double c, double max_loss, Bound delta, double from, double fine);

}  // namespace sotto::pld_detail
