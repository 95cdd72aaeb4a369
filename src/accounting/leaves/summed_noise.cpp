// Gaussian noise that several parties add, with the μ that holds against a coalition: aggregated
// noise, a sum around a ring [Cyffers2022], and the correlated noise of GOPA [Sabater2022].
// docs/theory/federated.md derives each μ. published_bound() is the bound of the paper.
#include "accounting/leaves/gaussian_leaf.hpp"
#include "privacy/api/federated.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {
namespace {

Real distance(const Parameter& sensitivity, std::int64_t units) {
  return real(units) * reading(sensitivity);
}

// The published bound of GOPA at the θ of its theorem. θ adds over several rounds, as μ² does.
Leaf::PublishedBound gopa_bound(const Real& theta, const std::string& theorem) {
  return [=](double delta) {
    return Proved<Real>{
        gopa_epsilon(theta.upper(), delta),
        "GOPA: the least ε with ε >= θ/2 + sqrt(θ) and (ε - θ/2)² >= 2 log(2/(δ sqrt(2π))) θ",
        "Sabater2022",
        {theorem + ": θ <= " + rounded_up(theta), "δ = " + rounded_to_nearest(delta)}};
  };
}

}  // namespace

template <>
class Description<AggregatedGaussian> final : public GaussianLeaf {
 public:
  Description(const AggregatedGaussian& node, std::int64_t units)
      : GaussianLeaf(
            distance(node.sensitivity, units) / reading(node.sigma) / sqrt(reading(node.honest)),
            false, units) {}
};
template LeafPtr describe(const AggregatedGaussian&, std::int64_t);

template <>
class Description<RingSum> final : public GaussianLeaf {
 public:
  Description(const RingSum& node, std::int64_t units)
      : GaussianLeaf(distance(node.sensitivity, units) / reading(node.sigma), false, units),
        mu_(distance(node.sensitivity, units) / reading(node.sigma)) {}
  [[nodiscard]] std::string note() const override {
    return "ring_sum is what one user sees: two who collude on both sides of a user see all of it, "
           "and publishing the sum takes fresh noise";
  }
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    return [uses, mu = mu_](double delta) {
      return Proved<Real>{
          ring_sum_epsilon(mu.upper(), uses, delta),
          "sum around a ring: advanced composition of the passes",
          "Cyffers2022",
          {std::to_string(uses) + " passes", "half of δ = " + rounded_to_nearest(delta) +
                                                 " for the noise, half for the composition"}};
    };
  }

 private:
  Real mu_;
};
template LeafPtr describe(const RingSum&, std::int64_t);

template <>
class Description<GopaComplete> final : public GaussianLeaf {
 public:
  Description(const GopaComplete& node, std::int64_t units)
      : GaussianLeaf(distance(node.sensitivity, units) *
                         sqrt_of_nonnegative(gopa_complete_squared_mu(
                             reading(node.sigma), reading(node.mask), count(node.honest))),
                     false, units),
        node_(node) {}
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    const Real theta =
        gopa_complete_theorem(reading(node_.sigma), reading(node_.mask), count(node_.honest));
    return gopa_bound(real(uses) * square(distance(node_.sensitivity, units())) * theta,
                      "complete graph of honest users, Thm 3");
  }

 private:
  GopaComplete node_;
};
template LeafPtr describe(const GopaComplete&, std::int64_t);

// A μ that bounds all connected graphs. Most graphs have a smaller one, so it is no lower bound.
class BoundedGaussian : public GaussianLeaf {
 public:
  using GaussianLeaf::GaussianLeaf;
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (side == Side::lower) return std::nullopt;
    return GaussianLeaf::renyi(order, side);
  }
  [[nodiscard]] std::optional<Real> squared_mu(Side side) const override {
    if (side == Side::lower) return std::nullopt;
    return GaussianLeaf::squared_mu(side);
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    const Real squared = *GaussianLeaf::squared_mu(Side::upper);
    auto pair = symmetric_pair(gaussian_loss(max(squared, negligible_loss * negligible_loss)),
                               "Gaussians merge into one: μ² adds", "Dong2022");
    pair.value.attained = false;
    return pair;
  }
  [[nodiscard]] Base base() const override { return NoBase{}; }
};

template <>
class Description<GopaConnected> final : public BoundedGaussian {
 public:
  Description(const GopaConnected& node, std::int64_t units)
      : BoundedGaussian(distance(node.sensitivity, units) *
                            sqrt_of_nonnegative(gopa_connected_squared_mu(
                                reading(node.sigma), reading(node.mask), count(node.honest))),
                        false, units),
        node_(node) {}
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    const Real theta =
        gopa_connected_theorem(reading(node_.sigma), reading(node_.mask), count(node_.honest));
    return gopa_bound(real(uses) * square(distance(node_.sensitivity, units())) * theta,
                      "connected honest users, Thm 2");
  }

 private:
  GopaConnected node_;
};
template LeafPtr describe(const GopaConnected&, std::int64_t);

// With probability at most 3δ the random graph is bad for a user, independently of the data; then
// everything may be revealed. For a group it may be bad for any of its users. This δ is set aside,
// or subtracted from the share.
template <>
class Description<GopaRandom> final : public BoundedGaussian {
 public:
  Description(const GopaRandom& node, std::int64_t units)
      : BoundedGaussian(mu_of(node, units), false, units), node_(node) {}
  [[nodiscard]] Real delta() const override { return min(1, bad_graph(node_, units())); }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share,
                                                  GaussianConversion conversion) const override {
    const Real rest = Real(share) - delta();
    if (!(rest.lower() > 0)) {
      return {{Real::unknown(), share},
              "GOPA on a random graph: the graph's own δ is not below the share",
              "Sabater2022",
              {}};
    }
    auto own = GaussianLeaf::approximate(rest.lower(), conversion);
    own.value.delta = share;
    own.conditions.push_back("the graph is bad with probability at most " + rounded_up(delta()));
    return own;
  }
  [[nodiscard]] std::optional<Real> squared_mu(Side) const override { return std::nullopt; }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    auto pair = std::get<Proved<DominatingPair>>(BoundedGaussian::pair());
    pair.value.failure = delta();
    pair.theorem = "GOPA on a random graph of honest users";
    pair.reference = "Sabater2022";
    return pair;
  }
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    if (uses > 1) return std::nullopt;
    return [node = node_, units = units()](double delta) {
      const Real bad = bad_graph(node, units);
      if (!certainly_at_most(bad, Real::reading(delta))) {
        throw OutsideConditions(
            "the paper's bound on a random graph needs delta >= 3 times the graph's delta for each "
            "user, which is " +
            rounded_up(bad) + ": choose a larger delta");
      }
      return gopa_bound(square(mu_of(node, units)),
                        "random graph, Thm 4")(reading(node.delta).lower());
    };
  }

 private:
  static Real bad_graph(const GopaRandom& node, std::int64_t units) {
    return 3 * real(units) * reading(node.delta);
  }
  static Real mu_of(const GopaRandom& node, std::int64_t units) {
    const RandomGraph graph{count(node.users), count(node.honest), count(node.k),
                            reading(node.delta)};
    return distance(node.sensitivity, units) * sqrt_of_nonnegative(gopa_random_squared_mu(
                                                   reading(node.sigma), reading(node.mask), graph));
  }

  GopaRandom node_;
};
template LeafPtr describe(const GopaRandom&, std::int64_t);

}  // namespace sotto::accounting_detail
