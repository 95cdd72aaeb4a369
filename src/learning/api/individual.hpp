// Individual accounting: each unit pays for its own gradients, and leaves when its own budget is
// spent.
//
// A unit with short gradients costs less than the clipping norm implies. Uniform accounting stops a
// training when a unit with the largest possible gradients would have spent its budget. Individual
// accounting continues and excludes only the units whose own budgets are spent [Feldman2021],
// [Koskela2023].
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sotto/data/examples.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/learning/optimiser.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// The settings of an individually accounted training. It needs full batches, flat clipping that is
/// not adaptive, and the relation add/remove or zero-out; other settings throw OutsideConditions.
struct IndividualTraining {
  Training training;  ///< the number of steps is free: the budget holds for any
  /// Budget of each unit. A step costs a unit (norm of its clipped gradient / standard deviation of
  /// the noise)²; all steps of a unit cost at most mu².
  double mu;
};

/// Returns gdp(mu), the guarantee of every unit. The spending of a unit, and the number and
/// identity of the excluded units, depend on the data and are never released.
Plan plan_of(const IndividualTraining& training);
/// Returns how many steps uniform accounting would admit: the most with steps · gaussian(noise)
/// within mu.
std::int64_t uniform_steps(const IndividualTraining& training);

/// Takes all steps and calls `on_step` after each; if it returns false, the training stops. A unit
/// whose budget does not suffice for a step is excluded from it, and may take part in a cheaper
/// step later.
Iterate train_individually(const std::shared_ptr<const Model>& model, const Examples& examples,
                           const IndividualTraining& training, int threads = 0,
                           const std::function<bool(const Iterate&)>& on_step = {});

}  // namespace sotto
