// The noise of a sampled step, as those see it who split the step's distribution: z under Q, with ℓ = μz - μ²/2 the base's loss. A Gaussian has a
// standard normal z; with other steps beside it z mixes normal distributions of variance 1 and of means up to B/μ, B the others' largest loss.
// Either way the density is entire, at most e^(b²/2) times that at Re z on Im z = b, and its logarithm plus z²/2 is convex.
#pragma once

#include <memory>
#include <vector>

#include "product/joint_density.hpp"
#include "sotto/pld/privacy_loss.hpp"
#include "support.hpp"

namespace sotto::pld_detail {

class BaseNoise {
 public:
  virtual ~BaseNoise() = default;
  struct Value {
    double log;
    Complex density;     // over e^log
    double error_bound;  // the same, absolute
  };
  /// The density at x + ib.
  [[nodiscard]] virtual Value at(double x, double b) const = 0;
  /// About log of the density at a real z.
  [[nodiscard]] virtual double log_near(double z) const = 0;
  /// log of a bound on the density from `low` to `high`.
  [[nodiscard]] virtual double log_above(double low, double high) const = 0;
  /// log of bounds on Q(z < -x), on Q(z > x) and on E_Q[e^ℓ; z > x].
  [[nodiscard]] virtual double log_left(double x) const = 0;
  [[nodiscard]] virtual double log_right(double x) const = 0;
  [[nodiscard]] virtual double log_right_raised(double x) const = 0;
  /// log of a bound on E_Q[e^(2ℓ)].
  [[nodiscard]] virtual double log_square() const = 0;
  /// A bound on the total variation of P and Q.
  [[nodiscard]] virtual double variation() const = 0;
  /// The largest mean, B/μ.
  [[nodiscard]] virtual double beside() const = 0;
};

std::shared_ptr<const BaseNoise> gaussian_noise(const RoundedDouble& mu);
std::shared_ptr<const BaseNoise> joint_noise(std::shared_ptr<const JointDensity> density);

/// What a Poisson-sampled step with such noise tells of itself.
class SampledStep : public PrivacyLoss {
 public:
  /// What z is measured in; relative room that the noise has not taken into account already.
  [[nodiscard]] virtual RoundedDouble mu() const = 0;
  [[nodiscard]] virtual RoundedDouble rate() const = 0;
  [[nodiscard]] virtual Direction direction() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const BaseNoise> noise() const = 0;
};

}  // namespace sotto::pld_detail
