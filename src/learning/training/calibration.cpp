// The noise that a training needs, by three methods, and the textbook's bound on its excess risk.
#include "learning/api/calibration.hpp"

#include <cmath>

#include "numerics/api/elementary.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

Real rate_of(const Sampling& sampling) {
  if (const auto* poisson_sampling = std::get_if<PoissonSampling>(&sampling))
    return Real(poisson_sampling->rate);
  if (const auto* fixed = std::get_if<FixedSizeSampling>(&sampling)) {
    return Real(static_cast<double>(fixed->batch)) / Real(static_cast<double>(fixed->population));
  }
  return Real(1);
}

NoiseCalibration by_accountant(const char* name, const Plan& plan, Epsilon epsilon, Delta delta,
                               Method method) {
  try {
    return {.method = name, .noise = calibrate(plan, epsilon, delta, Question{.by = method}).value};
  } catch (const OutsideConditions& refusal) {
    return {.method = name, .noise = std::nullopt, .refusal = refusal.what()};
  }
}

double diameter_of(const Region& region, std::size_t parameters) {
  if (const auto* ball = std::get_if<Ball>(&region)) return (Real(2) * Real(ball->radius)).upper();
  const auto& box = std::get<Box>(region);
  return ((Real(box.upper) - Real(box.lower)) * sqrt(Real(static_cast<double>(parameters))))
      .upper();
}

// Returns G: the root mean square norm of the noisy mean gradient.
Real size_of_gradient(double lipschitz, std::size_t parameters, const Real& deviation) {
  return sqrt(square(Real(lipschitz)) + Real(static_cast<double>(parameters)) * square(deviation));
}

}  // namespace

std::vector<NoiseCalibration> noise_by_method(const Training& training, Epsilon epsilon,
                                              Delta delta) {
  const Plan plan = plan_to_calibrate(training);
  std::vector<NoiseCalibration> all{by_accountant("tight", plan, epsilon, delta, Method::tight),
                                    by_accountant("rdp", plan, epsilon, delta, Method::rdp)};
  try {
    all.push_back({.method = "closed form", .noise = closed_form_noise(training, epsilon, delta)});
  } catch (const OutsideConditions& refusal) {
    all.push_back({.method = "closed form", .noise = std::nullopt, .refusal = refusal.what()});
  }
  return all;
}

double closed_form_noise(const Training& training, Epsilon epsilon, Delta delta) {
  (void)plan_to_calibrate(training);  // throws if no theorem covers the sampling
  if (training.clipping.adaptive)
    throw OutsideConditions(
        "the closed form does not cover adaptive clipping, which also measures a quantile: use a "
        "fixed clipping norm, or the tight accountant");
  if (!(epsilon.value() > 0)) throw OutsideConditions("the closed form needs an epsilon above 0");
  if (!(delta.value() > 0)) throw OutsideConditions("the closed form needs a delta above 0");
  const Real target(epsilon.value());
  const Real rate = rate_of(training.sampling);
  const Real steps(static_cast<double>(training.steps));
  const Real of_delta = log(Real(2) / Real(delta.value()));
  const Real step_epsilon = target / (Real(4) * rate * sqrt(Real(2) * steps * of_delta));
  if (!certainly_at_most(step_epsilon, Real(1))) {
    throw OutsideConditions(
        "the closed form's Gaussian step needs epsilon' <= 1, and epsilon' = epsilon/(4 s √(2 T "
        "log(2/delta))) is " +
        shortest(step_epsilon.upper()) +
        ": take more steps or larger batches, or the tight accountant");
  }
  const Real step_delta = Real(delta.value()) / (Real(2) * rate * steps);
  if (!certainly_less(step_delta, Real(1))) {
    throw OutsideConditions(
        "the closed form's Gaussian step needs delta' < 1, and delta' = delta/(2 s T) is " +
        shortest(step_delta.upper()));
  }
  const Real amplified = Real(2) * rate * step_epsilon;
  if (!certainly_at_most(sqrt(steps) * expm1(amplified), sqrt(Real(2) * of_delta))) {
    throw OutsideConditions(
        "the simple form of advanced composition needs √T (e^epsilon'' - 1) <= √(2 log(2/delta)), "
        "with epsilon'' = " +
        shortest(amplified.upper()) + ": take the tight accountant");
  }
  const Real sensitivity(training.relation == Relation::replace_one ? 2 : 1);
  return (Real(8) * sensitivity * rate * sqrt(steps * of_delta * log(Real(1.25) / step_delta)) /
          target)
      .upper();
}

double excess_risk_bound(const Training& training, double lipschitz, std::size_t parameters,
                         std::size_t units) {
  const Optimiser& optimiser = training.optimiser;
  const auto refuse = [](const std::string& why) {
    throw OutsideConditions("the bound on the excess risk needs " + why);
  };
  const auto* fixed = std::get_if<FixedSizeSampling>(&training.sampling);
  if (std::holds_alternative<PoissonSampling>(training.sampling))
    refuse("batches of a fixed size, or full batches");
  if (training.batch !=
      (fixed != nullptr ? static_cast<double>(fixed->batch) : static_cast<double>(units)))
    refuse("sums divided by the batch's size");
  if (!(lipschitz > 0 && lipschitz <= training.clipping.norm) ||
      training.clipping.kind != ClippingKind::flat || training.clipping.adaptive) {
    refuse("a loss whose Lipschitz constant is at most the norm of flat clipping");
  }
  if (optimiser.kind != OptimiserKind::sgd || optimiser.sizes != StepSizes::inverse_root ||
      optimiser.averaging != Averaging::none) {
    refuse("plain SGD with steps c/√t and the last iterate");
  }
  if (optimiser.l2 != 0) refuse("a loss without l2: set l2 to 0 and use a region");
  if (!optimiser.region) refuse("a bounded region");
  if (training.steps < 2) refuse("at least two steps");
  const Real deviation = Real(training.noise) * Real(training.clipping.norm) / Real(training.batch);
  const Real gradient = size_of_gradient(lipschitz, parameters, deviation);
  const Real diameter(diameter_of(*optimiser.region, parameters));
  const Real steps(static_cast<double>(training.steps));
  const Real size(optimiser.size);
  return ((square(diameter) / size + size * square(gradient)) * (Real(2) + log(steps)) /
          sqrt(steps))
      .upper();
}

Training textbook_training(const TextbookTraining& textbook, double noise) {
  if (textbook.population < 1 || textbook.population > 3'000'000)
    throw InvalidValue("`population` is " + std::to_string(textbook.population) +
                       ": a textbook training needs 1 to 3000000 units");
  if (!(textbook.diameter > 0 && std::isfinite(textbook.diameter)))
    throw InvalidValue("`diameter` must be a finite number above 0");
  Training training{
      .sampling = FixedSizeSampling{textbook.batch, textbook.population},
      .steps = textbook.steps.value_or(textbook.population * textbook.population),
      .clipping = {.norm = textbook.lipschitz},
      .noise = noise,
      .batch = static_cast<double>(textbook.batch),
      .optimiser = {.sizes = StepSizes::inverse_root, .region = Ball{textbook.diameter / 2}},
      .relation = Relation::replace_one};
  const Real deviation = Real(noise) * Real(textbook.lipschitz) / Real(training.batch);
  training.optimiser.size =
      textbook.diameter /
      size_of_gradient(textbook.lipschitz, textbook.parameters, deviation).estimate();
  return training;
}

Training textbook_training(const TextbookTraining& textbook, Epsilon epsilon, Delta delta) {
  return textbook_training(
      textbook, calibrate(plan_to_calibrate(textbook_training(textbook, 1)), epsilon, delta).value);
}

}  // namespace sotto
