// Guarantees of randomized response, which reports the true one of k values with probability p and
// each other one with probability r = (1-p)/(k-1). A record cannot be absent, so all of this is for
// the replace-one relation only.
#pragma once

#include <cstdint>

#include "privacy/api/profile.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// The probabilities p and r.
struct ResponseProbabilities {
  Real truth;
  Real other;
};
/// Returns them for p in (0, 1) and k >= 2.
ResponseProbabilities response_probabilities(const Real& p, std::int64_t k);

/// The exact pure ε = |log(p / r)|.
Real response_epsilon(const ResponseProbabilities& response);

/// The exact privacy profile max(0, max(p, r) - e^ε min(p, r)).
Real response_delta(double epsilon, const ResponseProbabilities& response);

/// The exact Rényi divergence log(p^α r^(1-α) + r^α p^(1-α) + (1 - p - r)) / (α-1) [Mironov2017,
/// Prop 5, for k = 2]. At α = 1 it is the KL divergence (p - r) log(p/r), at α = inf it is ε.
Real response_renyi(const ResponseProbabilities& response, double order);

}  // namespace sotto
