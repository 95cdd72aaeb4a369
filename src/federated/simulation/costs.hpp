// What the simulated protocols cost: the exact form, and the closed form of the protocol's paper beside it. The one place to ask the accountant.
#pragma once

#include <cstdint>

#include "sotto/federated/simulation.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto::federated_detail {

/// (*) of Gaussian noise with μ² = θ: the least ε at δ, rounded up [Balle2018a, Thm 8].
double epsilon_of_theta(const Real& theta, double delta);

/// n honest users (0 < honest), masks on the complete graph: θ = 1/(nσ²) + (1 - 1/n)/(σ² + nσ_Δ²), exactly.
Real gopa_complete_theta(std::int64_t honest, double noise, double pair_noise);
/// Random graph in which each of `users` picks `degree` others, of whom `honest` do not collude: θ of [Sabater2022, Thm 4], which holds but with probability
/// 2δ'. OutsideConditions, naming the first condition that fails, with the least degree that would do.
Real gopa_random_theta(std::int64_t users, std::int64_t honest, std::int64_t degree, double noise, double pair_noise, double delta);
/// The least degree that the conditions of that theorem admit.
std::int64_t gopa_least_degree(std::int64_t users, std::int64_t honest, double delta);
/// What stands before 1/σ_Δ² in that θ.
Real gopa_random_bracket(std::int64_t users, std::int64_t honest, std::int64_t degree);
/// [Sabater2022, Thm 1]: the least ε with ε >= θ/2 + √θ and (ε - θ/2)² >= 2 ln(2/(δ√(2π))) θ.
double gopa_theorem_epsilon(const Real& theta, double delta);

/// ε of the shuffled reports of n users, each ε₀-DP, in closed form [Feldman2021b]; and the most ε₀ that it grants at ε. NaN outside its condition.
double shuffle_epsilon(double local_epsilon, std::int64_t users, double delta);
double shuffle_local_epsilon(double epsilon, std::int64_t users, double delta);

/// A ring, K rounds: advanced composition of K steps of noise σ [Cyffers2022, Thm 1].
double ring_paper_epsilon(std::int64_t rounds, double noise, double delta);
/// A walk of T = K n hops on the complete graph: sums [Cyffers2022, Thm 3], with 3ε/√n a visit as the authors' programs have it.
double walk_sum_paper_epsilon(std::int64_t users, std::int64_t rounds, double noise, double delta);
/// Gradient steps, at most K of each user [Cyffers2022, Thm 5]; `noise` is σ for sensitivity 1. NaN unless one step costs ε < 1.
double walk_learning_paper_epsilon(std::int64_t users, std::int64_t rounds, double noise, double delta);

}  // namespace sotto::federated_detail
