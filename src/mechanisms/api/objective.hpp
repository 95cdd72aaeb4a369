// The noise inside a convex objective, and the guarantee that a theorem gives for the minimum.
#pragma once

#include <cstddef>
#include <vector>

#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// The conditions of the theorem on objective perturbation, for a sum of convex losses of units
/// with one row each.
struct ObjectiveConditions {
  double epsilon, delta;  ///< the cost of the exact minimum under add/remove
  double gradient;        ///< G: no unit's gradient is longer
  Real curvature;   ///< a bound on the one eigenvalue of the second derivative of a unit's loss
  double strength;  ///< Λ: the objective has the term Λ|θ|²/2
  bool replaces;    ///< whether the plan's relation is replace-one; the event is that of a group of
                    ///< two then
};

/// Gaussian noise inside an objective: a vector b of independent Gaussian entries, for the term bᵀθ
/// [Kifer2012], [Redberg2023].
///
/// The event is that of the exact minimum of the objective with this term. An approximate minimum
/// needs noise on it as well, which is a second event. Immutable; threads may share it.
class ObjectiveNoise {
 public:
  explicit ObjectiveNoise(const ObjectiveConditions& conditions) : conditions_(conditions) {}

  /// The cost of the exact minimum: approx(ε, δ), or group(2, approx(ε, δ)) under replace-one.
  [[nodiscard]] Plan event() const;
  /// The part of ε for the noise: ε - log(1 + curvature/Λ), rounded down. The theorem holds where
  /// it is above 0.
  [[nodiscard]] double epsilon_left() const;
  /// The standard deviation of each entry of b: the least with which δ is at least 2
  /// δ_μ(epsilon_left), μ = G/σ, δ_μ the Gaussian profile, and epsilon_left at least μ²/2. Rounded
  /// up.
  [[nodiscard]] double scale() const;
  /// Draws b, rounded to multiples of 2^grid. Throws OutsideConditions if the grid has too few
  /// steps for the noise.
  [[nodiscard]] std::vector<double> draw(std::size_t size, int grid) const;

 private:
  ObjectiveConditions conditions_;
};

}  // namespace sotto
