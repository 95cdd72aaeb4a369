// What the exponential mechanism guarantees, ε its pure-DP parameter: its losses also span a range of only ε.
#pragma once

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// One use: the pointwise maximum over t of randomized response on losses t and t - ε₀, which is
/// (e^(ε₀/2) - e^(ε/2))² / (e^ε₀ - 1) for ε <= ε₀, else 0 [Dong2020].
Real exponential_delta(double epsilon, double epsilon0);
Profile exponential_profile(double epsilon0);

/// ρ = ε²/8 [Cesar2021].
Real exponential_rho(const Real& epsilon);

/// The smaller of the bound of every ε-DP mechanism and ρ α; KL x - 1 - log x with x = ε / (1 - e^-ε) at α = 1
/// [Cesar2021], and ε at α = inf.
Real exponential_renyi(const Real& epsilon, double order);

}  // namespace sotto
