// Guarantees of Laplace noise in any dimension (docs/theory/privacy.md), as functions of x = Δ1 /
// b, the L1 sensitivity over the scale.
#pragma once

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// The exact privacy profile δ(ε) = 1 - e^((ε - x)/2) for ε <= x, else 0. Hence pure ε = x
/// [Dwork2006b].
Real laplace_delta(double epsilon, double x);
Profile laplace_profile(double x);

/// The exact Rényi divergence log(α/(2α-1) e^((α-1)x) + (α-1)/(2α-1) e^(-αx)) / (α-1) [Mironov2017,
/// Prop 6]. At α = 1 it is the KL divergence x + e^-x - 1, at α = inf it is x.
Real laplace_renyi(const Real& x, double order);

/// The exact ρ = x + e^-x - 1 [Harrison2025].
Real laplace_rho(const Real& x);

}  // namespace sotto
