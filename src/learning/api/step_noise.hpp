// The noise of one training step. The plan charges the events of these objects, and the trainer
// draws with them.
#pragma once

#include <optional>

#include "mechanisms/api/gaussian.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/mechanisms/additive.hpp"

namespace sotto {

/// Returns the noise on the sum of gradients that are clipped to `norm`, in a step of this
/// training. The norm scales the noise and the sensitivity alike, so the event is the same for
/// every norm. Throws InvalidValue if the training has no noise.
GaussianNoise gradient_noise(const Training& training, double norm);
/// Returns the noise on the number of gradients within the norm, less half of all, which adaptive
/// clipping measures in each step. Empty without adaptive clipping.
std::optional<Additive> count_noise(const Training& training);

}  // namespace sotto
