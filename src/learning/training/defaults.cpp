#include "learning/api/defaults.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"

namespace sotto {

namespace {

// Small batches, many steps: a net's loss is not convex, and what it learns grows with the number of its steps.
Training for_network(const PublicFacts& facts, Relation relation) {
  constexpr double epochs = 40;
  const double units = std::max(1.0, facts.units);
  const double batch = relation == Relation::add_remove ? std::min(units, std::max(128.0, std::ceil(2 * std::sqrt(units)))) : units;
  Training training;
  if (batch < units) training.sampling = PoissonSampling{batch / units};
  training.steps = static_cast<std::int64_t>(std::ceil(epochs * (batch < units ? units / batch : 5)));
  training.clipping = {.kind = ClippingKind::flat, .norm = 0.1};
  training.batch = batch;
  training.optimiser = {.kind = OptimiserKind::momentum, .size = 0.5, .momentum = 0.9};
  training.relation = relation;
  return training;
}

}  // namespace

Training default_training(const Model& model, const PublicFacts& facts, Relation relation) {
  if (!(facts.units >= 1) || !(facts.row_norm > 0) || !(facts.mu > 0)) throw InvalidValue("how many units there are must be known, about");
  if (model.layers().size() > 1) return for_network(facts, relation);
  constexpr std::int64_t steps = 80;
  constexpr double momentum = 0.9;
  const double noise = static_cast<double>(steps) * facts.row_norm / (1 - momentum) / (facts.units * facts.mu);
  // of losses whose curvature does not fall where gradients are long, the step stays below the inverse of the curvature
  const double steepest = model.loss().kind == LossKind::logistic || model.loss().kind == LossKind::softmax
                              ? 4
                              : 2 / (model.loss().smoothness() * facts.row_norm * facts.row_norm);
  Training training;
  training.sampling = FullBatch{};
  training.steps = steps;
  training.clipping = {.kind = ClippingKind::flat, .norm = 1};
  training.batch = std::max(1.0, facts.units);
  training.optimiser = {
      .kind = OptimiserKind::momentum, .size = std::clamp(4 / noise, 1e-6, steepest), .momentum = momentum, .averaging = Averaging::second};
  training.relation = relation;
  return training;
}

bool is_never_clipped(const LossFunction& loss, double row_norm, const Clipping& clipping) {
  return clipping.kind != ClippingKind::automatic && !clipping.adaptive && loss.lipschitz() * row_norm <= clipping.norm;
}

}  // namespace sotto
