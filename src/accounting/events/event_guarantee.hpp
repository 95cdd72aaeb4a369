// The (ε, δ)-DP guarantee of single events, which basic, advanced and optimal composition compose.
#pragma once

#include <optional>

#include "accounting/events/events.hpp"
#include "privacy/api/definitions.hpp"
#include "sotto/accounting/derivation.hpp"

namespace sotto::accounting_detail {

/// Returns the (ε, δ)-DP guarantee of one use of the event. `share` is the part of the total δ that
/// the event may spend. An event that is (ε, δ)-DP by itself ignores it; an event that is (ε, δ)-DP
/// only at a chosen δ (Gaussian noise, zCDP, RDP, …) spends it. If no ε suffices at that share, ε
/// is Real::unknown(). Throws OutsideConditions if no theorem applies. If `why` is not null, it
/// receives the derivation.
ApproximateDP guarantee_of(const Event& event, double share, GaussianConversion conversion,
                           Derivation* why);

/// Returns the (ε, δ)-DP guarantee of the whole plan by basic composition, an upper bound. Empty if
/// a step needs a share of δ.
std::optional<ApproximateDP> guarantee_without_share(const Plan& plan);

}  // namespace sotto::accounting_detail
