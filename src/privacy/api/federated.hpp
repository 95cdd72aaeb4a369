// What users guarantee each other without a trusted curator: the closed forms of shuffling, of summed and correlated noise, and of tokens that walk.
// docs/theory/federated.md has the proofs. Everything is for a sensitivity of 1 unless it is a parameter, and rounds to nothing: balls are returned.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"

namespace sotto {

// --- Shuffled reports. ---

/// ε of n users' ε₀-locally-private reports, shuffled, replace-one: log(1 + (e^ε₀-1)/(e^ε₀+1) (8 sqrt(e^ε₀ log(4/δ)/n) + 8 e^ε₀/n))
/// [Feldman2021b, Thm 3.1]. OutsideConditions unless ε₀ <= log(n/(16 log(2/δ))).
Real shuffled_epsilon(const Real& local, std::int64_t users, const Real& delta);

/// δ(ε) that n shuffled binary randomized responses of local ε₀ reach, all others having said the same: a lower bound for shuffled reports, the
/// better of both directions. The ratio of the two laws of the count is monotone, so that its best test is a tail. Cost sqrt(n); ε >= 0.
Real shuffled_response_delta(double epsilon, const Real& local, std::int64_t users);

// --- Noise that honest parties add together. ---

/// The slack in δ when each of `honest` parties adds Gaussian noise that is rounded to a grid, of standard deviation r grid steps, in place of noise
/// that is not: over so many coordinates and adaptive rounds, δ(ε) <= δ_Gauss(ε) + slack for every ε <= 64, where δ_Gauss is that of a real
/// Gaussian of standard deviation r sqrt(honest). Zero for one party alone; rounded up. InvalidValue unless r, coordinates and rounds are positive.
double rounded_sum_slack(double r, std::int64_t honest, double coordinates, double rounds);
/// The same as a distance: at most so much in total variation between the sum of the rounded noises and round(N(0, h r²) + h-1 uniforms), one
/// coordinate.
double rounded_sum_distance(double r, std::int64_t honest);

// --- GOPA [Sabater2022]: X_u + η_u + Σ Δ_uv, η of standard deviation `own`, Δ of `mask`. θ is μ², exactly that of Gaussian noise. ---

/// Every two of m honest users share a mask: θ = 1/(m own²) + (1 - 1/m)/(own² + m mask²), exactly.
Real gopa_complete_theta(const Real& own, const Real& mask, std::int64_t honest);
/// The paper's bound for the same, 1/(m own²) + 1/(m mask²) [Sabater2022, Thm 3].
Real gopa_complete_theorem(const Real& own, const Real& mask, std::int64_t honest);
/// The honest users are connected, no more is known: θ <= 1/(m own²) + (m-1)(2m-1)/(6m mask²), the flow along a path.
Real gopa_connected_theta(const Real& own, const Real& mask, std::int64_t honest);
/// The paper's bound for the same, 1/(m own²) + m/(3 mask²) [Sabater2022, Thm 2].
Real gopa_connected_theorem(const Real& own, const Real& mask, std::int64_t honest);

/// Every one of n users picks k others at random, ρ n of them are honest.
struct RandomGraph {
  std::int64_t users;
  std::int64_t honest;
  std::int64_t k;
  Real delta;  ///< the graph is bad with probability at most 3 of these
};
/// The least k with ρk at least 4 log(2ρn/(3δ)), 6 log(ρn/3) and 3/2 + (9/4) log(2e/δ).
std::int64_t gopa_least_degree(std::int64_t users, std::int64_t honest, const Real& delta);
/// 1/(⌊(k-1)ρ/3⌋ - 1) + (12 + 6 log(ρn))/(ρn): what takes the place of 1/m for the masks [Sabater2022, Thm 4]. OutsideConditions unless ρn >= 81 and
/// k is that at least.
Real gopa_random_share(const RandomGraph& graph);
/// θ <= 1/(ρn own²) + gopa_random_share/mask², but for a bad graph.
Real gopa_random_theta(const Real& own, const Real& mask, const RandomGraph& graph);

/// The paper's line from θ to (ε, δ): the least ε with ε >= θ/2 + sqrt(θ) and (ε - θ/2)² >= 2 log(2/(δ sqrt(2π))) θ [Sabater2022, Thm 1].
Real gopa_epsilon(const Real& theta, const Real& delta);

// --- Network DP [Cyffers2022]: what one user, or a coalition, sees of a token that goes from user to user. ---

/// A sum of `passes` around a ring, noise once a pass: ε₁ sqrt(2K log(1/δ')) + Kε₁(e^ε₁ - 1) at K δ₁ + δ', with δ' = K δ₁ = δ/2 and the classical ε₁
/// of μ at δ₁ [Cyffers2022, Thm 1]. Exactly it is Gaussian noise with sqrt(K) μ. OutsideConditions where ε₁ > 1.
Real ring_sum_epsilon(const Real& mu, std::int64_t passes, const Real& delta);
/// A histogram around a ring of n users by answers of local ε₀: 12 ε₀ sqrt(log(1/δ₁)/n) a pass, composed as above [Cyffers2022, Thm 2].
/// OutsideConditions unless n > 1000, δ < 1/100, ε₀ <= 1/2.
Real ring_histogram_epsilon(const Real& local, std::int64_t users, std::int64_t passes, const Real& delta);
/// The local ε of one of L values told truthfully with probability 1 - γ, and else uniformly: log(1 + (1-γ) L/γ).
Real blended_response_epsilon(const Real& gamma, std::int64_t values);
/// E[1/g] of the hops g from a user's contribution to the next meeting of that user or of one of c colluders among n users: g is geometric with
/// p = (1+c)/n, and E[1/g] = p log(1/p)/(1-p). It grows with c, to 1 where everybody else colludes.
Real expected_inverse_gap(std::int64_t users, std::int64_t colluders);
/// Gradient steps on a token whose every hop is uniform over n users, K of them by one user: 2 μ sqrt(q log(1/δ)) with
/// q = max(2K E[1/g], 2 log(1/δ)): [Cyffers2022, Thm 5] with the coalition's E[1/g] in the place of log n/n (docs/theory/federated.md has the proof).
/// OutsideConditions unless δ < 1/2, the local ε of one step, μ sqrt(2 log(1.25/δ)), is below 1, and μ²K E[1/g] <= (2 sqrt(2) - 2)² log(1/δ).
Real walk_sgd_epsilon(const Real& mu, std::int64_t users, std::int64_t colluders, std::int64_t contributions, const Real& delta);

}  // namespace sotto
