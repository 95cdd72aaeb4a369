// Default training settings for linear models and networks, from public numbers.
#include "learning/api/defaults.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"

namespace sotto {

namespace {

// Uses small batches and many steps: the loss of a network is not convex, and quality grows with
// the number of steps.
Training for_network(const PublicFacts& facts, Relation relation) {
  constexpr double epochs = 40;
  const double units = std::max(1.0, facts.units);
  const double batch = relation == Relation::add_remove
                           ? std::min(units, std::max(128.0, std::ceil(2 * std::sqrt(units))))
                           : units;
  Training training;
  if (batch < units) training.sampling = PoissonSampling{batch / units};
  training.steps =
      static_cast<std::int64_t>(std::ceil(epochs * (batch < units ? units / batch : 5)));
  training.clipping = {.kind = ClippingKind::flat, .norm = 0.1};
  training.batch = batch;
  training.optimiser = {.kind = OptimiserKind::momentum, .size = 0.5, .momentum = 0.9};
  training.relation = relation;
  return training;
}

}  // namespace

Training default_training(const Model& model, const PublicFacts& facts, Relation relation) {
  if (!(facts.units >= 1) || !(facts.row_norm > 0) || !(facts.mu > 0))
    throw InvalidValue(
        "default settings need an approximate number of units of at least 1, a row norm above 0 "
        "and a budget above 0");
  if (model.layers().size() > 1) return for_network(facts, relation);
  constexpr std::int64_t steps = 80;
  constexpr double momentum = 0.9;
  const double noise =
      static_cast<double>(steps) * facts.row_norm / (1 - momentum) / (facts.units * facts.mu);
  // For losses whose curvature stays large where gradients are long, keep the step below the
  // inverse curvature.
  const double steepest =
      model.loss().kind == LossKind::logistic || model.loss().kind == LossKind::softmax
          ? 4
          : 2 / (model.loss().smoothness() * facts.row_norm * facts.row_norm);
  Training training;
  training.sampling = FullBatch{};
  training.steps = steps;
  training.clipping = {.kind = ClippingKind::flat, .norm = 1};
  training.batch = std::max(1.0, facts.units);
  training.optimiser = {.kind = OptimiserKind::momentum,
                        .size = std::clamp(4 / noise, 1e-6, steepest),
                        .momentum = momentum,
                        .averaging = Averaging::second};
  training.relation = relation;
  return training;
}

bool is_never_clipped(const LossFunction& loss, double row_norm, const Clipping& clipping) {
  return clipping.kind != ClippingKind::automatic && !clipping.adaptive &&
         loss.lipschitz() * row_norm <= clipping.norm;
}

}  // namespace sotto
