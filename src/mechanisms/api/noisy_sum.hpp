// Gaussian noise on exact sums: sums of whole numbers in layers, and one party's share of a sum
// that several parties add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mechanisms/api/gaussian.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {

/// Gaussian noise on a vector of exact sums.
///
/// The vector consists of layers. In layer l a total t, which is a whole number, stands for t ·
/// 2^exponents[l]. One release of the whole vector is one event. All layers have one grid, which is
/// at least 2^10 times as coarse as every layer's own: the part of a 64-bit total on the grid, and
/// the part below it, are doubles then. So no bit of a total is lost before the noise is added, and
/// a release is rounded as if in exact arithmetic. Immutable; threads may share it.
class NoisySum {
 public:
  NoisySum(const GaussianNoise& noise, std::vector<int> exponents);
  /// One party's noisy sum. The event is that of the sum over all parties.
  NoisySum(const PartyNoise& share, std::vector<int> exponents);

  /// The cost of one release of the vector.
  [[nodiscard]] const Plan& event() const { return event_; }
  /// The standard deviation of the noise on each coordinate.
  [[nodiscard]] double scale() const { return noise_.scale(); }
  /// Releases are multiples of 2^grid().
  [[nodiscard]] int grid() const { return noise_.grid(); }

  /// Returns a total of layer `layer` with noise. Throws InvalidValue if the layer's exponent is
  /// more than 53 below the grid's.
  [[nodiscard]] double release(std::size_t layer, std::int64_t total) const;
  /// Writes the totals of layer `layer`, each with independent noise, into `noisy`, which has the
  /// same size. The noise is drawn in batches, which is faster, and which takes other bits from the
  /// generator than one release after the other.
  void release(std::size_t layer, std::span<const std::int64_t> totals,
               std::span<double> noisy) const;

 private:
  NoisySum(const Plan& event, double scale, std::vector<int> exponents);

  Plan event_;
  std::vector<int> exponents_;
  RoundedNoise noise_;
};

/// One party's share of the noise of a sum of real numbers, on the public grid that all parties
/// agreed on. Immutable; threads may share it.
class NoisyShare {
 public:
  /// The grid is 2^grid, from public knowledge alone.
  NoisyShare(const PartyNoise& share, int grid);

  /// The cost of the whole sum to each party's units.
  [[nodiscard]] const Plan& event() const { return event_; }
  /// The standard deviation of this party's share.
  [[nodiscard]] double scale() const { return noise_.scale(); }
  [[nodiscard]] int grid() const { return noise_.grid(); }

  /// Returns the party's numbers, each with independent noise, in whole steps of 2^grid(). Throws
  /// InvalidValue if a number is not finite.
  [[nodiscard]] std::vector<std::int64_t> release(std::vector<double> numbers) const;

 private:
  Plan event_;
  RoundedNoise noise_;
};

/// Numbers that are multiples of 2^grid, in whole steps of it.
std::vector<std::int64_t> in_grid_steps(std::span<const double> numbers, int grid);

}  // namespace sotto
