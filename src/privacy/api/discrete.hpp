// Noise on the integers, for integer sensitivities: guarantees computed from the probability mass function.
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

// Discrete Laplace: P(x) = (1-t)/(1+t) t^|x| with t = e^(-1/b). Pure ε = Δ/b, as in the continuous case. Δ is an L1 distance, in any dimension.

/// δ(ε) = max over m of P(X <= m) - e^ε P(X <= m - Δ), exactly, at exact b.
Real discrete_laplace_delta(double epsilon, double b, std::int64_t sensitivity);
/// The same as a profile; `side` is the side to which its max divergence Δ/b is rounded.
Profile discrete_laplace_profile(double b, std::int64_t sensitivity, Side side);

/// The Rényi divergence of the pmf, exactly: two geometric tails and a geometric middle.
Real discrete_laplace_renyi(double b, std::int64_t sensitivity, double order);

// Discrete Gaussian: P(x) proportional to e^(-x²/(2σ²)). Its ρ and RDP are those of the continuous one, as upper
// bounds [Canonne2020, Prop 5], for vectors too; its profile is its own, and that of one number alone.

/// δ(ε) = max over m of P(X <= m) - e^ε P(X <= m - Δ), for σ <= 10^4: the distribution function is summed
/// once, term by term, over the whole ball of σ. OutsideConditions for larger σ.
Profile discrete_gaussian_profile(const Real& sigma, std::int64_t sensitivity);

}  // namespace sotto
