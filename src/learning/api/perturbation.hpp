// Convex learning without steps: noise on the minimum (output perturbation) or in the objective (objective perturbation).
//
// What is minimised is Σ loss(unit) + strength |θ|²/2: a sum, not a mean, so that no number of units is needed, and none is revealed. Minima are
// found to a gradient norm that is proved in floating point. docs/theory/learning.md has the theorems.
#pragma once

#include <cstddef>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/loss.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// A generalised linear model with an intercept. A unit's loss is the mean of its rows'; each row (x, 1) is shortened to `norm`. All of it is public.
struct ConvexProblem {
  std::size_t width;
  LossFunction loss = {};  ///< logistic or huber: Lipschitz, with one output. Any other is refused with OutsideConditions
  double norm = 1;         ///< row_norm(features, false) shortens no row
  double strength = 1;     ///< Λ: of λ|θ|²/2 for the mean over n units, n λ
  Relation relation = Relation::add_remove;
};
/// A bound on the norm of a unit's gradient, the loss's Lipschitz constant times `norm`; rounded up.
double gradient_bound(const ConvexProblem& problem);

/// The minimum, with Gaussian noise on it [Chaudhuri2011].
struct OutputPerturbation {
  ConvexProblem problem;
  double noise = 1;            ///< σ: the noise on each parameter has standard deviation noise · sensitivity
  double tolerance = 0x1p-10;  ///< the gradient's norm at what is taken for the minimum is at most this part of gradient_bound
};
/// The L2 distance of the approximate minima of neighbours: (G + 2τ)/Λ, with 2G under replace-one; rounded up.
double sensitivity_of(const OutputPerturbation& perturbation);
/// A strength that balances noise against bias for about so many units, a public number, under coefficients of norm 1: noise adds about
/// units·R²(σG/Λ)²/2 to the sum of losses, the penalty Λ/2, so Λ³ = 2 units R²(σG)². A choice, which no guarantee rests on.
double balanced_strength(const ConvexProblem& problem, double noise, double units);
Plan plan_of(const OutputPerturbation& perturbation);
Plan plan_to_calibrate(const OutputPerturbation& perturbation);
/// `width` weights and the intercept, as the parameters of a linear model.
std::vector<double> learn(const Examples& examples, const OutputPerturbation& perturbation);

/// The minimum of the objective plus bᵀθ for Gaussian b, with a little noise on it, since minima are approximate [Kifer2012], [Iyengar2019].
/// For units with one row.
struct ObjectivePerturbation {
  ConvexProblem problem;
  double epsilon;              ///< what the exact minimum costs under add/remove
  double delta;                ///< of the same
  double own_noise = 1000;     ///< σ of the noise for approximate minima, in their largest distance 2τ/Λ
  double tolerance = 0x1p-20;  ///< τ, as a part of gradient_bound
};
/// The standard deviation of each coordinate of b, the least by δ(ε) <= 2 δ_μ(ε - log(1 + βR²/Λ)), μ = G/σ, δ_μ the Gaussian profile, where
/// ε - log(1 + βR²/Λ) >= μ²/2 [Redberg2023]; β bounds the loss's second derivative. Rounded up. OutsideConditions where the strength is too small for
/// ε.
double objective_noise(const ObjectivePerturbation& perturbation);
/// approx(ε, δ) + gaussian(own_noise); under replace-one group(2, approx(ε, δ)) + gaussian(own_noise).
Plan plan_of(const ObjectivePerturbation& perturbation);
/// The perturbation whose plan costs at most (ε, δ). The problem's strength is kept if it is above 0; else the one at which the determinants take a
/// quarter of ε.
ObjectivePerturbation objective_perturbation_for(const ConvexProblem& problem, Epsilon epsilon, Delta delta);
std::vector<double> learn(const Examples& examples, const ObjectivePerturbation& perturbation);

}  // namespace sotto
