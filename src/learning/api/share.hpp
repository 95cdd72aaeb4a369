// A party's part of a step that several parties take together: its sum of clipped gradients with its share of the noise, in whole numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/learning/model.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {

/// Noise of one party, on one grid for all layers.
class NoiseShare {
 public:
  /// `scale`: the standard deviation of this party's noise on every coordinate.
  NoiseShare(const Model& model, const Clipping& clipping, double scale);
  [[nodiscard]] int grid() const { return noise_.grid(); }
  /// Trainer::sum() and fresh noise, in whole steps of 2^grid.
  [[nodiscard]] std::vector<std::int64_t> noisy(std::span<const std::int64_t> sum) const;

 private:
  std::vector<Layer> layers_;
  std::vector<int> exponents_;
  RoundedNoise noise_;
};

}  // namespace sotto
