// What Gaussian noise guarantees, with μ = Δ2 / σ (L2 sensitivity over standard deviation), in any dimension.
#pragma once

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// The exact profile δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) at an exact μ > 0, ε >= 0 [Balle2018a, Thm 8].
Real gaussian_delta(double epsilon, double mu);
Profile gaussian_profile(double mu);

/// D_α = α μ² / 2, exactly; KL at α = 1, infinite at α = inf [Mironov2017, Prop 7].
Real gaussian_renyi(const Real& mu, double order);

/// ρ = μ² / 2, exactly [Bun2016, Prop 1.6].
Real gaussian_rho(const Real& mu);

/// The classical line: σ = Δ2 sqrt(2 log(1.25/δ)) / ε gives (ε, δ)-DP, for ε <= 1 alone [Dwork2014, Thm A.1].
/// Returns that σ / Δ2. OutsideConditions for ε > 1.
Real gaussian_classical_sigma(const Real& epsilon, const Real& delta);
/// The same line read the other way: the ε of μ at δ. OutsideConditions where that ε exceeds 1.
Real gaussian_classical_epsilon(const Real& mu, const Real& delta);

/// The closed forms of the moments accountant for Gaussian steps with μ = sqrt(Σ μᵢ²) in all (sqrt(k)/σ for k equal ones): 4 μ sqrt(log(1/δ)), and
/// 4 ε sqrt(2k log(1/δ)) with the classical ε = μᵢ sqrt(2 log(1.25/δ)) of each step, which is 8 μ sqrt(log(1/δ) log(1.25/δ)). [Abadi2016] gives them
/// up to a constant; they follow from the classical line of zCDP, μ²/2 + μ sqrt(2 log(1/δ)), while μ <= (8 - 2 sqrt(2)) sqrt(log(1/δ)), and while
/// μ <= 16 sqrt(log(1/δ) log(1.25/δ)) - 2 sqrt(2 log(1/δ)). OutsideConditions beyond.
enum class MomentsForm { by_sigma, by_epsilon };
Real gaussian_moments_epsilon(MomentsForm form, const Real& mu, const Real& delta);
/// The same read for δ; 1 where no δ below 1 suffices.
Real gaussian_moments_delta(MomentsForm form, const Real& mu, const Real& epsilon);

/// σ / Δ2 = sqrt(α / (2 ε̄)) for (α, ε̄)-RDP, and sqrt(1 / (2 ρ)) for ρ-zCDP.
Real gaussian_sigma_for_renyi(double order, const Real& epsilon);
Real gaussian_sigma_for_rho(const Real& rho);

/// The exact calibration: the least σ / Δ2 that is certainly (ε, δ)-DP (Side::upper), or a value that certainly
/// does not exceed the exact one (Side::lower) [Balle2018a].
double gaussian_exact_sigma(double epsilon, double delta, Side side);

}  // namespace sotto
