// Convex learning without steps: noise on the minimum (output perturbation) or in the objective
// (objective perturbation).
//
// The objective is Σ loss(unit) + strength |θ|²/2. It is a sum, not a mean, so the number of units
// is neither needed nor revealed. Minima are found up to a gradient norm that is proved in floating
// point. The theorems are in docs/theory/learning.md.
#pragma once

#include <cstddef>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/loss.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// A generalised linear model with an intercept. The loss of a unit is the mean over its rows; each
/// row (x, 1) is scaled down to `norm` if it is longer. All of it is public.
struct ConvexProblem {
  std::size_t width;
  LossFunction loss =
      {};           ///< logistic or huber (Lipschitz, one output); others throw OutsideConditions
  double norm = 1;  ///< norm of a row; row_norm(features, false) scales down no row
  double strength = 1;  ///< Λ; a penalty λ|θ|²/2 on the mean over n units has Λ = n λ
  Relation relation = Relation::add_remove;
};
/// Returns an upper bound G on the norm of a unit's gradient: the Lipschitz constant of the loss
/// times `norm`, rounded up.
double gradient_bound(const ConvexProblem& problem);

/// Output perturbation: the minimum plus Gaussian noise [Chaudhuri2011].
struct OutputPerturbation {
  ConvexProblem problem;
  double noise = 1;  ///< σ: the noise on each parameter has standard deviation noise · sensitivity
  double tolerance = 0x1p-10;  ///< τ/G: the gradient norm at the approximate minimum, relative to G
};
/// Returns an upper bound on the L2 distance between approximate minima for neighbouring data:
/// (G + 2τ)/Λ, with 2G in place of G under replace-one.
double sensitivity_of(const OutputPerturbation& perturbation);
/// Returns a strength that balances noise against bias for an approximate public number of units:
/// with coefficients of norm 1, noise adds about units·R²(σG/Λ)²/2 to the sum of losses and the
/// penalty adds Λ/2, so Λ³ = 2 units R²(σG)². A heuristic: no guarantee depends on it.
double balanced_strength(const ConvexProblem& problem, double noise, double units);
/// Returns gaussian(noise).
Plan plan_of(const OutputPerturbation& perturbation);
/// Returns gaussian(?), whose noise calibrate() solves for.
Plan plan_to_calibrate(const OutputPerturbation& perturbation);
/// Returns `width` weights and the intercept, in the order of a linear model's parameters.
std::vector<double> learn(const Examples& examples, const OutputPerturbation& perturbation);

/// Objective perturbation: the minimum of the objective plus bᵀθ for Gaussian b [Kifer2012]. A
/// little noise on the minimum accounts for its being approximate [Iyengar2019]. Each unit must
/// have one row.
struct ObjectivePerturbation {
  ConvexProblem problem;
  double epsilon;  ///< cost of the exact minimum under add/remove, with `delta`
  double delta;
  double own_noise = 1000;  ///< σ of the noise on the minimum, in units of the error bound 2τ/Λ
  double tolerance = 0x1p-20;  ///< τ/G, as in OutputPerturbation
};
/// Returns the standard deviation of each coordinate of b, rounded up. It is the least σ with δ(ε)
/// <= 2 δ_μ(ε - log(1 + βR²/Λ)) under the condition ε - log(1 + βR²/Λ) >= μ²/2 [Redberg2023], where
/// μ = G/σ, δ_μ is the Gaussian profile and β bounds the second derivative of the loss. Throws
/// OutsideConditions if the strength is too small for ε.
double objective_noise(const ObjectivePerturbation& perturbation);
/// Returns approx(ε, δ) + gaussian(own_noise); under replace-one group(2, approx(ε, δ)) +
/// gaussian(own_noise).
Plan plan_of(const ObjectivePerturbation& perturbation);
/// Returns a perturbation whose plan costs at most (ε, δ). If the strength of the problem is 0, it
/// chooses the strength at which log(1 + βR²/Λ) takes a quarter of ε.
ObjectivePerturbation objective_perturbation_for(const ConvexProblem& problem, Epsilon epsilon,
                                                 Delta delta);
/// Returns `width` weights and the intercept, in the order of a linear model's parameters.
std::vector<double> learn(const Examples& examples, const ObjectivePerturbation& perturbation);

}  // namespace sotto
