// Guarantees of the exponential mechanism with pure ε. They are better than those of every ε-DP
// mechanism, since its privacy losses span a range of ε only, not 2ε.
#pragma once

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// The profile of one use: the pointwise maximum over t of randomized response with the losses t
/// and t - ε₀, which is (e^(ε₀/2) - e^(ε/2))² / (e^ε₀ - 1) for ε <= ε₀, else 0 [Dong2020].
Real exponential_delta(double epsilon, double epsilon0);
Profile exponential_profile(double epsilon0);

/// ρ = ε²/8 [Cesar2021].
Real exponential_rho(const Real& epsilon);

/// A bound on the Rényi divergence: the smaller of the bound for every ε-DP mechanism and ρ α. At α
/// = 1 it is the KL divergence x - 1 - log x with x = ε / (1 - e^-ε) [Cesar2021], at α = inf it is
/// ε.
Real exponential_renyi(const Real& epsilon, double order);

}  // namespace sotto
