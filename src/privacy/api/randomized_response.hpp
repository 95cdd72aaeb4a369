// Randomized response: the true one of k values with probability p, every other one with r = (1-p)/(k-1).
#pragma once

#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "privacy/api/profile.hpp"

namespace sotto {

/// p in (0, 1) and k >= 2. A record cannot be absent, so all of this is for replace-one alone.
struct ResponseProbabilities {
  Real truth;
  Real other;
};
ResponseProbabilities response_probabilities(const Real& p, std::int64_t k);

/// ε = |log(p / r)|.
Real response_epsilon(const ResponseProbabilities& response);

/// The exact profile max(p, r) - e^ε min(p, r), where positive.
Real response_delta(double epsilon, const ResponseProbabilities& response);

/// D_α = log(p^α r^(1-α) + r^α p^(1-α) + (1 - p - r)) / (α-1), exactly [Mironov2017, Prop 5, for k = 2];
/// KL (p - r) log(p/r) at α = 1, and ε at α = inf.
Real response_renyi(const ResponseProbabilities& response, double order);

}  // namespace sotto
