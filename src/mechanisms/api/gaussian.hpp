// The size of Gaussian noise and the plan event that the noise costs, in one object, before the
// grid of the noise is known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sotto/numerics/real.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// The specification of Gaussian noise: a standard deviation, and the plan event of one release
/// under this noise.
///
/// Both come from the same two numbers, so that no caller states the standard deviation a second
/// time. An object of this type draws nothing. The mechanisms that draw (Additive, NoisySum) are
/// made from it, and each charges its event. Immutable; threads may share it.
class GaussianNoise {
 public:
  /// Noise for numbers that one unit moves by at most `moved` · `length` in L2. The standard
  /// deviation is `multiplier` · `length`, rounded up, and the event is gaussian(multiplier,
  /// moved). DP-SGD states its noise in this way: the length is the clipping norm, and the
  /// multiplier is σ. Throws InvalidValue unless `multiplier` and `moved` are above 0 and finite.
  GaussianNoise(double multiplier, const Real& length, double moved = 1);
  /// The noise of a plan leaf: the event is the leaf, and the standard deviation is its sigma.
  /// Throws InvalidValue unless the leaf is gaussian and without holes.
  explicit GaussianNoise(const Plan& leaf);

  /// The cost of one release.
  [[nodiscard]] const Plan& event() const { return event_; }
  /// The standard deviation of the noise on each number.
  [[nodiscard]] double scale() const { return scale_; }
  /// The largest L2 distance by which one unit moves the numbers, rounded up.
  [[nodiscard]] double sensitivity() const { return sensitivity_; }

 private:
  Plan event_;
  double scale_;
  double sensitivity_;
};

/// One party's share of the noise of a sum: `honest` such shares together are Gaussian noise of the
/// sum's standard deviation.
///
/// Every party adds its own share to its own numbers, so that no party has to trust another one
/// with its numbers. Immutable; threads may share it.
class PartyNoise {
 public:
  /// `honest` is the number of shares that are certain to be in the sum and unknown to any
  /// coalition, at least 1.
  PartyNoise(const GaussianNoise& sum, std::int64_t honest);

  /// The cost of the whole sum to each party's units, without the slack for rounding
  /// (rounded_sum_slack).
  [[nodiscard]] const Plan& event() const { return sum_.event(); }
  /// The noise of `honest` shares together.
  [[nodiscard]] const GaussianNoise& sum() const { return sum_; }
  /// The standard deviation of this party's share: that of the sum divided by √honest, rounded up.
  [[nodiscard]] double scale() const { return scale_; }
  /// The exponent of a grid that suits the share.
  [[nodiscard]] int grid() const;
  /// The standard deviation of the noise in a sum of so many shares, in round-to-nearest.
  [[nodiscard]] double scale_of(std::size_t shares) const;

 private:
  GaussianNoise sum_;
  double scale_;
};

}  // namespace sotto
