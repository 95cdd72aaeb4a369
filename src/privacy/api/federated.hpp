// Guarantees of protocols without a trusted curator: shuffling, noise of several parties in one
// sum, correlated noise (GOPA), and tokens that travel from user to user. docs/theory/federated.md
// has the proofs. The sensitivity is 1 unless it is a parameter. Results are balls that enclose the
// stated formula.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"

namespace sotto {

// --- Shuffled reports ---

/// The ε of shuffled reports of n users, each with local ε₀, under replace-one:
/// log(1 + (e^ε₀-1)/(e^ε₀+1) (8 sqrt(e^ε₀ log(4/δ)/n) + 8 e^ε₀/n)) [Feldman2021b, Thm 3.1]. Throws
/// OutsideConditions unless ε₀ <= log(n/(16 log(2/δ))).
Real shuffled_epsilon(const Real& local, std::int64_t users, const Real& delta);

/// A lower bound on the δ(ε) of shuffled reports, for ε >= 0: that of n shuffled binary randomized
/// responses with local ε₀, if all other users report the same value. The likelihood ratio of the
/// count is monotone, so the best test is a tail. Returns the larger of both directions. Takes time
/// proportional to sqrt(n).
Real shuffled_response_delta(double epsilon, const Real& local, std::int64_t users);

// --- Noise that honest parties add in one sum ---

/// The increase of δ if each of `honest` parties rounds its Gaussian noise, of standard deviation r
/// grid steps, to the grid. Over `coordinates` coordinates and `rounds` adaptive rounds, δ(ε) <=
/// δ_Gauss(ε) + slack for every ε <= 64, where δ_Gauss is the profile of real Gaussian noise of
/// standard deviation r sqrt(honest). Rounded up; 0 for one party. Throws InvalidValue unless r,
/// coordinates, rounds and honest are positive.
double rounded_sum_slack(double r, std::int64_t honest, double coordinates, double rounds);
/// A bound on the total variation distance behind that slack, for one coordinate: between the sum
/// of h = `honest` rounded Gaussians and round(N(0, h r²) + h-1 uniforms), which is post-processing
/// of real Gaussian noise.
double rounded_sum_distance(double r, std::int64_t honest);

// --- GOPA [Sabater2022] ---
//
// User u publishes X_u + η_u + Σ Δ_uv: its value, its own noise of standard deviation `own`, and
// masks of standard deviation `mask` that cancel in the sum over users. The view of the others is
// Gaussian, so its privacy is that of Gaussian noise with a certain μ. The functions return μ²,
// which the paper calls θ.

/// Every two of m honest users share a mask: exactly μ² = 1/(m own²) + (1 - 1/m)/(own² + m mask²).
Real gopa_complete_squared_mu(const Real& own, const Real& mask, std::int64_t honest);
/// The paper's upper bound on it, 1/(m own²) + 1/(m mask²) [Sabater2022, Thm 3].
Real gopa_complete_theorem(const Real& own, const Real& mask, std::int64_t honest);
/// The graph of m honest users is connected: μ² <= 1/(m own²) + (m-1)(2m-1)/(6m mask²), by a flow
/// along a path.
Real gopa_connected_squared_mu(const Real& own, const Real& mask, std::int64_t honest);
/// The paper's upper bound on it, 1/(m own²) + m/(3 mask²) [Sabater2022, Thm 2].
Real gopa_connected_theorem(const Real& own, const Real& mask, std::int64_t honest);

/// A random graph on n users: each picks k others uniformly at random. ρ n users are honest.
struct RandomGraph {
  std::int64_t users;
  std::int64_t honest;
  std::int64_t k;
  Real delta;  ///< the theorem fails for a graph that has probability at most 3 delta
};
/// Returns the least k that the theorem allows: ρk at least 4 log(2ρn/(3δ)), 6 log(ρn/3) and
/// 3/2 + (9/4) log(2e/δ).
std::int64_t gopa_least_degree(std::int64_t users, std::int64_t honest, const Real& delta);
/// The factor of 1/mask² in μ²: 1/(⌊(k-1)ρ/3⌋ - 1) + (12 + 6 log(ρn))/(ρn) [Sabater2022, Thm 4].
/// Throws OutsideConditions unless ρn >= 81 and k is at least gopa_least_degree().
Real gopa_random_share(const RandomGraph& graph);
/// An upper bound on μ² for all but the bad graphs: 1/(ρn own²) + gopa_random_share()/mask².
Real gopa_random_squared_mu(const Real& own, const Real& mask, const RandomGraph& graph);

/// The paper's conversion of θ = μ² to ε: the least ε with ε >= θ/2 + sqrt(θ) and
/// (ε - θ/2)² >= 2 log(2/(δ sqrt(2π))) θ [Sabater2022, Thm 1].
Real gopa_epsilon(const Real& squared_mu, const Real& delta);

// --- Network DP [Cyffers2022] ---
//
// A token travels from user to user. The guarantee is for what one user, or a coalition, sees of
// it.

/// The ε of a sum in K = `passes` passes around a ring, with noise once a pass: ε₁ sqrt(2K
/// log(1/δ')) + Kε₁(e^ε₁ - 1), with δ' = K δ₁ = δ/2 and the classical ε₁ of μ at δ₁ [Cyffers2022,
/// Thm 1]. The exact guarantee is that of Gaussian noise with sqrt(K) μ. Throws OutsideConditions
/// if ε₁ > 1.
Real ring_sum_epsilon(const Real& mu, std::int64_t passes, const Real& delta);
/// The ε of a histogram around a ring of n users with reports of local ε₀: 12 ε₀ sqrt(log(1/δ₁)/n)
/// for each pass, composed as above [Cyffers2022, Thm 2]. Throws OutsideConditions unless n > 1000,
/// δ <= 1/100 and ε₀ <= 1/2.
Real ring_histogram_epsilon(const Real& local, std::int64_t users, std::int64_t passes,
                            const Real& delta);
/// The local ε of a report that is one of L values, the true one with probability 1 - γ and else a
/// uniformly random one: log(1 + (1-γ) L/γ).
Real blended_response_epsilon(const Real& gamma, std::int64_t values);
/// Returns E[1/g], where g is the number of hops from a user's contribution until the token reaches
/// that user or one of c colluders again, among n users. g is geometric with p = (1+c)/n, so E[1/g]
/// = p log(1/p)/(1-p). It grows with c, up to 1 if all other users collude.
Real expected_inverse_gap(std::int64_t users, std::int64_t colluders);
/// The ε of gradient steps on a token that hops uniformly over n users, K = `contributions` of them
/// by one user: 2 μ sqrt(q log(1/δ)) with q = max(2K E[1/g], 2 log(1/δ)). This is [Cyffers2022, Thm
/// 5] with the E[1/g] of the coalition in the place of log n/n; docs/theory/federated.md has the
/// proof. Throws OutsideConditions unless δ <= 1/2, the local ε of one step, μ sqrt(2 log(1.25/δ)),
/// is at most 1, and μ²K E[1/g] <= (2 sqrt(2) - 2)² log(1/δ).
Real walk_sgd_epsilon(const Real& mu, std::int64_t users, std::int64_t colluders,
                      std::int64_t contributions, const Real& delta);

}  // namespace sotto
