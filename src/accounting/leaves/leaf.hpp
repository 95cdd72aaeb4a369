// What the accountants ask of a leaf of a plan: one description a mechanism or stated guarantee, each in a file of this folder.
//
// A new leaf is a struct in plan/plan.hpp with its parameters in plan/fields.hpp, and a Description here (description.hpp says how).
// Every question below is pure virtual, so that a description that leaves one out does not compile, and a leaf without one does not link.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accounting/leaves/parameter_values.hpp"
#include "accounting/api/concentrated.hpp"
#include "sotto/accounting/derivation.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/plan/plan.hpp"
#include "pld/api/privacy_loss.hpp"
#include "privacy/api/definitions.hpp"
#include "privacy/api/profile.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto::accounting_detail {

/// A value with the theorem that gives it.
template <class T>
struct Proved {
  T value;
  std::string theorem;
  std::string reference;  // a key of docs/references.bib
  std::vector<Condition> conditions = {};
};

/// Why there is no such value, as the predicate of a sentence whose subject is the leaf: "has no zCDP guarantee: …; use rdp". Another method is
/// the remedy.
struct Refusal {
  std::string reason;
};

template <class T>
using ProvedOrRefused = std::variant<Proved<T>, Refusal>;

/// A pair of distributions that dominates a mechanism, by its privacy losses.
struct DominatingPair {
  PrivacyLossPtr removed;    // P has the record, Q does not
  PrivacyLossPtr added;      // the other way round; null where it is the same
  Real failure = 0;          // the probability of losing everything: the atom at infinity
  bool attained = true;      // some mechanism that the leaf allows has this very pair
  bool discretized = false;  // moved to a grid, so that some five digits are known
};

/// An ω above every order that is asked for: "at every order".
inline const Real all_orders = 0x1p1000;

/// How a Gaussian step becomes (ε, δ)-DP: by its exact profile, or by ε = μ sqrt(2 log(1.25/δ)).
enum class GaussianLine { exact, classical };

/// Real-valued noise for which sampling theorems are exact.
enum class Noise { gaussian, laplace, other };

/// A leaf's pair as the base of a sampled pair, or beside others in parallel.
struct GaussianBase {
  Real squared_mu;
};
struct LaplaceBase {
  Real max_loss;  // Δ1/b
};
struct CanonicalBase {  // the (ε, δ) pair that dominates every (ε, δ)-DP mechanism
  ApproximateDP guarantee;
  bool attained;
};
/// A symmetric pair on a lattice: Q puts masses[i] on the loss (i - (n-1)/2) spacing, P the same in reverse order. All but `truncated`, with
/// which an outcome is none of these, whatever the neighbour; then anything may be revealed.
struct LatticeBase {
  Real spacing;
  std::vector<Real> masses;
  double truncated = 0;
};
struct NoBase {};  // no pair is known
using Base = std::variant<NoBase, GaussianBase, LaplaceBase, CanonicalBase, LatticeBase>;

/// A leaf, costed for a group of so many units together. Where a side is asked for, Side::upper holds for every mechanism that the leaf
/// allows, and Side::lower is reached by one of them.
class Leaf {
 public:
  explicit Leaf(std::int64_t units) : units_(units) {}
  virtual ~Leaf() = default;
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;

  [[nodiscard]] std::int64_t units() const { return units_; }

  // --- Relation and group ---

  /// The relation under which alone the leaf's parameters have a meaning; empty if its sensitivity or guarantee may be under any.
  [[nodiscard]] virtual std::optional<Relation> fixed_relation() const = 0;
  /// Whether what is answered here for several units is as good as what a whole plan's total would give.
  [[nodiscard]] virtual bool carries_group() const = 0;
  /// What is to be said of this leaf whatever is asked; mostly nothing.
  [[nodiscard]] virtual std::string note() const = 0;

  // --- (ε, δ)-DP ---

  /// The pure ε of so many uses, without the leaf's own δ; empty where no ε is finite. `uses` is multiplied first, so that
  /// 10 * laplace(10) is 1 exactly.
  [[nodiscard]] virtual std::optional<Real> pure_epsilon(const Real& uses) const = 0;
  /// Whether some mechanism that the leaf allows reaches that ε.
  [[nodiscard]] virtual bool reaches_pure_epsilon() const = 0;
  /// The δ that the leaf has by itself.
  [[nodiscard]] virtual Real delta() const = 0;
  /// Whether the leaf is, with probability 1 - δ, a mechanism with finite Rényi divergences.
  [[nodiscard]] virtual bool can_set_delta_aside() const = 0;
  /// (ε, δ) as typed, of a leaf that states nothing else.
  struct Stated {
    double epsilon;
    double delta;
  };
  [[nodiscard]] virtual std::optional<Stated> stated() const = 0;
  /// ε at a δ > 0; a leaf with a pure ε has its own (ε, δ) and ignores the share.
  [[nodiscard]] virtual Proved<ApproximateDP> approximate(double share, GaussianLine line) const = 0;

  // --- Rényi, concentrated and Gaussian DP ---

  /// D_α for α in [1, inf]; empty where it is infinite or nothing is known. With a δ, of what is left when that is set aside.
  [[nodiscard]] virtual std::optional<Proved<Real>> renyi(double order, Side side) const = 0;
  /// Whether on both sides that is the curve of one pair, which has it at all orders.
  [[nodiscard]] virtual bool has_exact_renyi_curve() const = 0;
  /// ρ of zCDP, rounded up.
  [[nodiscard]] virtual ProvedOrRefused<Real> rho(RhoLine line) const = 0;
  /// (ρ, ω) of tCDP; empty where the leaf has none but its ρ at every order.
  [[nodiscard]] virtual std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const = 0;
  /// μ² of Gaussian DP; on the lower side also that of Gaussian noise which has just what the leaf states.
  [[nodiscard]] virtual std::optional<Real> squared_mu(Side side) const = 0;

  /// ε of so many uses at a δ > 0, as the mechanism's own paper states it; nothing where that is no other than what is answered here.
  /// OutsideConditions from the line itself where the paper's conditions do not hold.
  using PublishedLine = std::function<Proved<Real>(double delta)>;
  [[nodiscard]] virtual std::optional<PublishedLine> published_line(std::int64_t uses) const = 0;

  // --- The pair of distributions ---

  [[nodiscard]] virtual Noise noise() const = 0;
  /// δ(ε) of one use in closed form.
  [[nodiscard]] virtual std::optional<Proved<Profile>> profile(Side side) const = 0;
  /// (ε, δ) where the canonical pair of (ε, δ)-DP is the leaf's own, and several uses have a closed form therefore.
  [[nodiscard]] virtual std::optional<ApproximateDP> canonical(Side side) const = 0;
  [[nodiscard]] virtual ProvedOrRefused<DominatingPair> pair() const = 0;
  /// How the leaf behaves under a sampler.
  [[nodiscard]] virtual Base base() const = 0;

 private:
  std::int64_t units_;
};

using LeafPtr = std::shared_ptr<const Leaf>;

/// The description of a leaf of kind T; explicitly instantiated where Description<T> is.
template <class T>
LeafPtr describe(const T& node, std::int64_t units);

/// The description of a plan that is a leaf, null for an operator.
LeafPtr leaf_of(const Plan& plan, std::int64_t units);

/// Whether it holds for some leaf of the plan, each for one unit.
bool any_leaf(const Plan& plan, const std::function<bool(const Leaf&)>& holds);
/// Whether some leaf is (ε, δ)-DP only once it is given a share of δ: no finite ε holds for it at δ = 0.
bool needs_share(const Plan& plan);
/// Whether some leaf has a δ by itself: it may reveal everything with positive probability.
bool can_fail(const Plan& plan);
/// Whether some leaf certainly does so: it has no Rényi divergence, and its δ cannot be set aside.
bool contains_catastrophe(const Plan& plan);

}  // namespace sotto::accounting_detail
