// The law of a weighted sum of independent noises: what the error of a derived number is.
#pragma once

#include <span>

#include "sotto/random/noise.hpp"

namespace sotto {

/// A weight and how many noises have it.
struct Weight {
  double size;
  double times = 1;
};

/// The probability that |Σ weight · noise| exceeds `distance`, each noise of this kind and scale.
/// From above: of Gaussian and of many Laplace noises to a part in a million, of two or three
/// Laplace noises that are nearly alike as if some were a thousandth larger.
double tail(NoiseKind kind, double scale, std::span<const Weight> weights, double distance);

/// The distance that it exceeds with this probability, in (0, 1).
double distance_at(NoiseKind kind, double scale, std::span<const Weight> weights,
                   double probability);

}  // namespace sotto
