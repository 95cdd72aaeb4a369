// What Laplace noise guarantees, with x = Δ1 / b (L1 sensitivity over scale), in any dimension (docs/theory/privacy.md).
#pragma once

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// Pure ε = x [Dwork2006b]; the exact profile δ(ε) = 1 - e^((ε - x)/2) for ε <= x, else 0.
Real laplace_delta(double epsilon, double x);
Profile laplace_profile(double x);

/// D_α = log(α/(2α-1) e^((α-1)x) + (α-1)/(2α-1) e^(-αx)) / (α-1), exactly [Mironov2017, Prop 6];
/// KL x + e^-x - 1 at α = 1, and x at α = inf.
Real laplace_renyi(const Real& x, double order);

/// ρ = x + e^-x - 1, exactly [Harrison2025].
Real laplace_rho(const Real& x);

}  // namespace sotto
