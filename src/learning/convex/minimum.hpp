// Minima of convex objectives, to a proved gradient norm.
#pragma once

#include <span>
#include <vector>

#include "learning/api/perturbation.hpp"

namespace sotto::learning_detail {

/// A point at which the exact gradient of Σ loss + Λ|θ|²/2 + bᵀθ has at most this norm: proved, with every rounding bounded. b: `width` + 1 numbers,
/// or none. Newton's steps, halved until the gradient shrinks. OutsideConditions if the tolerance is not reached; then nothing is to be released.
std::vector<double> minimum(const ConvexProblem& problem, const Examples& examples, std::span<const double> b, double tolerance);

}  // namespace sotto::learning_detail
