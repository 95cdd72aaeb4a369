// Noise added to numbers: the value that is released and the plan event it costs come from one
// object.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {

class GaussianNoise;

/// Returns the exponent of the grid that mechanisms take for noise of this scale (a standard
/// deviation, or b of Laplace noise) unless they are given one. The step of the grid is between
/// 2^-10 and 2^-11 of the scale, where doubles are as fine. Throws InvalidValue unless the scale is
/// above 0 and finite.
int grid_for_scale(double scale);

/// The additive mechanism: it releases numbers with Laplace, Gaussian or arsinh noise, rounded to a
/// public grid.
///
/// A release of a vector is one event, whose sensitivity is that of the vector, in L1 for Laplace
/// noise and in L2 for Gaussian noise. The theorem on arsinh noise is for one number. A release is
/// the value plus real-valued noise, rounded to the grid as if in exact arithmetic. Rounding is
/// post-processing, so a release costs its event. Results saturate at ±limit(). Immutable; threads
/// may share it.
class Additive {
 public:
  /// The mechanism of a plan leaf: gaussian, laplace or arsinh, without holes. The grid is 2^grid,
  /// which must depend on public knowledge alone; by default it is grid_for_scale. The σ of arsinh
  /// noise is rounded up to a double, and the event has the rho of this double. Throws InvalidValue
  /// for any other plan.
  explicit Additive(const Plan& leaf, std::optional<int> grid = std::nullopt);
  /// Gaussian noise of noise.scale(), which costs noise.event(). The grid is grid_for_scale.
  explicit Additive(const GaussianNoise& noise);

  /// Returns the value with noise. Throws InvalidValue if the value is not finite.
  [[nodiscard]] double release(double value) const { return noise_.add(value); }
  /// Returns the vector with independent noise on each coordinate, at the cost of one event. Throws
  /// OutsideConditions for arsinh noise on more than one coordinate.
  [[nodiscard]] std::vector<double> release(std::span<const double> values) const;
  /// Adds the noise to the values themselves, as `release` does to a copy. Throws InvalidValue,
  /// before any value changes, if a value is not finite.
  void release_in_place(std::span<double> values) const;
  /// Releases each number as a separate query with the event's sensitivity. This costs one event
  /// for every number.
  [[nodiscard]] std::vector<double> release_each(std::span<const double> values) const;

  /// The cost of one release.
  [[nodiscard]] const Plan& event() const { return event_; }
  /// The standard deviation of Gaussian noise (for arsinh noise, of the Gaussian inside the
  /// arsinh), or b of Laplace noise.
  [[nodiscard]] double scale() const { return noise_.scale(); }
  [[nodiscard]] double grid() const;
  /// The largest magnitude of a release, 2^53 grid steps.
  [[nodiscard]] double limit() const { return noise_.limit(); }
  /// Whether a release is at ±limit(), because the value or the noise was too large for the grid.
  [[nodiscard]] bool saturates(double released) const {
    return released >= limit() || released <= -limit();
  }
  /// Returns a bound on the distance between a release and the value that holds with this
  /// probability, rounding to the grid included.
  [[nodiscard]] double margin(double probability) const;

 private:
  struct Parts {
    Plan event;
    RoundedNoise noise;
    double bend;
  };
  explicit Additive(Parts parts)
      : event_(std::move(parts.event)), noise_(parts.noise), bend_(parts.bend) {}
  static Parts make(const Plan& leaf, std::optional<int> grid);

  Plan event_;
  RoundedNoise noise_;
  double bend_;  // A of arsinh noise, or 0
};

/// These functions return the mechanism with the least noise for a guarantee. Every parameter is
/// rounded to the safe side.
Additive laplace_for(Epsilon epsilon, double l1);
enum class GaussianRule {
  analytic,
  classical
};  ///< classical: [Dwork2014], ε <= 1 only, with more noise
Additive gaussian_for(Epsilon epsilon, Delta delta, double l2,
                      GaussianRule rule = GaussianRule::analytic);
Additive gaussian_for_zcdp(double rho, double l2);
Additive gaussian_for_renyi(Order order, double epsilon, double l2);
/// Returns the mechanism of a plan's leaf after calibration of its holes: for `100 * gaussian(?)`
/// at (ε, δ), the mechanism to apply 100 times. Throws InvalidValue if the plan has different
/// leaves.
Additive additive_for(const Plan& plan, Epsilon epsilon, Delta delta);

}  // namespace sotto
