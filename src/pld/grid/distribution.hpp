// Privacy loss distributions in closed form: masses between two losses under P and under Q, and
// atoms.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

/// A privacy loss distribution is the distribution of L = log dP/dQ, under P and under Q. It has
/// finitely many atoms and, between them, a density with a kink at loss 0 at most. It answers for
/// cells between two edges; a cell lies on one side of 0, and has no atoms in it. Immutable.
class LossDistribution {
 public:
  virtual ~LossDistribution() = default;
  /// A loss, and the value of the noise at which the mechanism has it. The noise value is rounded,
  /// so the edge's true loss may differ from `loss` by loss_error(). All cells use the same rounded
  /// noise values, so the masses between successive edges are those of a partition.
  struct Edge {
    double loss;
    double noise_value;
    double base_slope;  // dℓ/du, ℓ the base's loss and u this one; 1 without sampling
  };
  /// The mass value * e^log. A mass under Q at a large loss may underflow a double.
  struct Mass {
    double value;
    double error_bound;  // relative
    double log = 0;
    /// Returns the mass times e^exponent.
    [[nodiscard]] double times_exp(double exponent) const {
      return value * std::exp(log + exponent);
    }
    /// Returns the mass as a double, which may underflow to 0.
    [[nodiscard]] double as_double() const { return times_exp(0); }
  };
  /// Bounds on the slope of a log density.
  struct Slopes {
    double min, max;
  };
  struct PointMass {
    double loss;
    double loss_error;   // absolute
    double mass;         // under Q, over e^log
    double error_bound;  // relative, of the mass
    double log = 0;
  };
  [[nodiscard]] virtual Edge edge(double loss) const = 0;
  /// Returns a bound on the distance of edge(loss) from its true loss, for every parameter that
  /// rounds to the given one.
  [[nodiscard]] virtual double loss_error(double loss) const = 0;
  /// Return the mass between two losses of the same sign, without atoms, under Q and under P.
  [[nodiscard]] virtual Mass mass_q(const Edge& from, const Edge& to) const = 0;
  [[nodiscard]] virtual Mass mass_p(const Edge& from, const Edge& to) const = 0;
  /// Returns bounds on the slope of the log density under Q between two losses of the same sign.
  [[nodiscard]] virtual Slopes slopes(const Edge& from, const Edge& to) const = 0;
  [[nodiscard]] virtual std::vector<PointMass> atoms() const { return {}; }
  /// Returns true if the atoms are the whole distribution: mass_q and mass_p are 0.
  [[nodiscard]] virtual bool only_atoms() const { return false; }
  [[nodiscard]] virtual double min_loss() const { return -infinity; }
  [[nodiscard]] virtual double max_loss() const { return infinity; }
  /// Returns an upper bound on the P-mass that the distribution leaves out. It is negligible, but
  /// is to be added to δ.
  [[nodiscard]] virtual double truncated_mass() const { return 0; }
  /// Returns the loss around which nearly all mass may lie, closer together than any two grid
  /// points; nullopt if there is none, or if there are atoms elsewhere.
  [[nodiscard]] virtual std::optional<double> bulk() const { return std::nullopt; }
  /// Returns |E_Q[e^(L - bulk) - 1]| between two losses on one side of the bulk, without
  /// cancellation.
  [[nodiscard]] virtual Mass bulk_excess(const Edge& /*from*/, const Edge& /*to*/) const {
    return {0, infinity};
  }
};

using DistributionPtr = std::shared_ptr<const LossDistribution>;

DistributionPtr gaussian_distribution(const RoundedDouble& mu);
DistributionPtr laplace_distribution(const RoundedDouble& x);
DistributionPtr exponential_distribution(const RoundedDouble& x);
/// Arsinh noise: κ = A²/(2σ²) >= 1, shift = Δ/A.
DistributionPtr arsinh_distribution(const RoundedDouble& kappa, const RoundedDouble& shift);
/// Returns the distribution of a Poisson-sampled step. The base must be symmetric.
DistributionPtr poisson_distribution(const DistributionPtr& base, const RoundedDouble& rate,
                                     Direction direction);
/// Returns the distribution of a step sampled without replacement. The base must be symmetric.
DistributionPtr without_replacement_distribution(const DistributionPtr& base,
                                                 const RoundedDouble& rate);

/// Returns a distribution of atoms alone; `truncated` bounds the P-mass that is left out. Throws
/// OutsideConditions unless the losses are finite, and the masses sum to 1 within their errors.
DistributionPtr atoms_distribution(std::vector<LossDistribution::PointMass> atoms,
                                   double truncated);

}  // namespace sotto::pld_detail
