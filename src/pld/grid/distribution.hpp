// The privacy loss distribution itself, where it has a closed form: masses under P and Q between two losses, and atoms.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "pld/arithmetic/support.hpp"

namespace sotto::pld_detail {

class LossDistribution {
 public:
  virtual ~LossDistribution() = default;
  /// A loss as the distribution sees it. It is taken to be another one, the same for every call, within `off` of it: so the masses between many
  /// losses are those of a partition.
  struct Edge {
    double loss;
    double place;  // where the noise has it
    double rate;   // how fast the base's loss moves with this one
  };
  /// value e^log: under Q a large loss may have a mass that is no double.
  struct Mass {
    double value;
    double error_bound;  // relative
    double log = 0;
    [[nodiscard]] double at(double pessimistic) const { return value * std::exp(log + pessimistic); }
  };
  struct Slopes {
    double least, most;
  };
  struct PointMass {
    double loss;
    double loss_error;   // absolute
    double mass;         // under Q, over e^log
    double error_bound;  // relative
    double log = 0;
  };
  [[nodiscard]] virtual Edge edge(double loss) const = 0;
  [[nodiscard]] virtual double loss_error(double loss) const = 0;
  /// What lies between two losses of one sign, beside the atoms, under Q and under P.
  [[nodiscard]] virtual Mass mass_q(const Edge& from, const Edge& to) const = 0;
  [[nodiscard]] virtual Mass mass_p(const Edge& from, const Edge& to) const = 0;
  /// The least and the largest slope of log of the density under Q between two losses of one sign.
  [[nodiscard]] virtual Slopes slopes(const Edge& from, const Edge& to) const = 0;
  [[nodiscard]] virtual std::vector<PointMass> atoms() const { return {}; }
  /// There is nothing beside them.
  [[nodiscard]] virtual bool only_atoms() const { return false; }
  /// The least and the largest loss.
  [[nodiscard]] virtual double min_loss() const { return -infinity; }
  [[nodiscard]] virtual double max_loss() const { return infinity; }
  /// P's mass that is not told, above the largest loss, at most: as good as nothing.
  [[nodiscard]] virtual double truncated_mass() const { return 0; }
  /// Where the losses of nearly all outcomes may be concentrated, closer than any two grid points are, if that is anywhere and there is no other
  /// atom.
  [[nodiscard]] virtual std::optional<double> bulk() const { return std::nullopt; }
  /// E_Q[e^(L - bulk) - 1] between two losses on one side of the bulk: its size.
  [[nodiscard]] virtual Mass bulk_excess(const Edge& /*from*/, const Edge& /*to*/) const { return {0, infinity}; }
};

using DistributionPtr = std::shared_ptr<const LossDistribution>;

DistributionPtr gaussian_distribution(const RoundedDouble& mu);
DistributionPtr laplace_distribution(const RoundedDouble& x);
DistributionPtr exponential_distribution(const RoundedDouble& x);
/// Arsinh noise: κ = A²/(2σ²) >= 1, shift = Δ/A.
DistributionPtr arsinh_distribution(const RoundedDouble& kappa, const RoundedDouble& shift);
/// Poisson sampling of one of these.
DistributionPtr poisson_distribution(const DistributionPtr& base, const RoundedDouble& rate, Direction direction);
/// Sampling without replacement of one of these.
DistributionPtr without_replacement_distribution(const DistributionPtr& base, const RoundedDouble& rate);

/// Nothing but atoms; `truncated` bounds the P-mass that is left out.
DistributionPtr atoms_distribution(std::vector<LossDistribution::PointMass> atoms, double truncated);

}  // namespace sotto::pld_detail
