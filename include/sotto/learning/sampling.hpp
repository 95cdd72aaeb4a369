// Batches: how the units of a step are sampled, and the plan event of a step on such a batch.
//
// One value defines both the drawing and the accounting, so that a training cannot sample in one
// way and account for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {

/// Poisson sampling: each unit is in the batch independently with probability `rate`. Its event
/// under add/remove is poisson(rate, ·).
struct PoissonSampling {
  double rate;
  friend bool operator==(const PoissonSampling&, const PoissonSampling&) = default;
};
/// A uniformly random set of `batch` units out of a public number of units, `population`. Its event
/// under replace-one is without_replacement(batch, population, ·).
struct FixedSizeSampling {
  std::int64_t batch;
  std::int64_t population;
  friend bool operator==(const FixedSizeSampling&, const FixedSizeSampling&) = default;
};
/// Every unit is in every batch. Allowed under any relation.
struct FullBatch {
  friend bool operator==(const FullBatch&, const FullBatch&) = default;
};
using Sampling = std::variant<PoissonSampling, FixedSizeSampling, FullBatch>;

/// Returns the event of `step` on a batch drawn in this way. Throws OutsideConditions if no theorem
/// covers this sampling under the relation.
Plan sampled(const Sampling& sampling, const Plan& step, Relation relation);

/// A Sampler draws the batches of a training. It cuts the units into blocks of 4096. The units of a
/// block in a batch depend on the secret, the step and the block only, so any number of threads or
/// processes draws the same batch.
class Sampler {
 public:
  static constexpr std::size_t units_a_block = 4096;
  /// Throws InvalidValue if FixedSizeSampling::population is not `units`.
  Sampler(const Sampling& sampling, std::size_t units);
  [[nodiscard]] std::size_t blocks() const { return (units_ + units_a_block - 1) / units_a_block; }

  /// Returns data that draw() needs for every block of a step; empty except for FixedSizeSampling.
  [[nodiscard]] std::vector<std::uint32_t> start(std::uint64_t step, Stream& stream) const;
  /// Appends to `batch` the units of one block that are in the batch of `step`, in ascending order.
  /// `started` is what start() returned for the step.
  void draw(std::uint64_t step, std::size_t block, const std::vector<std::uint32_t>& started,
            Stream& stream, std::vector<std::uint32_t>& batch) const;

 private:
  Sampling sampling_;
  std::size_t units_;
};

}  // namespace sotto
