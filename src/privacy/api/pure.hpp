// What ε alone guarantees: every ε-DP mechanism is dominated by randomized response with that ε.
#pragma once

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// The profile of the dominating pair: (e^ε₀ - e^ε) / (1 + e^ε₀) for ε <= ε₀, else 0 [Kairouz2015].
Real pure_delta(double epsilon, double epsilon0);
Profile pure_profile(double epsilon0);

/// D_α <= log[(sinh αε - sinh (α-1)ε) / sinh ε] / (α-1), attained by randomized response [Bun2016, Lemma B.1];
/// KL ε tanh(ε/2) at α = 1, and ε at α = inf.
Real pure_renyi(const Real& epsilon, double order);

/// ρ = ε²/2, the classical line [Bun2016, Prop 1.4].
Real pure_rho_classic(const Real& epsilon);
/// ρ = ε tanh(ε/2), attained by randomized response [Harrison2025].
Real pure_rho(const Real& epsilon);

}  // namespace sotto
