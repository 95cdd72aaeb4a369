// Guarantees of arsinh noise A arsinh(N(0, Δ²/(2ρ)) / A), whose tails fall as fast as e^(-e^|x|),
// for queries of one number with sensitivity Δ.
#pragma once

#include "privacy/api/definitions.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// Returns (16ρ, A/(8Δ))-tCDP [Bun2018]. Throws OutsideConditions unless 1 < 1/sqrt(ρ) <= A/Δ and A
/// > 8Δ.
TruncatedConcentratedDP arsinh_tcdp(const Real& rho, const Real& a, const Real& sensitivity);

/// The parameters of the mechanism.
struct ArsinhParameters {
  Real rho;
  Real a;
};
/// Returns parameters that give (ρ, ω)-tCDP: A = 8Δω, and the noise variance 8Δ²/ρ [Bun2018].
/// Throws OutsideConditions unless ρ < 16, ω > 1 and ω >= 1/(2 sqrt(ρ)).
ArsinhParameters arsinh_for_target(const Real& rho, const Real& omega, const Real& sensitivity);

/// Returns the exact order from which on the Rényi divergence is infinite: 1 / (1 - e^(-2Δ/A)). The
/// theorem above gives the smaller A/(8Δ).
Real arsinh_order_limit(const Real& a, const Real& sensitivity);

}  // namespace sotto
