// The privacy loss of a mechanism, given by its moment generating function.
//
// For a pair of distributions (P, Q) the privacy loss is L = log dP/dQ under P. Its moment
// generating function is M(s) = E_P[e^(sL)] for complex s. Losses of independent steps add, so k
// equal steps have M(s)^k. docs/theory/pld/dominating-pairs.md has each mechanism's pair and
// proofs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "numerics/api/complex.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

namespace pld_detail {
class LossDistribution;
}

/// The value of log M(s) and a bound on its absolute error. If the error is infinite, only
/// |M(s)| <= e^(log.re) is known.
struct LogMgfValue {
  Complex log;
  double error;
};

/// The part of a vertical line on which a decay bound holds: all of it, or up to half the period of
/// the loss's lattice.
enum class Extent { everywhere, half_period };

/// log M on a vertical line Re s = c in the complex plane, with bounds on all errors, and for every
/// parameter that rounds to the given double (docs/theory/pld/moment-generating-functions.md).
class LogMgf {
 public:
  virtual ~LogMgf() = default;
  /// Chooses the inner quadrature for |Im s| <= top. `tolerance` is the error of M, relative to
  /// M(c), that quadrature and truncation should not exceed; `at` reports the error that they have.
  virtual void prepare(double top, double tolerance) = 0;
  /// Returns log M(c + it) for 0 <= t <= top.
  [[nodiscard]] virtual LogMgfValue at(double t) const = 0;
  /// Returns an upper bound on log |M(c + iτ)| for every τ >= t within `reach`: a decay bound
  /// (docs/theory/pld/inversion-integral.md, "Truncation and decay bounds").
  [[nodiscard]] virtual double decay_bound(double t, Extent reach) const = 0;
  /// Returns about how many terms one evaluation of `at` sums.
  [[nodiscard]] virtual double work() const { return 1; }
};

/// A lattice of losses: all losses are start + spacing * n for whole numbers n, each to within
/// `relative` of its own size plus `absolute`.
struct Lattice {
  double start;
  double spacing;
  double relative;
  double absolute = 0;
};

/// The privacy loss of one step of a mechanism, for one of its neighbouring pairs (P, Q).
/// Immutable, and safe for concurrent callers.
class PrivacyLoss {
 public:
  virtual ~PrivacyLoss() = default;
  /// Returns log M on the line Re s = c, for 0 < c < pole().
  [[nodiscard]] virtual std::unique_ptr<LogMgf> log_mgf(double c) const = 0;
  /// Returns an estimate of log M(c), without a bound on its error, for searches.
  [[nodiscard]] virtual double cumulant(double c) const { return log_mgf(c)->at(0).log.re; }
  /// Returns the largest loss, rounded up; infinite if losses are unbounded.
  [[nodiscard]] virtual double max_loss() const { return std::numeric_limits<double>::infinity(); }
  /// The atom at the largest loss: lower bounds on its loss and on the log of its mass under P.
  struct MaxLossAtom {
    double loss;
    double log_mass;
  };
  /// Returns the atom at the largest loss; nullopt if the largest loss has no mass.
  [[nodiscard]] virtual std::optional<MaxLossAtom> max_loss_atom() const { return std::nullopt; }
  /// Returns the c from which on M(c) is infinite.
  [[nodiscard]] virtual double pole() const { return std::numeric_limits<double>::infinity(); }
  /// Returns the lattice that all losses lie on, if there is one.
  [[nodiscard]] virtual std::optional<Lattice> lattice() const { return std::nullopt; }
  /// Returns true if -L under Q is known to have the distribution of L under P: a symmetric pair.
  [[nodiscard]] virtual bool symmetric() const { return false; }
  /// Returns the loss of the swapped pair (Q, P); null if the pair is symmetric, or it is unknown.
  [[nodiscard]] virtual std::shared_ptr<const PrivacyLoss> reversed() const { return nullptr; }
  /// Returns the distribution of L, for discretisation; null if it is unknown or has too many
  /// atoms.
  [[nodiscard]] virtual std::shared_ptr<const pld_detail::LossDistribution> distribution() const {
    return nullptr;
  }
  /// A Poisson-sampled step as a member of a family with two parameters: its size (μ or x) and its
  /// rate. Its profile grows with both, in both directions [Balle2018b], so similar steps can be
  /// replaced by one member that dominates them all.
  struct SampledFamily {
    Real size, rate;
    std::function<std::shared_ptr<const PrivacyLoss>(const Real& size, const Real& rate)> member;
  };
  /// Returns the step's family and its own parameters, if it belongs to one.
  [[nodiscard]] virtual std::optional<SampledFamily> sampled_family() const { return std::nullopt; }
  /// Returns an estimate of the standard deviation of the loss, from which searches start.
  [[nodiscard]] virtual double standard_deviation() const = 0;
};

using PrivacyLossPtr = std::shared_ptr<const PrivacyLoss>;

/// The smallest ε or μ that is composed as it is, since squares of smaller ones may underflow. A
/// caller replaces a smaller one by this value for an upper bound, and leaves it out for a lower
/// one.
inline constexpr double negligible_loss = 0x1p-200;

/// `count` independent steps with one loss.
struct LossStep {
  PrivacyLossPtr loss;
  double count;
};

/// An atom at loss ℓ > 0 and its mirror at -ℓ: P puts w e^(ℓ/2) on ℓ and w e^(-ℓ/2) on -ℓ, Q the
/// reverse.
struct SymmetricAtom {
  Real loss;
  Real weight;  ///< w
};

/// An atom of the base's loss distribution, with its mass under Q.
struct Atom {
  Real loss;
  Real mass;
};

/// The neighbour that is P: the data with the record (it is removed), or without it (it is added).
enum class Direction { remove, add };

/// Returns the loss of Gaussian noise with the given μ²; several such steps have the sum of their
/// μ² [Dong2022].
PrivacyLossPtr gaussian_loss(const Real& squared_mu);
/// Returns the loss of Laplace noise, x = Δ/b.
PrivacyLossPtr laplace_loss(const Real& x);
/// Returns the loss of the exponential mechanism's dominating pair [Dong2020].
PrivacyLossPtr exponential_loss(const Real& epsilon);
/// Returns a symmetric loss with finitely many atoms and their mirrors; the remaining mass is at
/// loss 0. `lattice` is the lattice of all losses, if there is one.
PrivacyLossPtr symmetric_atoms_loss(const std::vector<SymmetricAtom>& atoms,
                                    std::optional<Lattice> lattice);
/// One component of a mixture of Gaussian steps: its μ² and its probability.
struct GaussianComponent {
  Real squared_mu;
  Real mass;
};
/// Returns the loss of a Gaussian step whose μ² is drawn from the components, and revealed. Their
/// masses sum to at most 1; the remaining probability reveals nothing.
PrivacyLossPtr gaussian_mixture_loss(const std::vector<GaussianComponent>& components);
/// Returns a dominating mixture of at most about `max_components`. Each μ² is split between two
/// neighbours of a grid so that the total variation distance 2Φ(μ/2) - 1 keeps its mean.
std::vector<GaussianComponent> coarsen_mixture(const std::vector<GaussianComponent>& components,
                                               std::size_t max_components);
/// Returns the loss of discrete Gaussian noise with sensitivity Δ [Canonne2020].
PrivacyLossPtr discrete_gaussian_loss(const Real& sigma, std::int64_t sensitivity);
/// Returns the loss of arsinh noise A arsinh(N(0, σ²)/A), shifted by Δ: κ = A²/(2σ²) >= 1 and
/// shift = Δ/A.
PrivacyLossPtr arsinh_loss(const Real& kappa, const Real& shift);
/// Returns the loss of Gaussian noise, μ = Δ/σ, on a Poisson sample at the given rate.
PrivacyLossPtr poisson_gaussian_loss(const Real& mu, const Real& rate, Direction direction);
/// Returns the loss of Laplace noise, x = Δ/b, on a Poisson sample.
PrivacyLossPtr poisson_laplace_loss(const Real& x, const Real& rate, Direction direction);
/// Returns the loss of a mechanism with finitely many losses on a Poisson sample. `base` lists
/// every atom of its symmetric pair: both signs, and the one at 0.
PrivacyLossPtr poisson_atoms_loss(const std::vector<Atom>& base, const Real& rate,
                                  Direction direction);
/// The losses of removing and of adding a record.
struct PoissonPair {
  PrivacyLossPtr removed;
  PrivacyLossPtr added;
};
/// Returns the losses of several mechanisms on one Poisson sample, by their discretised product: on
/// Side::upper losses that dominate the exact ones, on Side::lower losses that they dominate. Each
/// step must be symmetric with a known distribution. nullopt if the steps are too many, or their
/// losses too large, for a grid of doubles.
std::optional<PoissonPair> poisson_product_losses(const std::vector<LossStep>& steps,
                                                  const Real& rate, Side side);
/// An interval of losses above 0 on which a pointwise maximum has the density of Gaussian (μ) or
/// Laplace (x) noise, times `share`.
struct LossPiece {
  enum class Noise { gaussian, laplace };
  Noise noise;
  Real parameter;
  Real share;
  double from;
  double to;  ///< infinite for the unbounded tail of a Gaussian
};
/// Returns the symmetric loss of a pointwise maximum of profiles: pieces and atoms above 0, with
/// masses under Q, their mirror images below 0, and the remaining mass `rest` at 0.
PrivacyLossPtr pointwise_maximum_loss(const std::vector<LossPiece>& pieces,
                                      const std::vector<Atom>& atoms, const Real& rest);
/// Returns the loss of Gaussian noise on a sample without replacement, under replace-one. The pair
/// dominates; no mechanism is known to attain it.
PrivacyLossPtr without_replacement_gaussian_loss(const Real& mu, const Real& rate);
/// Returns the loss of Laplace noise on a sample without replacement, by a dominating pair, too.
PrivacyLossPtr without_replacement_laplace_loss(const Real& x, const Real& rate);
/// A loss from which outcomes of at most the probability `failure` are left out. It is added to δ.
struct TruncatedLoss {
  PrivacyLossPtr loss;
  double failure;
};
/// Returns a loss that dominates several mechanisms on one sample without replacement, by their
/// discretised product; nullopt if the steps are too many, or their losses too large, for a grid.
std::optional<TruncatedLoss> without_replacement_product_loss(const std::vector<LossStep>& steps,
                                                              const Real& rate);
/// Returns a loss on a lattice that dominates n shuffled reports of a local ε. Each other report
/// is, with the given probability, a clone: a fair coin between the two reports to be distinguished
/// [Feldman2021b], [Feldman2023].
TruncatedLoss clones_loss(const Real& local, std::int64_t reports, const Real& probability);

}  // namespace sotto
