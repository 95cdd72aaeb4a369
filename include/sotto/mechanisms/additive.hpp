// Noise added to numbers: the value that is released and the plan event it costs come from one object.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {

class GaussianNoise;

/// Returns the exponent of the grid that mechanisms take for noise of this scale (a standard deviation, or b of Laplace noise) unless they are given
/// one. The step of the grid is between 2^-10 and 2^-11 of the scale, where doubles are as fine. Throws InvalidValue unless the scale is above 0 and
/// finite.
int grid_for_scale(double scale);

/// Laplace, Gaussian or arsinh noise on a public grid.
///
/// A release of a vector is one event, whose sensitivity is the vector's: L1 for Laplace noise, L2 for Gaussian. Arsinh noise has a theorem
/// for one number alone. A release is the exact rounding of value + real-valued noise to the grid, so it costs what the event says. Results
/// saturate at ±limit().
/// Immutable; threads may share it.
class Additive {
 public:
  /// The mechanism of a plan's leaf: gaussian, laplace or arsinh, without holes. The grid is 2^grid, from public knowledge alone;
  /// without it one that suits the scale. For arsinh noise the event carries the rho of the double that σ is rounded up to.
  explicit Additive(const Plan& leaf, std::optional<int> grid = std::nullopt);
  /// Gaussian noise of this standard deviation, which costs its event. The grid is grid_for_scale.
  explicit Additive(const GaussianNoise& noise);

  /// The value with noise. InvalidValue for NaN and infinities.
  [[nodiscard]] double release(double value) const { return noise_.add(value); }
  /// Each coordinate with noise of its own; together one event. OutsideConditions for arsinh noise on more than one coordinate.
  [[nodiscard]] std::vector<double> release(std::span<const double> values) const;
  /// The same in place: the values are gone. InvalidValue, before any is changed, if one is not finite.
  void release_in_place(std::span<double> values) const;
  /// Each number as a query of its own, with the event's sensitivity: costs as many events as there are numbers.
  [[nodiscard]] std::vector<double> release_each(std::span<const double> values) const;

  /// What one release costs.
  [[nodiscard]] const Plan& event() const { return event_; }
  /// σ of Gaussian noise (inside the arsinh), b of Laplace noise.
  [[nodiscard]] double scale() const { return noise_.scale(); }
  [[nodiscard]] double grid() const;
  /// Releases end at ±limit(), whatever the value: 2^53 grid steps.
  [[nodiscard]] double limit() const { return noise_.limit(); }
  /// Whether a release is at that end: the value, or the noise, was too large for the grid.
  [[nodiscard]] bool saturates(double released) const { return released >= limit() || released <= -limit(); }
  /// How far a release is from the value with this probability: at most this much, rounding included.
  [[nodiscard]] double margin(double probability) const;

 private:
  struct Parts {
    Plan event;
    RoundedNoise noise;
    double bend;
  };
  explicit Additive(Parts parts) : event_(std::move(parts.event)), noise_(parts.noise), bend_(parts.bend) {}
  static Parts make(const Plan& leaf, std::optional<int> grid);

  Plan event_;
  RoundedNoise noise_;
  double bend_;  // A of arsinh noise, else 0
};

/// The least noise for a guarantee; every parameter is rounded to the safe side.
Additive laplace_for(Epsilon epsilon, double l1);
enum class GaussianRule { analytic, classical };  ///< classical: [Dwork2014], ε <= 1 only, with more noise
Additive gaussian_for(Epsilon epsilon, Delta delta, double l2, GaussianRule rule = GaussianRule::analytic);
Additive gaussian_for_zcdp(double rho, double l2);
Additive gaussian_for_renyi(Order order, double epsilon, double l2);
/// The leaf of a plan with holes, calibrated: `100 * gaussian(?)` at (ε, δ) gives the mechanism to apply 100 times. The plan must
/// hold one kind of leaf.
Additive additive_for(const Plan& plan, Epsilon epsilon, Delta delta);

}  // namespace sotto
