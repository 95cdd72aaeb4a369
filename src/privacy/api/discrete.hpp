// Guarantees of noise on whole numbers, for whole sensitivities, from the probability mass
// function.
#pragma once

#include <cstdint>

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

// Discrete Laplace noise has P(x) = (1-t)/(1+t) t^|x| with t = e^(-1/b), and pure ε = Δ/b as in the
// continuous case. Δ is an L1 distance, in any dimension.

/// The exact privacy profile δ(ε) = max over m of P(X <= m) - e^ε P(X <= m - Δ), for the exact
/// value of b.
Real discrete_laplace_delta(double epsilon, double b, std::int64_t sensitivity);
/// That profile as a value. `side` is the side to which its max divergence Δ/b is rounded.
Profile discrete_laplace_profile(double b, std::int64_t sensitivity, Side side);

/// The exact Rényi divergence, from two geometric tails and a geometric middle.
Real discrete_laplace_renyi(double b, std::int64_t sensitivity, double order);

// Discrete Gaussian noise has P(x) proportional to e^(-x²/(2σ²)). The ρ and RDP of continuous
// Gaussian noise are upper bounds for it [Canonne2020, Prop 5], for vectors, too. Its profile
// differs, and is for one number only.

/// The privacy profile δ(ε) = max over m of P(X <= m) - e^ε P(X <= m - Δ). The distribution
/// function is summed once, term by term, in time proportional to σ. Throws OutsideConditions for σ
/// above 10^4.
Profile discrete_gaussian_profile(const Real& sigma, std::int64_t sensitivity);

}  // namespace sotto
