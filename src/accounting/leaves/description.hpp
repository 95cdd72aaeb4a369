// How a leaf is described: specialise Description<T>, derived from PureLeaf if it is ε-DP (with or without a δ) or from
// NeedsShare if not, and instantiate `describe`:
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

/// What most leaves answer alike.
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
  [[nodiscard]] std::optional<ProvedOrRefused<TruncatedConcentratedDP>> tcdp() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Real> squared_mu(Side) const override { return std::nullopt; }
  [[nodiscard]] std::optional<PublishedLine> published_line(std::int64_t) const override { return std::nullopt; }
  [[nodiscard]] Noise noise() const override { return Noise::other; }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side) const override { return std::nullopt; }
  [[nodiscard]] std::optional<ApproximateDP> canonical(Side) const override { return std::nullopt; }

 protected:
  /// The number of units, as a real.
  [[nodiscard]] Real k() const { return real(units()); }
};

/// A leaf that is (ε, δ)-DP with the ε of `pure_epsilon` and the δ of `delta`. What is answered here holds for every such mechanism;
/// a description replaces what its own mechanism does better.
class PureLeaf : public OrdinaryLeaf {
 public:
  using OrdinaryLeaf::OrdinaryLeaf;
  [[nodiscard]] Proved<ApproximateDP> approximate(double share, GaussianLine line) const override;
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override;
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoLine line) const override;
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override;
  [[nodiscard]] Base base() const override;

 protected:
  /// The ε of one use.
  [[nodiscard]] Real epsilon() const { return *pure_epsilon(1); }
};

/// A leaf that is (ε, δ)-DP for some ε at each δ > 0 only, unless it reveals nothing: then its pure ε is 0. Converted to (ε, δ) by
/// its tCDP or zCDP guarantee, unless a description has something better.
class NeedsShare : public OrdinaryLeaf {
 public:
  using OrdinaryLeaf::OrdinaryLeaf;
  [[nodiscard]] std::optional<Real> pure_epsilon(const Real&) const override { return reveals_nothing() ? std::optional<Real>(0) : std::nullopt; }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share, GaussianLine line) const override;
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoLine line) const override;
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override;
  [[nodiscard]] Base base() const override;

 protected:
  [[nodiscard]] virtual bool reveals_nothing() const = 0;
};

// --- Theorems that hold whatever the mechanism ---

/// D_α of ε-DP, or of what is left of (ε, δ)-DP when δ is set aside: randomized response dominates [Bun2016].
std::optional<Proved<Real>> pure_renyi_of(const Leaf& leaf, double order, Side side);
/// ρ of ε-DP [Bun2016], [Harrison2025].
Proved<Real> pure_rho_of(const Real& epsilon, RhoLine line);
/// D_α <= ρ α for α <= ω.
std::optional<Proved<Real>> truncated_renyi(const TruncatedConcentratedDP& tcdp, double order, Side side, const std::string& theorem,
                                            const std::string& reference);

/// The lattice of a loss that is the largest of its own, so many of it to a spacing.
Lattice spaced(const Real& loss, double spacings);
/// Randomized response on losses ±ε: P puts e^ε/(1+e^ε) on ε.
PrivacyLossPtr response_loss(const Real& epsilon);

/// A symmetric pair that is attained.
Proved<DominatingPair> symmetric_pair(PrivacyLossPtr loss, std::string theorem, std::string reference);

inline Side opposite(Side side) { return side == Side::upper ? Side::lower : Side::upper; }

}  // namespace sotto::accounting_detail
