// Guarantees that follow from pure ε alone: every ε-DP mechanism is dominated by randomized
// response with the same ε.
#pragma once

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// The privacy profile of randomized response: (e^ε₀ - e^ε) / (1 + e^ε₀) for ε <= ε₀, else 0
/// [Kairouz2015].
Real pure_delta(double epsilon, double epsilon0);
Profile pure_profile(double epsilon0);

/// The largest Rényi divergence under pure ε, which randomized response attains: log[(sinh αε -
/// sinh (α-1)ε) / sinh ε] / (α-1) [Bun2016, Lemma B.1]. At α = 1 it is the KL divergence ε
/// tanh(ε/2), at α = inf it is ε.
Real pure_renyi(const Real& epsilon, double order);

/// The classical conversion ρ = ε²/2 [Bun2016, Prop 1.4].
Real pure_rho_classic(const Real& epsilon);
/// The optimal conversion ρ = ε tanh(ε/2), which randomized response attains [Harrison2025].
Real pure_rho(const Real& epsilon);

}  // namespace sotto
