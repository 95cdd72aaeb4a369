// The interface between the accountants and a leaf of a plan. Each mechanism or stated guarantee
// has one description, in a file of this folder.
//
// To add a leaf, add a struct in plan/plan.hpp, its parameters in plan/fields.hpp, and a
// Description in this folder (see description.hpp). All members of Leaf are pure virtual and
// describe() is not defined in general: an incomplete description does not compile, and a leaf
// without a description does not link.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/api/concentrated.hpp"
#include "accounting/leaves/parameter_values.hpp"
#include "pld/api/privacy_loss.hpp"
#include "privacy/api/definitions.hpp"
#include "privacy/api/profile.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto::accounting_detail {

/// A value with the theorem that proves it.
template <class T>
struct Proved {
  T value;
  std::string theorem;
  std::string reference;  // a key of docs/references.bib
  std::vector<Condition> conditions = {};
};

/// The reason why a leaf has no such value. It is the predicate of a sentence whose subject is the
/// leaf, and it names another method: "has no zCDP guarantee: …; use rdp".
struct Refusal {
  std::string reason;
};

template <class T>
using ProvedOrRefused = std::variant<Proved<T>, Refusal>;

/// The privacy losses of a pair of distributions (P, Q) that dominates a mechanism [Zhu2022].
struct DominatingPair {
  PrivacyLossPtr removed;    // P has the record, Q does not
  PrivacyLossPtr added;      // P and Q exchanged; null if both directions are equal
  Real failure = 0;          // the mass of the atom at infinity: everything is revealed
  bool attained = true;      // some mechanism that the leaf allows has exactly this pair
  bool discretized = false;  // the losses are rounded to a grid, which keeps about five digits
};

/// An ω above every order in use, which stands for infinity.
inline const Real all_orders = 0x1p1000;

/// The theorem by which Gaussian noise becomes (ε, δ)-DP.
enum class GaussianConversion {
  exact,      ///< the exact profile [Balle2018a]
  classical,  ///< ε = μ sqrt(2 log(1.25/δ)) [Dwork2014]
};

/// The families of real-valued noise for which sampling theorems are exact.
enum class Noise { gaussian, laplace, other };

// The base pair of a leaf: the form in which its pair enters a sampled pair, or a maximum over
// parts in parallel.

struct GaussianBase {
  Real squared_mu;
};
struct LaplaceBase {
  Real max_loss;  // Δ1/b
};
/// The canonical pair of (ε, δ)-DP, which dominates every (ε, δ)-DP mechanism [Kairouz2015].
struct CanonicalBase {
  ApproximateDP guarantee;
  bool attained;
};
/// A symmetric pair with losses on a lattice: under Q the loss (i - (n-1)/2) spacing has mass
/// masses[i], under P the masses are reversed. With probability at most `truncated` the outcome has
/// none of these losses; then everything may be revealed.
struct LatticeBase {
  Real spacing;
  std::vector<Real> masses;
  double truncated = 0;
};
/// No pair is known.
struct NoBase {};
using Base = std::variant<NoBase, GaussianBase, LaplaceBase, CanonicalBase, LatticeBase>;

/// A leaf of a plan (a mechanism or a stated guarantee), costed for a group of `units` units. A
/// value for Side::upper holds for every mechanism that the leaf allows; a value for Side::lower is
/// attained by one of them.
class Leaf {
 public:
  explicit Leaf(std::int64_t units) : units_(units) {}
  virtual ~Leaf() = default;
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;

  [[nodiscard]] std::int64_t units() const { return units_; }

  // --- Relation and group ---

  /// The only relation under which the leaf's parameters have a meaning; empty if they may be
  /// stated under any relation.
  [[nodiscard]] virtual std::optional<Relation> fixed_relation() const = 0;
  /// Whether the values for several units are as tight as a group conversion of a whole plan's
  /// total.
  [[nodiscard]] virtual bool carries_group() const = 0;
  /// A remark for the user that accompanies every answer about this leaf; mostly empty.
  [[nodiscard]] virtual std::string note() const = 0;

  // --- (ε, δ)-DP ---

  /// The pure ε of `uses` uses, apart from the leaf's own δ; empty if no ε is finite. The
  /// implementation multiplies `uses` first, so that 10 * laplace(10) is exactly 1.
  [[nodiscard]] virtual std::optional<Real> pure_epsilon(const Real& uses) const = 0;
  /// Whether some mechanism that the leaf allows attains pure_epsilon().
  [[nodiscard]] virtual bool reaches_pure_epsilon() const = 0;
  /// The leaf's own δ.
  [[nodiscard]] virtual Real delta() const = 0;
  /// Whether the leaf is a mechanism with finite Rényi divergences with probability 1 - δ.
  [[nodiscard]] virtual bool can_set_delta_aside() const = 0;
  /// The typed numbers of a leaf that states (ε, δ)-DP.
  struct Stated {
    double epsilon;
    double delta;
  };
  /// The stated (ε, δ); empty for any other leaf.
  [[nodiscard]] virtual std::optional<Stated> stated() const = 0;
  /// The (ε, δ)-DP guarantee at δ = `share` > 0. A leaf with a pure ε returns its own (ε, δ) and
  /// ignores `share`.
  [[nodiscard]] virtual Proved<ApproximateDP> approximate(double share,
                                                          GaussianConversion conversion) const = 0;

  // --- Rényi, concentrated and Gaussian DP ---

  /// D_α for α in [1, inf]; empty if it is infinite or unknown. If the leaf has a δ, D_α is
  /// conditional on the event of probability 1 - δ in which it does not fail.
  [[nodiscard]] virtual std::optional<Proved<Real>> renyi(double order, Side side) const = 0;
  /// Whether renyi() is, on both sides and at all orders, the exact curve of one pair.
  [[nodiscard]] virtual bool has_exact_renyi_curve() const = 0;
  /// ρ of zCDP, rounded up.
  [[nodiscard]] virtual ProvedOrRefused<Real> rho(RhoConversion conversion) const = 0;
  /// (ρ, ω) of tCDP; empty if the leaf has only its rho(), which holds at every order.
  [[nodiscard]] virtual std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const = 0;
  /// μ² of Gaussian DP. On Side::lower it may also be the μ² of Gaussian noise that has exactly the
  /// guarantee that the leaf states.
  [[nodiscard]] virtual std::optional<Real> squared_mu(Side side) const = 0;

  /// A function from δ > 0 to ε. It throws OutsideConditions if the conditions of the paper do not
  /// hold.
  using PublishedBound = std::function<Proved<Real>(double delta)>;
  /// The bound on ε of `uses` uses that the mechanism's paper states; empty if it equals the bounds
  /// of the other members.
  [[nodiscard]] virtual std::optional<PublishedBound> published_bound(std::int64_t uses) const = 0;

  // --- The pair of distributions ---

  /// The family of the leaf's noise.
  [[nodiscard]] virtual Noise noise() const = 0;
  /// The privacy profile δ(ε) of one use in closed form; empty if none is known.
  [[nodiscard]] virtual std::optional<Proved<Profile>> profile(Side side) const = 0;
  /// (ε, δ) if the leaf's pair is the canonical pair of (ε, δ)-DP, so that several uses have a
  /// closed form; else empty.
  [[nodiscard]] virtual std::optional<ApproximateDP> canonical(Side side) const = 0;
  /// The dominating pair of one use.
  [[nodiscard]] virtual ProvedOrRefused<DominatingPair> pair() const = 0;
  /// The pair in the form that sampling theorems need.
  [[nodiscard]] virtual Base base() const = 0;

 private:
  std::int64_t units_;
};

using LeafPtr = std::shared_ptr<const Leaf>;

/// Returns the description of a leaf of type T. Explicitly instantiated in the file that defines
/// Description<T>.
template <class T>
LeafPtr describe(const T& node, std::int64_t units);

/// Returns the description of a plan that is a leaf; null for an operator.
LeafPtr leaf_of(const Plan& plan, std::int64_t units);

/// Returns whether `holds` is true for some leaf of the plan, each described for one unit.
bool any_leaf(const Plan& plan, const std::function<bool(const Leaf&)>& holds);
/// Returns whether some leaf has no finite ε at δ = 0, so that it needs a share of the total δ.
bool needs_share(const Plan& plan);
/// Returns whether some leaf has a δ of itself, so that it may reveal everything with positive
/// probability.
bool can_fail(const Plan& plan);
/// Returns whether some leaf reveals everything with positive probability for certain. It has no
/// Rényi divergence, and its δ cannot be set aside.
bool contains_catastrophe(const Plan& plan);

}  // namespace sotto::accounting_detail
