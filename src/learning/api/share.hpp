// A party's part of a step that several parties take together: its sum of clipped gradients with
// its share of the noise, in whole numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanisms/api/noisy_sum.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// Adds one party's share of a step's noise to the party's sum of clipped gradients, on one grid
/// for all layers.
class GradientShare {
 public:
  GradientShare(const Model& model, const Clipping& clipping, const PartyNoise& share);
  /// The cost of the step to each party's units.
  [[nodiscard]] const Plan& event() const { return noise_.event(); }
  [[nodiscard]] int grid() const { return noise_.grid(); }
  /// Returns Trainer::sum() with fresh noise, in whole steps of 2^grid.
  [[nodiscard]] std::vector<std::int64_t> noisy(std::span<const std::int64_t> sum) const;

 private:
  std::vector<Layer> layers_;
  NoisySum noise_;
};

}  // namespace sotto
