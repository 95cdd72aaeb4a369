// Guarantees of Gaussian noise in any dimension, as functions of μ = Δ2 / σ, the L2 sensitivity
// over the standard deviation.
#pragma once

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// The exact privacy profile δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) for the exact value of μ > 0
/// and ε >= 0 [Balle2018a, Thm 8].
Real gaussian_delta(double epsilon, double mu);
Profile gaussian_profile(double mu);

/// The exact Rényi divergence α μ² / 2, which is the KL divergence at α = 1 and infinite at α = inf
/// [Mironov2017, Prop 7].
Real gaussian_renyi(const Real& mu, double order);

/// The exact ρ = μ² / 2 [Bun2016, Prop 1.6].
Real gaussian_rho(const Real& mu);

/// The classical theorem: σ = Δ2 sqrt(2 log(1.25/δ)) / ε gives (ε, δ)-DP, for ε <= 1 only
/// [Dwork2014, Thm A.1]. Returns σ / Δ2. Throws OutsideConditions for ε > 1.
Real gaussian_classical_sigma(const Real& epsilon, const Real& delta);
/// The classical theorem solved for ε, given μ and δ. Throws OutsideConditions if that ε exceeds 1.
Real gaussian_classical_epsilon(const Real& mu, const Real& delta);

/// The closed forms of the moments accountant, for several Gaussian steps with μ = sqrt(Σ μᵢ²) in
/// total, which is sqrt(k)/σ for k equal ones. [Abadi2016] gives them up to a constant.
///
/// - by_sigma: ε = 4 μ sqrt(log(1/δ)), while μ <= (8 - 2 sqrt(2)) sqrt(log(1/δ)).
/// - by_epsilon: ε = 4 ε₁ sqrt(2k log(1/δ)) with the classical ε₁ = μᵢ sqrt(2 log(1.25/δ)) of each
///   step, which is 8 μ sqrt(log(1/δ) log(1.25/δ)), while μ <= 16 sqrt(log(1/δ) log(1.25/δ)) - 2
///   sqrt(2 log(1/δ)).
///
/// Both follow from the classical conversion of zCDP, μ²/2 + μ sqrt(2 log(1/δ)), under their
/// condition on μ. They throw OutsideConditions if it fails.
enum class MomentsForm { by_sigma, by_epsilon };
Real gaussian_moments_epsilon(MomentsForm form, const Real& mu, const Real& delta);
/// The closed form solved for δ; 1 if no δ below 1 suffices.
Real gaussian_moments_delta(MomentsForm form, const Real& mu, const Real& epsilon);

/// Return the σ / Δ2 that gives (α, ε̄)-RDP, sqrt(α / (2 ε̄)), and ρ-zCDP, sqrt(1 / (2 ρ)).
Real gaussian_sigma_for_renyi(double order, const Real& epsilon);
Real gaussian_sigma_for_rho(const Real& rho);

/// The exact calibration: returns the least double σ / Δ2 that is certain to give (ε, δ)-DP
/// (Side::upper), or a double that is certain not to exceed the exact value (Side::lower)
/// [Balle2018a].
double gaussian_exact_sigma(double epsilon, double delta, Side side);

}  // namespace sotto
