// (ε, δ)-DP of single events: what basic, advanced and optimal composition work on.
#pragma once

#include <optional>

#include "accounting/events/events.hpp"
#include "sotto/accounting/derivation.hpp"
#include "privacy/api/definitions.hpp"

namespace sotto::accounting_detail {

/// One use of the event, given its share of δ. One that is (ε, δ)-DP by itself ignores the share; one that is so only at a price
/// (Gaussian noise, zCDP, RDP, …) spends it. OutsideConditions where no theorem applies.
ApproximateDP guarantee_of(const Event& event, double share, GaussianLine line, Derivation* why);

/// The plan's own (ε, δ) without any share: the sum over steps, if none needs one. An upper bound.
std::optional<ApproximateDP> own_guarantee(const Plan& plan);

}  // namespace sotto::accounting_detail
