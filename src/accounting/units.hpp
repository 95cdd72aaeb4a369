// The leaves' guarantees in one number each, read from the plan's parameters and rounded to a side.
#pragma once

#include <cstdint>
#include <optional>

#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::accounting_detail {

inline Real reading(const Parameter& p) { return Real::reading(p.value()); }
inline Real real(std::int64_t n) { return static_cast<double>(n); }
inline std::int64_t count(const Parameter& p) { return static_cast<std::int64_t>(p.value()); }
/// k times a count; InvalidValue beyond 2^53.
std::int64_t times(std::int64_t k, const Parameter& p);

/// μ of a Gaussian or gdp leaf for a group of k; empty for other leaves.
std::optional<Real> gaussian_mu(const Plan& leaf, std::int64_t k);

/// The pure ε of a leaf that has one (laplace, randomized_response, exponential, discrete_laplace, pure, approx and
/// catastrophe without their δ), for a group of k.
std::optional<Real> pure_epsilon(const Plan& leaf, std::int64_t k);

/// The pure ε of so many uses of such a leaf, multiplied before it is divided so that 10 * laplace(10) is 1 exactly.
std::optional<Real> pure_epsilon_of(const Plan& leaf, std::int64_t k, const Real& repeated);

/// A sampling node's rate and what runs on the sample; nested Poisson rates multiply.
struct Sampling {
  Real rate;
  Plan body;
  bool poisson;  // else without replacement
};
/// Empty if the plan is not a sampling node.
std::optional<Sampling> sampling_of(const Plan& plan);

/// Whether some part is (ε, δ)-DP only once it is given a share of δ: no finite ε holds for it at δ = 0.
bool needs_share(const Plan& plan);
/// Whether some part reveals everything with positive probability: no Rényi divergence of it is finite.
bool can_fail(const Plan& plan);

/// Whether some part is a catastrophe() with positive probability, which has no Rényi divergence.
bool contains_catastrophe(const Plan& plan);

/// The δ of an `approx` or `catastrophe` leaf for a group of k, else 0.
Real own_delta(const Plan& leaf, std::int64_t k);

}  // namespace sotto::accounting_detail
