// The law of a privacy loss, by its transform: what composes by multiplication.
//
// For a pair (P, Q) the privacy loss is L = log dP/dQ under P. Its transform M(s) = E_P[e^(sL)] is an ordinary function of
// a complex s; k independent steps have M(s)^k. docs/theory/contour.md has the formulas and their proofs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sotto/numerics/complex.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// log M at a point, and how far off it may be. An infinite error: only |M| <= e^(log.re) is known.
struct Transform {
  Complex log;
  double error;
};

/// How far up a line a bound must hold: everywhere, or to half the period of the loss's lattice.
enum class Reach { everywhere, half_period };

/// M on a line Re s = c.
class LossLine {
 public:
  virtual ~LossLine() = default;
  /// Makes ready for |Im s| <= top, so that M is off by at most `tolerance` beside rounding.
  virtual void reach(double top, double tolerance) = 0;
  /// log M(c + it), 0 <= t <= top, for every parameter that rounds to the one given.
  [[nodiscard]] virtual Transform at(double t) const = 0;
  /// An upper bound on log |M(c + iτ)| for every τ >= t within reach.
  [[nodiscard]] virtual double ceiling(double t, Reach reach) const = 0;
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
class Loss {
 public:
  virtual ~Loss() = default;
  [[nodiscard]] virtual std::unique_ptr<LossLine> on(double c) const = 0;
  /// log M(c), roughly: for searches.
  [[nodiscard]] virtual double cumulant(double c) const { return on(c)->at(0).log.re; }
  /// The largest loss, rounded up; infinite if there is none.
  [[nodiscard]] virtual double worst() const { return std::numeric_limits<double>::infinity(); }
  /// What the largest loss surely is and has where it is an atom, rounded down.
  struct Top {
    double loss;
    double log_mass;  ///< of its mass under P
  };
  [[nodiscard]] virtual std::optional<Top> top() const { return std::nullopt; }
  /// The c from which on M(c) is infinite.
  [[nodiscard]] virtual double pole() const { return std::numeric_limits<double>::infinity(); }
  [[nodiscard]] virtual std::optional<Lattice> lattice() const { return std::nullopt; }
  /// Surely -L has under Q the law that L has under P.
  [[nodiscard]] virtual bool symmetric() const { return false; }
  /// The loss of (Q, P), whose transform is E_Q[e^(-sL)], where it is another one and known.
  [[nodiscard]] virtual std::shared_ptr<const Loss> reversed() const { return nullptr; }
  /// The standard deviation of the loss, roughly: where searches start.
  [[nodiscard]] virtual double spread() const = 0;
};

using LossPtr = std::shared_ptr<const Loss>;

/// `count` independent steps with one loss.
struct LossStep {
  LossPtr loss;
  double count;
};

/// A value at loss ℓ > 0 and its mirror at -ℓ: P puts w e^(ℓ/2) on ℓ and w e^(-ℓ/2) on -ℓ, Q the reverse.
struct MirroredAtom {
  Real loss;
  Real weight;  ///< w
};

/// A value at loss u, with its mass under Q.
struct Atom {
  Real loss;
  Real mass;
};

/// An outcome of mass m under P and loss v, and the loss of what follows it.
struct Branch {
  Real mass;
  Real loss;
  std::shared_ptr<const Loss> rest;
};

/// Which neighbour is P: with or without the record.
enum class Direction { remove, add };

/// Gaussian noise, or any number of such steps together: μ² of their sum [Dong2022].
LossPtr gaussian_loss(const Real& squared_mu);
/// Laplace noise, x = Δ/b.
LossPtr laplace_loss(const Real& x);
/// The exponential mechanism's dominating pair [Dong2020].
LossPtr exponential_loss(const Real& epsilon);
/// Finitely many atoms and their mirrors; what mass they leave is at loss 0. `lattice` where they lie on one.
LossPtr mirrored_loss(const std::vector<MirroredAtom>& atoms, std::optional<Lattice> lattice);
/// Discrete Gaussian noise with sensitivity Δ [Canonne2020].
LossPtr discrete_gaussian_loss(const Real& sigma, std::int64_t sensitivity);
/// Noise A arsinh(N(0, σ²)/A) against itself shifted by Δ: κ = A²/(2σ²) >= 1, shift = Δ/A.
LossPtr arsinh_loss(const Real& kappa, const Real& shift);
/// Poisson sampling at rate q of Gaussian noise with μ = Δ/σ.
LossPtr sampled_gaussian_loss(const Real& mu, const Real& rate, Direction direction);
/// Poisson sampling of Laplace noise.
LossPtr sampled_laplace_loss(const Real& x, const Real& rate, Direction direction);
/// Poisson sampling of a symmetric pair with finitely many atoms, all of them given (both signs, and 0), masses under Q.
LossPtr sampled_atoms_loss(const std::vector<Atom>& base, const Real& rate, Direction direction);
/// The losses of removing and of adding a record.
struct SampledPair {
  LossPtr removed;
  LossPtr added;
};
/// Poisson sampling of Gaussian noise together with other steps on the same sample, each of a symmetric pair with a largest loss.
SampledPair sampled_joint_losses(const Real& squared_mu, const std::vector<LossStep>& rest, const Real& rate);
/// Laplace steps of largest loss x, or steps whose loss is x or -x.
struct SumStep {
  Real loss;
  bool laplace;
  std::int64_t count;
};
/// Poisson sampling of such steps, all on one sample; nothing where their joint law has too many pieces.
std::optional<SampledPair> sampled_sum_losses(const std::vector<SumStep>& steps, const Real& rate);
/// First an outcome, then the loss of its branch; all outcomes are given, with masses m and m e^-v that add up to 1.
LossPtr branched_loss(const std::vector<Branch>& branches);
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
LossPtr pieced_loss(const std::vector<LossPiece>& pieces, const std::vector<Atom>& atoms, const Real& rest);
/// Sampling without replacement of Gaussian noise, replace-one: a dominating pair, not an attained one.
LossPtr replaced_gaussian_loss(const Real& mu, const Real& rate);
/// The same of Laplace noise.
LossPtr replaced_laplace_loss(const Real& x, const Real& rate);
/// The same of Gaussian noise together with other steps, each of a symmetric pair with a largest loss.
LossPtr replaced_joint_loss(const Real& squared_mu, const std::vector<LossStep>& rest, const Real& rate);

}  // namespace sotto
