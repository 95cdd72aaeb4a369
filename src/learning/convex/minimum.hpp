// Minima of convex objectives, up to a proved gradient norm.
#pragma once

#include <span>
#include <vector>

#include "learning/api/perturbation.hpp"

namespace sotto::learning_detail {

/// Returns a point at which the exact gradient of Σ loss + Λ|θ|²/2 + bᵀθ has a norm of at most
/// `tolerance`; the proof bounds every rounding error. `b` has `width` + 1 numbers, or is empty for
/// 0. Takes Newton steps, halved until the gradient shrinks. Throws OutsideConditions if the
/// tolerance is not reached; then nothing may be released.
std::vector<double> minimum(const ConvexProblem& problem, const Examples& examples,
                            std::span<const double> b, double tolerance);

}  // namespace sotto::learning_detail
