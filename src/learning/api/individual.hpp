// Individual accounting: each unit pays for its own gradients, and leaves when its own budget is spent.
//
// A unit whose gradients are short costs less than the clipping norm says. Under a uniform account a training ends when a unit of the largest
// possible gradients is spent; here it goes on, and such units alone are left out [Feldman2021], [Koskela2023].
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

/// Full batches, flat clipping that does not adapt, add/remove or zero-out: anything else is refused with OutsideConditions.
struct IndividualTraining {
  Training training;  ///< as many steps as one likes: the budget holds whatever their number
  double mu;  ///< each unit's: a step costs it (norm of its clipped gradient/standard deviation of the noise)², and all its steps at most mu²
};

/// gdp(mu): the guarantee that every unit has, whatever it spent. What a unit spent, how many are left and which are a function of the data alone and
/// are never shown.
Plan plan_of(const IndividualTraining& training);
/// How many steps a uniform account would admit: the most with steps · gaussian(noise) within mu.
std::int64_t uniform_steps(const IndividualTraining& training);

/// All steps; told after each, false stops. A unit whose budget does not suffice for a step is left out of it, and may take part in a cheaper one
/// later.
Iterate train_individually(const std::shared_ptr<const Model>& model, const Examples& examples, const IndividualTraining& training, int threads = 0,
                           const std::function<bool(const Iterate&)>& told = {});

}  // namespace sotto
