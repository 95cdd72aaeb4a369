// A whole plan under zCDP, tCDP and Gaussian DP. Each refuses, with the reason, a plan that has a part without one.
#pragma once

#include "sotto/accounting/derivation.hpp"
#include "sotto/plan/plan.hpp"
#include "privacy/api/definitions.hpp"

namespace sotto {

/// How a pure guarantee becomes ρ: ε²/2, or ε tanh(ε/2) and the exact values of the mechanisms.
enum class RhoLine { classic, better };

/// ρ of the plan: sums add, parallel takes the largest, a group of k counts k². The δ of `approx` is set aside
/// (RenyiAccountant::aside). OutsideConditions for sampling, rdp, tcdp, arsinh and catastrophe.
ZeroConcentratedDP zcdp_of(const Plan& plan, RhoLine line, Derivation* why = nullptr);

/// (ρ, ω) of the plan: ρ adds, ω takes the smallest. Parts with a ρ count as (ρ, inf); sampling without replacement
/// where its conditions hold; OutsideConditions otherwise.
TruncatedConcentratedDP tcdp_of(const Plan& plan, Derivation* why = nullptr);

/// μ of a plan of Gaussians alone: sqrt(sum of μ²), exactly. OutsideConditions for any other part.
GaussianDP gdp_of(const Plan& plan, Derivation* why = nullptr);

}  // namespace sotto
