// Settings that need no tuning: everything from public numbers.
#pragma once

#include "sotto/learning/train.hpp"

namespace sotto {

/// What is publicly known before training.
struct PublicFacts {
  double units;     ///< about how many there are
  double row_norm;  ///< no row (x, 1) is longer: row_norm(features, false) of learning/row_norm.hpp
  double mu;        ///< what the training may spend, about: that of one Gaussian release with its budget
};

/// DP-GD for a linear model: every unit in every step, 80 of them, clipped to norm 1, with momentum, and the mean of the second half of the iterates.
///
/// All units in each step: at a given cost the noise on the mean gradient, relative to it, falls with the batch [De2022], and a linear model reads
/// its data at the speed of memory. The step size lets noise move a prediction by about four at most, four steps of noise-free descent at most: noise
/// adds up to size · steps · row_norm / (1 - momentum) / (units · mu) in a prediction.
///
/// A network under add/remove: 40 epochs of Poisson batches of 2√units, at least 128, gradients clipped to 0.1, steps of 0.5 with momentum 0.9, as
/// [Tramer2021] found good for nets of this size on three data sets; under other relations 200 steps on all units.
Training default_training(const Model& model, const PublicFacts& facts, Relation relation);

/// Whether clipping can never be active: the loss is Lipschitz, and rows are bounded, so that no gradient is longer than the norm.
bool is_never_clipped(const LossFunction& loss, double row_norm, const Clipping& clipping);

}  // namespace sotto
