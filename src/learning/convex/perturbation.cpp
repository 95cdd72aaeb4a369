#include "learning/api/perturbation.hpp"

#include <algorithm>
#include <cmath>

#include "learning/convex/minimum.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

bool replaces(const ConvexProblem& problem) { return problem.relation == Relation::replace_one; }

void require_sound(const ConvexProblem& problem) {
  if (problem.loss.kind != LossKind::logistic && problem.loss.kind != LossKind::huber) {
    throw OutsideConditions("output and objective perturbation are proved for a Lipschitz loss of one output, and " + name_of(problem.loss.kind) +
                            " is none: use logistic or huber, or DP-SGD, which clips gradients" +
                            (problem.loss.kind == LossKind::squared ? "; for the squared loss sufficient statistics" : ""));
  }
  if (problem.width < 1 || problem.width > 100'000) throw InvalidValue("a convex problem has 1 to 100000 features");
  if (!(problem.norm >= 0x1p-10 && problem.norm <= 0x1p20)) throw InvalidValue("the norm of rows must be between 2^-10 and 2^20");
  if (!(problem.strength >= 0x1p-30 && problem.strength <= 0x1p50)) {
    throw OutsideConditions("the objective must be strongly convex: its strength must be between 2^-30 and 2^50");
  }
  if (problem.loss.kind == LossKind::huber && !(problem.loss.bend >= 0x1p-20 && problem.loss.bend <= 0x1p10)) {
    throw InvalidValue("the bend of the huber loss must be between 2^-20 and 2^10");
  }
}

void require_sound(const OutputPerturbation& p) {
  require_sound(p.problem);
  if (!(p.noise >= 0 && p.noise <= 0x1p30)) throw InvalidValue("noise must be between 0 and 2^30 sensitivities");
  if (!(p.tolerance >= 0x1p-40 && p.tolerance <= 1)) throw InvalidValue("the tolerance must be between 2^-40 and 1");
}

// βR²: a bound on the one eigenvalue of the second derivative of a row's loss.
Real curvature_bound(const ConvexProblem& problem) { return Real(problem.loss.smoothness()) * square(Real(problem.norm)); }

// What is left of ε for the noise, from below.
double epsilon_left(const ObjectivePerturbation& p) {
  return (Real(p.epsilon) - log1p(curvature_bound(p.problem) / Real(p.problem.strength))).lower();
}

void require_sound(const ObjectivePerturbation& p) {
  require_sound(p.problem);
  (void)Epsilon(p.epsilon);
  if (!(p.delta > 0 && p.delta < 1)) throw OutsideConditions("objective perturbation with Gaussian noise needs a delta between 0 and 1");
  if (!(p.own_noise > 0 && p.own_noise <= 0x1p30)) throw InvalidValue("own_noise must be above 0 and at most 2^30");
  if (!(p.tolerance >= 0x1p-40 && p.tolerance <= 0x1p-4)) throw InvalidValue("the tolerance must be between 2^-40 and 2^-4");
  if (!(epsilon_left(p) > 0)) {
    throw OutsideConditions("objective perturbation at epsilon " + shortest(p.epsilon) +
                            " needs log(1 + b R²/strength) < epsilon, with b R² = " + shortest(curvature_bound(p.problem).upper()) +
                            ": declare a strength above " + shortest((curvature_bound(p.problem) / expm1(Real(p.epsilon))).upper()));
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
  return ((Real(replaces(p.problem) ? 2 : 1) + Real(2) * Real(p.tolerance)) * bound / Real(p.problem.strength)).upper();
}

double balanced_strength(const ConvexProblem& problem, double noise, double units) {
  const double moved = noise * gradient_bound(problem) * problem.norm;
  if (!(moved > 0 && units >= 1)) throw InvalidValue("a strength is balanced for noise above 0 and at least one unit");
  return std::clamp(std::cbrt(2 * units * moved * moved), 0x1p-20, 0x1p40);
}

Plan plan_of(const OutputPerturbation& p) {
  require_sound(p);
  if (p.noise == 0) throw OutsideConditions("a minimum without noise is not private: it has no finite cost");
  return gaussian(p.noise);
}

Plan plan_to_calibrate(const OutputPerturbation& p) {
  require_sound(p);
  return gaussian(hole);
}

std::vector<double> learn(const Examples& examples, const OutputPerturbation& p) {
  (void)plan_of(p);
  const double tolerance = (Real(p.tolerance) * Real(gradient_bound(p.problem))).lower();
  std::vector<double> theta = learning_detail::minimum(p.problem, examples, {}, tolerance);
  RoundedNoise(NoiseKind::gaussian, (Real(p.noise) * Real(sensitivity_of(p))).upper()).add(theta);
  return theta;
}

double objective_noise(const ObjectivePerturbation& p) {
  require_sound(p);
  const double left = epsilon_left(p);
  const double by_profile = gaussian_exact_sigma(left, p.delta / 2, Side::upper);
  const double by_condition = (Real(1) / sqrt(Real(2) * Real(left))).upper();  // μ²/2 <= what is left
  return (Real(std::max(by_profile, by_condition)) * Real(gradient_bound(p.problem))).upper();
}

Plan plan_of(const ObjectivePerturbation& p) {
  require_sound(p);
  const Plan minimum = approx(p.epsilon, p.delta);
  return (replaces(p.problem) ? group(2, minimum) : minimum) + gaussian(p.own_noise);
}

ObjectivePerturbation objective_perturbation_for(const ConvexProblem& problem, Epsilon epsilon, Delta delta) {
  if (!(delta.value() > 0)) throw OutsideConditions("objective perturbation with Gaussian noise needs a delta above 0");
  ObjectivePerturbation p{.problem = problem, .epsilon = 0, .delta = 0};
  // a tenth of delta is for the own noise, whose epsilon is small
  const double own = epsilon_of(gaussian_profile((Real(1) / Real(p.own_noise)).upper()), delta.value() / 10, Side::upper);
  double left = (Real(epsilon.value()) - Real(own)).lower();
  if (!(left > 0)) throw OutsideConditions("epsilon " + shortest(epsilon.value()) + " is below what approximate minima cost, " + shortest(own));
  p.delta = 0.9 * delta.value() * (1 - 0x1p-40);
  if (replaces(p.problem)) {  // group(2, approx(ε, δ)): (2ε, (1 + e^ε)δ)
    left /= 2;
    p.delta = (Real(p.delta) / (Real(1) + exp(Real(left)))).lower();
  }
  p.epsilon = next_down(left * (1 - 0x1p-40));
  if (p.problem.strength == 0) p.problem.strength = (curvature_bound(p.problem) / expm1(Real(p.epsilon / 4))).upper();
  require_sound(p);
  return p;
}

std::vector<double> learn(const Examples& examples, const ObjectivePerturbation& p) {
  const double sigma = objective_noise(p);
  if (!examples.one_row_a_unit()) {
    throw OutsideConditions(
        "objective perturbation is proved for units with one row: use output perturbation or DP-SGD, which bound a unit's rows together");
  }
  const double bound = gradient_bound(p.problem);
  const double tolerance = (Real(p.tolerance) * Real(bound)).lower();
  // b on a grid is b up to half a step in each coordinate: a quarter of the tolerance is kept for that
  const auto size = static_cast<double>(p.problem.width + 1);
  const int grid = static_cast<int>(std::floor(std::log2(tolerance / 4 / std::sqrt(size))));
  std::vector<double> b(p.problem.width + 1, 0.0);
  const RoundedNoise noise(NoiseKind::gaussian, sigma, grid);
  if (noise.limit() < 0x1p8 * sigma)
    throw OutsideConditions("the noise in the objective is too large for the tolerance's grid: declare a larger tolerance");
  noise.add(b);
  std::vector<double> theta = learning_detail::minimum(p.problem, examples, b, 0.75 * tolerance);
  const Real apart = Real(2) * Real(tolerance) / Real(p.problem.strength);
  RoundedNoise(NoiseKind::gaussian, (Real(p.own_noise) * apart).upper()).add(theta);
  return theta;
}

}  // namespace sotto
