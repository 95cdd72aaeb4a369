// Arsinh noise A arsinh(N(0, Δ²/(2ρ)) / A): tails that fall as fast as e^(-e^|x|), for scalar queries.
#pragma once

#include "sotto/numerics/real.hpp"
#include "privacy/api/definitions.hpp"

namespace sotto {

/// (16ρ, A/(8Δ))-tCDP if 1 < 1/sqrt(ρ) <= A/Δ and A > 8Δ [Bun2018]; OutsideConditions otherwise.
TruncatedConcentratedDP arsinh_tcdp(const Real& rho, const Real& a, const Real& sensitivity);

/// The mechanism's own parameters for a target (ρ, ω)-tCDP: A = 8Δω and noise variance 8Δ²/ρ, if ρ < 16,
/// ω > 1 and ω >= 1/(2 sqrt(ρ)) [Bun2018]; OutsideConditions otherwise.
struct ArsinhParameters {
  Real rho;
  Real a;
};
ArsinhParameters arsinh_for_target(const Real& rho, const Real& omega, const Real& sensitivity);

/// The order from which on the Rényi divergence is infinite: 1 / (1 - e^(-2Δ/A)). The theorem promises A/(8Δ).
Real arsinh_order_limit(const Real& a, const Real& sensitivity);

}  // namespace sotto
