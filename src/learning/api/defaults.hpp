// Default training settings that need no tuning. They are computed from public numbers only.
#pragma once

#include "sotto/learning/train.hpp"

namespace sotto {

/// Public numbers that are known before training.
struct PublicFacts {
  double units;     ///< approximate number of units
  double row_norm;  ///< upper bound on the norm of a row (x, 1): row_norm(features, false)
  double mu;        ///< approximate budget, as the μ of one Gaussian release
};

/// Returns default settings for a model.
///
/// Linear models: 80 steps of DP gradient descent on full batches, clipped to norm 1, with
/// momentum, and the mean of the second half of the iterates. Full batches, because at a given cost
/// the relative noise on the mean gradient falls with the batch size [De2022], and a linear model
/// reads its data at the speed of memory. The step size is limited to 4, and such that noise moves
/// a prediction by about 4 at most: the noise in a prediction is about size · steps · row_norm / (1
/// - momentum) / (units · mu).
///
/// Networks under add/remove: 40 epochs of Poisson batches of 2√units, at least 128, gradients
/// clipped to 0.1, and steps of 0.5 with momentum 0.9; [Tramer2021] found this good for networks of
/// this size on three data sets. Under other relations: 200 steps on full batches.
Training default_training(const Model& model, const PublicFacts& facts, Relation relation);

/// Whether clipping can never be active, because the Lipschitz constant of the loss and `row_norm`
/// bound every gradient by the clipping norm.
bool is_never_clipped(const LossFunction& loss, double row_norm, const Clipping& clipping);

}  // namespace sotto
