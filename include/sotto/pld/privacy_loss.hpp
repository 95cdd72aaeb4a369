// The privacy loss of a mechanism, by its moment generating function: what composes by multiplication.
//
// For a pair (P, Q) the privacy loss is L = log dP/dQ under P. Its moment generating function M(s) = E_P[e^(sL)] is a function of
// a complex s; k independent steps have M(s)^k. docs/theory/pld/dominating-pairs.md has the formulas and their proofs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/numerics/complex.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

namespace pld_detail {
class LossDistribution;
}

/// log M at a point, and how far off it may be. An infinite error: only |M| <= e^(log.re) is known.
struct LogMgfValue {
  Complex log;
  double error;
};

/// How far up a line a bound must hold: everywhere, or to half the period of the loss's lattice.
enum class Extent { everywhere, half_period };

/// M on a line Re s = c.
class LogMgf {
 public:
  virtual ~LogMgf() = default;
  /// Makes ready for |Im s| <= top, so that M is off by at most `tolerance` beside rounding.
  virtual void prepare(double top, double tolerance) = 0;
  /// log M(c + it), 0 <= t <= top, for every parameter that rounds to the one given.
  [[nodiscard]] virtual LogMgfValue at(double t) const = 0;
  /// An upper bound on log |M(c + iτ)| for every τ >= t within reach.
  [[nodiscard]] virtual double decay_bound(double t, Extent reach) const = 0;
  /// About how many terms one evaluation of `at` sums.
  [[nodiscard]] virtual double work() const { return 1; }
};

/// All losses lie on start + spacing * whole numbers, each off by at most `relative` of itself and by `absolute`.
struct Lattice {
  double start;
  double spacing;
  double relative;
  double absolute = 0;
};

/// The loss of one step. Immutable.
class PrivacyLoss {
 public:
  virtual ~PrivacyLoss() = default;
  [[nodiscard]] virtual std::unique_ptr<LogMgf> log_mgf(double c) const = 0;
  /// log M(c), roughly: for searches.
  [[nodiscard]] virtual double cumulant(double c) const { return log_mgf(c)->at(0).log.re; }
  /// The largest loss, rounded up; infinite if there is none.
  [[nodiscard]] virtual double max_loss() const { return std::numeric_limits<double>::infinity(); }
  /// What the largest loss surely is and has where it is an atom, rounded down.
  struct MaxLossAtom {
    double loss;
    double log_mass;  ///< of its mass under P
  };
  [[nodiscard]] virtual std::optional<MaxLossAtom> max_loss_atom() const { return std::nullopt; }
  /// The c from which on M(c) is infinite.
  [[nodiscard]] virtual double pole() const { return std::numeric_limits<double>::infinity(); }
  [[nodiscard]] virtual std::optional<Lattice> lattice() const { return std::nullopt; }
  /// Surely -L has under Q the distribution that L has under P.
  [[nodiscard]] virtual bool symmetric() const { return false; }
  /// The loss of (Q, P), whose transform is E_Q[e^(-sL)], where it is another one and known.
  [[nodiscard]] virtual std::shared_ptr<const PrivacyLoss> reversed() const { return nullptr; }
  /// The distribution itself, for discretisation; null where it is not known, or too long to be listed.
  [[nodiscard]] virtual std::shared_ptr<const pld_detail::LossDistribution> distribution() const { return nullptr; }
  /// A Poisson-sampled step by its size (μ or x) and rate: its profile grows with both, in both directions [Balle2018b], so that steps that differ
  /// little can be merged into one kind.
  struct Graded {
    Real size, rate;
    std::function<std::shared_ptr<const PrivacyLoss>(const Real& size, const Real& rate)> with;  ///< the same mechanism with other ones
  };
  [[nodiscard]] virtual std::optional<Graded> graded() const { return std::nullopt; }
  /// The standard deviation of the loss, roughly: where searches start.
  [[nodiscard]] virtual double standard_deviation() const = 0;
};

using PrivacyLossPtr = std::shared_ptr<const PrivacyLoss>;

/// A loss below this (ε or μ) is not composed by itself: its square, and the errors of sums, may underflow. In its place stands one so large from
/// above, and none from below.
inline constexpr double negligible_loss = 0x1p-200;

/// `count` independent steps with one loss.
struct LossStep {
  PrivacyLossPtr loss;
  double count;
};

/// A value at loss ℓ > 0 and its mirror at -ℓ: P puts w e^(ℓ/2) on ℓ and w e^(-ℓ/2) on -ℓ, Q the reverse.
struct SymmetricAtom {
  Real loss;
  Real weight;  ///< w
};

/// A value at loss u, with its mass under Q.
struct Atom {
  Real loss;
  Real mass;
};

/// Which neighbour is P: with or without the record.
enum class Direction { remove, add };

/// Gaussian noise, or any number of such steps together: μ² of their sum [Dong2022].
PrivacyLossPtr gaussian_loss(const Real& squared_mu);
/// Laplace noise, x = Δ/b.
PrivacyLossPtr laplace_loss(const Real& x);
/// The exponential mechanism's dominating pair [Dong2020].
PrivacyLossPtr exponential_loss(const Real& epsilon);
/// Finitely many atoms and their mirrors; what mass they leave is at loss 0. `lattice` where they lie on one.
PrivacyLossPtr symmetric_atoms_loss(const std::vector<SymmetricAtom>& atoms, std::optional<Lattice> lattice);
/// A Gaussian step whose μ² is drawn first, and revealed.
struct GaussianComponent {
  Real squared_mu;
  Real mass;
};
/// Shares of 1 in all; what they leave reveals nothing.
PrivacyLossPtr gaussian_mixture_loss(const std::vector<GaussianComponent>& shares);
/// From above, at most about `most` shares in the place of many: μ² is split between neighbours so that 2Φ(μ/2) - 1 keeps its mean.
std::vector<GaussianComponent> coarsen_mixture(const std::vector<GaussianComponent>& shares, std::size_t most);
/// Discrete Gaussian noise with sensitivity Δ [Canonne2020].
PrivacyLossPtr discrete_gaussian_loss(const Real& sigma, std::int64_t sensitivity);
/// Noise A arsinh(N(0, σ²)/A) against itself shifted by Δ: κ = A²/(2σ²) >= 1, shift = Δ/A.
PrivacyLossPtr arsinh_loss(const Real& kappa, const Real& shift);
/// Poisson sampling at rate q of Gaussian noise with μ = Δ/σ.
PrivacyLossPtr poisson_gaussian_loss(const Real& mu, const Real& rate, Direction direction);
/// Poisson sampling of Laplace noise.
PrivacyLossPtr poisson_laplace_loss(const Real& x, const Real& rate, Direction direction);
/// Poisson sampling of a symmetric pair with finitely many atoms, all of them given (both signs, and 0), masses under Q.
PrivacyLossPtr poisson_atoms_loss(const std::vector<Atom>& base, const Real& rate, Direction direction);
/// The losses of removing and of adding a record.
struct PoissonPair {
  PrivacyLossPtr removed;
  PrivacyLossPtr added;
};
/// Poisson sampling of several steps on the same sample, each of a symmetric pair with a known distribution, by their discretised product: on
/// Side::upper losses that dominate, on Side::lower losses that are dominated. Nothing where they are too many or too large for a grid.
std::optional<PoissonPair> poisson_product_losses(const std::vector<LossStep>& steps, const Real& rate, Side side);
/// The losses above 0 of Gaussian (μ) or Laplace (x) noise from one loss to another, with `share` of their mass.
struct LossPiece {
  enum class Noise { gaussian, laplace };
  Noise noise;
  Real parameter;
  Real share;
  double from;
  double to;  ///< infinite for a Gaussian that has no end
};
/// A symmetric loss from pieces and atoms above 0, masses under Q, and their mirror; what mass they leave, `rest`, is at 0.
PrivacyLossPtr pointwise_maximum_loss(const std::vector<LossPiece>& pieces, const std::vector<Atom>& atoms, const Real& rest);
/// Sampling without replacement of Gaussian noise, replace-one: a dominating pair, not an attained one.
PrivacyLossPtr without_replacement_gaussian_loss(const Real& mu, const Real& rate);
/// The same of Laplace noise.
PrivacyLossPtr without_replacement_laplace_loss(const Real& x, const Real& rate);
/// A loss, and a bound on the probability of outcomes that it leaves out.
struct TruncatedLoss {
  PrivacyLossPtr loss;
  double failure;
};
/// The same of several steps on one sample, from above, by their discretised product. Nothing where they are too many or too large for a grid.
std::optional<TruncatedLoss> without_replacement_product_loss(const std::vector<LossStep>& steps, const Real& rate);
/// n reports of local ε, shuffled, each other one a clone of the two to be told apart with that probability [Feldman2021b], [Feldman2023]: from
/// above, on a lattice.
TruncatedLoss clones_loss(const Real& local, std::int64_t reports, const Real& probability);

}  // namespace sotto
