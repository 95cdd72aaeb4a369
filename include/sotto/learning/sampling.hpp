// Batches: how the units of a step are chosen, and the plan event that this makes of the step.
//
// A batch that is drawn one way and accounted for another is the most common mistake of private learning; here one value does both.
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

/// Each unit is in the batch with this probability, independently of the others. For add/remove: poisson(rate, ·).
struct PoissonSampling {
  double rate;
  friend bool operator==(const PoissonSampling&, const PoissonSampling&) = default;
};
/// So many of the units, each set of them with the same probability. How many units there are is public: for replace-one,
/// without_replacement(batch, population, ·).
struct FixedSizeSampling {
  std::int64_t batch;
  std::int64_t population;
  friend bool operator==(const FixedSizeSampling&, const FixedSizeSampling&) = default;
};
/// Every unit in every step, under any relation.
struct FullBatch {
  friend bool operator==(const FullBatch&, const FullBatch&) = default;
};
using Sampling = std::variant<PoissonSampling, FixedSizeSampling, FullBatch>;

/// The event of a step on such a batch. OutsideConditions where no theorem covers this sampling under the relation.
Plan sampled(const Sampling& sampling, const Plan& step, Relation relation);

/// Draws batches. The units are cut into blocks of 4096: a block's part of a batch depends on the secret, the step and the block alone, so that any
/// number of threads or processes draws the same batch.
class Sampler {
 public:
  static constexpr std::size_t units_a_block = 4096;
  /// InvalidValue if a public population is not the number of units.
  Sampler(const Sampling& sampling, std::size_t units);
  [[nodiscard]] std::size_t blocks() const { return (units_ + units_a_block - 1) / units_a_block; }

  /// What all blocks of a step need to know; empty but for batches of a fixed size.
  [[nodiscard]] std::vector<std::uint32_t> start(std::uint64_t step, Stream& stream) const;
  /// Appends the units of one block that are in the step's batch, in order.
  void draw(std::uint64_t step, std::size_t block, const std::vector<std::uint32_t>& started, Stream& stream,
            std::vector<std::uint32_t>& batch) const;

 private:
  Sampling sampling_;
  std::size_t units_;
};

}  // namespace sotto
