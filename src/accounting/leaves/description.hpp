// The base classes of leaf descriptions. To describe a leaf T, specialise Description<T>, derived
// from PureLeaf if T is ε-DP (with or without a δ) and from NeedsShare otherwise, and instantiate
// `describe`:
//
//   template <>
//   class Description<Laplace> final : public PureLeaf { … };
//   template LeafPtr describe(const Laplace&, std::int64_t);
#pragma once

#include "accounting/leaves/leaf.hpp"

namespace sotto::accounting_detail {

template <class T>
class Description;

template <class T>
LeafPtr describe(const T& node, std::int64_t units) {
  return std::make_shared<const Description<T>>(node, units);
}

/// Default values that hold for most leaves.
class OrdinaryLeaf : public Leaf {
 public:
  using Leaf::Leaf;
  [[nodiscard]] std::optional<Relation> fixed_relation() const override { return std::nullopt; }
  [[nodiscard]] bool carries_group() const override { return true; }
  [[nodiscard]] std::string note() const override { return ""; }
  [[nodiscard]] bool reaches_pure_epsilon() const override { return true; }
  [[nodiscard]] Real delta() const override { return 0; }
  [[nodiscard]] bool can_set_delta_aside() const override { return true; }
  [[nodiscard]] std::optional<Stated> stated() const override { return std::nullopt; }
  [[nodiscard]] bool has_exact_renyi_curve() const override { return noise() != Noise::other; }
  [[nodiscard]] std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Real> squared_mu(Side) const override { return std::nullopt; }
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t) const override {
    return std::nullopt;
  }
  [[nodiscard]] Noise noise() const override { return Noise::other; }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side) const override { return std::nullopt; }
  [[nodiscard]] std::optional<ApproximateDP> canonical(Side) const override { return std::nullopt; }

 protected:
  /// The number of units, as a real.
  [[nodiscard]] Real k() const { return real(units()); }
};

/// A leaf that is (ε, δ)-DP with the ε of `pure_epsilon` and the δ of `delta`. The values here hold
/// for every such mechanism; a description overrides those that are tighter for its own mechanism.
class PureLeaf : public OrdinaryLeaf {
 public:
  using OrdinaryLeaf::OrdinaryLeaf;
  [[nodiscard]] Proved<ApproximateDP> approximate(double share,
                                                  GaussianConversion conversion) const override;
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override;
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion conversion) const override;
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override;
  [[nodiscard]] Base base() const override;

 protected:
  /// The ε of one use.
  [[nodiscard]] Real epsilon() const { return *pure_epsilon(1); }
};

/// A leaf that has a finite ε only at δ > 0, unless it reveals nothing and its pure ε is 0. The
/// default converts its tCDP or zCDP guarantee to (ε, δ)-DP; a description may override it.
class NeedsShare : public OrdinaryLeaf {
 public:
  using OrdinaryLeaf::OrdinaryLeaf;
  [[nodiscard]] std::optional<Real> pure_epsilon(const Real&) const override {
    return reveals_nothing() ? std::optional<Real>(0) : std::nullopt;
  }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share,
                                                  GaussianConversion conversion) const override;
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion conversion) const override;
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override;
  [[nodiscard]] Base base() const override;

 protected:
  [[nodiscard]] virtual bool reveals_nothing() const = 0;
};

// --- Theorems for any mechanism ---

/// Returns D_α of an ε-DP leaf: randomized response dominates it [Bun2016]. For an (ε, δ)-DP leaf
/// it is conditional on the event of probability 1 - δ.
std::optional<Proved<Real>> pure_renyi_of(const Leaf& leaf, double order, Side side);
/// Returns ρ of ε-DP, rounded up [Bun2016; Harrison2025].
Proved<Real> pure_rho_of(const Real& epsilon, RhoConversion conversion);
/// Returns the Rényi bound of tCDP: D_α <= ρ α for α <= ω; empty for a larger order.
std::optional<Proved<Real>> truncated_renyi(const TruncatedConcentratedDP& tcdp, double order,
                                            Side side, const std::string& theorem,
                                            const std::string& reference);

/// Returns the lattice whose largest loss is `loss` and whose spacing is `spacings` times that
/// loss.
Lattice spaced(const Real& loss, double spacings);
/// Returns the privacy loss of binary randomized response: ±ε, where P has mass e^ε/(1+e^ε) on ε.
PrivacyLossPtr response_loss(const Real& epsilon);

/// Returns an attained pair whose two directions have the same loss.
Proved<DominatingPair> symmetric_pair(PrivacyLossPtr loss, std::string theorem,
                                      std::string reference);

inline Side opposite(Side side) { return side == Side::upper ? Side::lower : Side::upper; }

}  // namespace sotto::accounting_detail
