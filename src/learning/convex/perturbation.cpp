// Output and objective perturbation: the noises, their events, and the minima that they are added
// to.
#include "learning/api/perturbation.hpp"

#include <algorithm>
#include <cmath>

#include "learning/convex/minimum.hpp"
#include "mechanisms/api/gaussian.hpp"
#include "mechanisms/api/objective.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace sotto {
namespace {

bool replaces(const ConvexProblem& problem) { return problem.relation == Relation::replace_one; }

void require_sound(const ConvexProblem& problem) {
  if (problem.loss.kind != LossKind::logistic && problem.loss.kind != LossKind::huber) {
    throw OutsideConditions(
        "output and objective perturbation are proved for a Lipschitz loss of one output, and " +
        name_of(problem.loss.kind) +
        " is none: use logistic or huber, or DP-SGD, which clips gradients" +
        (problem.loss.kind == LossKind::squared ? "; for the squared loss sufficient statistics"
                                                : ""));
  }
  if (problem.width < 1 || problem.width > 100'000)
    throw InvalidValue("a convex problem has 1 to 100000 features");
  if (!(problem.norm >= 0x1p-10 && problem.norm <= 0x1p20))
    throw InvalidValue("the norm of rows must be between 2^-10 and 2^20");
  if (!(problem.strength >= 0x1p-30 && problem.strength <= 0x1p50)) {
    throw OutsideConditions(
        "the objective must be strongly convex: its strength must be between 2^-30 and 2^50");
  }
  if (problem.loss.kind == LossKind::huber &&
      !(problem.loss.bend >= 0x1p-20 && problem.loss.bend <= 0x1p10)) {
    throw InvalidValue("the bend of the huber loss must be between 2^-20 and 2^10");
  }
}

void require_sound(const OutputPerturbation& p) {
  require_sound(p.problem);
  if (!(p.noise >= 0 && p.noise <= 0x1p30))
    throw InvalidValue("noise must be between 0 and 2^30 sensitivities");
  if (!(p.tolerance >= 0x1p-40 && p.tolerance <= 1))
    throw InvalidValue("the tolerance must be between 2^-40 and 1");
}

// Returns βR²: a bound on the one eigenvalue of the second derivative of a row's loss.
Real curvature_bound(const ConvexProblem& problem) {
  return Real(problem.loss.smoothness()) * square(Real(problem.norm));
}

// Returns the noise on the minimum of output perturbation.
GaussianNoise noise_on(const OutputPerturbation& p) { return {p.noise, sensitivity_of(p)}; }

// Returns the noise inside the objective.
ObjectiveNoise noise_inside(const ObjectivePerturbation& p) {
  return ObjectiveNoise({.epsilon = p.epsilon,
                         .delta = p.delta,
                         .gradient = gradient_bound(p.problem),
                         .curvature = curvature_bound(p.problem),
                         .strength = p.problem.strength,
                         .replaces = replaces(p.problem)});
}

// Returns the largest norm of the gradient at which a minimum counts as found, τ.
double tolerance_of(const ObjectivePerturbation& p) {
  return (Real(p.tolerance) * Real(gradient_bound(p.problem))).lower();
}

// Returns the noise on an approximate minimum of the objective. Minima to the tolerance τ are at
// most 2τ/Λ apart.
GaussianNoise noise_on(const ObjectivePerturbation& p) {
  return {p.own_noise, Real(2) * Real(tolerance_of(p)) / Real(p.problem.strength)};
}

void require_sound(const ObjectivePerturbation& p) {
  require_sound(p.problem);
  (void)Epsilon(p.epsilon);
  if (!(p.delta > 0 && p.delta < 1))
    throw OutsideConditions(
        "objective perturbation with Gaussian noise needs a delta between 0 and 1");
  if (!(p.own_noise > 0 && p.own_noise <= 0x1p30))
    throw InvalidValue("own_noise must be above 0 and at most 2^30");
  if (!(p.tolerance >= 0x1p-40 && p.tolerance <= 0x1p-4))
    throw InvalidValue("the tolerance must be between 2^-40 and 2^-4");
  if (!(noise_inside(p).epsilon_left() > 0)) {
    throw OutsideConditions(
        "objective perturbation at epsilon " + shortest(p.epsilon) +
        " needs log(1 + b R²/strength) < epsilon, with b R² = " +
        shortest(curvature_bound(p.problem).upper()) + ": declare a strength above " +
        shortest((curvature_bound(p.problem) / expm1(Real(p.epsilon))).upper()));
  }
}

}  // namespace

double gradient_bound(const ConvexProblem& problem) {
  require_sound(problem);
  return (Real(problem.loss.lipschitz()) * Real(problem.norm)).upper();
}

double sensitivity_of(const OutputPerturbation& p) {
  require_sound(p);
  const Real bound(gradient_bound(p.problem));
  return ((Real(replaces(p.problem) ? 2 : 1) + Real(2) * Real(p.tolerance)) * bound /
          Real(p.problem.strength))
      .upper();
}

double balanced_strength(const ConvexProblem& problem, double noise, double units) {
  const double moved = noise * gradient_bound(problem) * problem.norm;
  if (!(moved > 0 && units >= 1))
    throw InvalidValue("a strength is balanced for noise above 0 and at least one unit");
  return std::clamp(std::cbrt(2 * units * moved * moved), 0x1p-20, 0x1p40);
}

Plan plan_of(const OutputPerturbation& p) {
  require_sound(p);
  if (p.noise == 0)
    throw OutsideConditions("a minimum without noise is not private: it has no finite cost");
  return noise_on(p).event();
}

Plan plan_to_calibrate(const OutputPerturbation& p) {
  require_sound(p);
  return gaussian(hole);
}

std::vector<double> learn(const Examples& examples, const OutputPerturbation& p) {
  (void)plan_of(p);
  const double tolerance = (Real(p.tolerance) * Real(gradient_bound(p.problem))).lower();
  std::vector<double> theta = learning_detail::minimum(p.problem, examples, {}, tolerance);
  Additive(noise_on(p)).release_in_place(theta);
  return theta;
}

double objective_noise(const ObjectivePerturbation& p) {
  require_sound(p);
  return noise_inside(p).scale();
}

Plan plan_of(const ObjectivePerturbation& p) {
  require_sound(p);
  return noise_inside(p).event() + noise_on(p).event();
}

ObjectivePerturbation objective_perturbation_for(const ConvexProblem& problem, Epsilon epsilon,
                                                 Delta delta) {
  if (!(delta.value() > 0))
    throw OutsideConditions("objective perturbation with Gaussian noise needs a delta above 0");
  ObjectivePerturbation p{.problem = problem, .epsilon = 0, .delta = 0};
  // the noise on the minimum has a tenth of delta: its epsilon is small
  const double own = epsilon_of(gaussian_profile((Real(1) / Real(p.own_noise)).upper()),
                                delta.value() / 10, Side::upper);
  double left = (Real(epsilon.value()) - Real(own)).lower();
  if (!(left > 0))
    throw OutsideConditions("epsilon " + shortest(epsilon.value()) +
                            " is below what approximate minima cost, " + shortest(own));
  p.delta = 0.9 * delta.value() * (1 - 0x1p-40);
  if (replaces(p.problem)) {  // group(2, approx(ε, δ)): (2ε, (1 + e^ε)δ)
    left /= 2;
    p.delta = (Real(p.delta) / (Real(1) + exp(Real(left)))).lower();
  }
  p.epsilon = next_down(left * (1 - 0x1p-40));
  if (p.problem.strength == 0)
    p.problem.strength = (curvature_bound(p.problem) / expm1(Real(p.epsilon / 4))).upper();
  require_sound(p);
  return p;
}

std::vector<double> learn(const Examples& examples, const ObjectivePerturbation& p) {
  require_sound(p);
  if (!examples.one_row_a_unit()) {
    throw OutsideConditions(
        "objective perturbation is proved for units with one row: use output perturbation or "
        "DP-SGD, which bound a unit's rows together");
  }
  const double tolerance = tolerance_of(p);

  // The random line. Rounding to the grid moves b by at most half a step in each coordinate: a
  // quarter of the tolerance is reserved for that.
  const std::size_t size = p.problem.width + 1;
  const int grid =
      static_cast<int>(std::floor(std::log2(tolerance / 4 / std::sqrt(static_cast<double>(size)))));
  const std::vector<double> b = noise_inside(p).draw(size, grid);

  std::vector<double> theta = learning_detail::minimum(p.problem, examples, b, 0.75 * tolerance);
  Additive(noise_on(p)).release_in_place(theta);
  return theta;
}

}  // namespace sotto
