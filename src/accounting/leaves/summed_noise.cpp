// Gaussian noise that several parties add, by the μ that is left to a coalition: noise summed by aggregation, a sum around a ring, and GOPA's
// correlated noise. docs/theory/federated.md derives each μ; beside it stands the line of its paper.
#include "accounting/leaves/gaussian_leaf.hpp"
#include "sotto/core/errors.hpp"
#include "privacy/api/federated.hpp"

namespace sotto::accounting_detail {
namespace {

Real distance(const Parameter& sensitivity, std::int64_t units) { return real(units) * reading(sensitivity); }

// GOPA's line at the θ that its theorem bounds; of several rounds θ adds, as μ² does.
Leaf::PublishedLine gopa_line(const Real& theta, const std::string& theorem) {
  return [=](double delta) {
    return Proved<Real>{gopa_epsilon(theta.upper(), delta),
                        "GOPA: the least ε with ε >= θ/2 + sqrt(θ) and (ε - θ/2)² >= 2 log(2/(δ sqrt(2π))) θ",
                        "Sabater2022",
                        {theorem + ": θ <= " + at_most(theta), "δ = " + about(delta)}};
  };
}

}  // namespace

template <>
class Description<AggregatedGaussian> final : public GaussianLeaf {
 public:
  Description(const AggregatedGaussian& node, std::int64_t units)
      : GaussianLeaf(distance(node.sensitivity, units) / reading(node.sigma) / sqrt(reading(node.honest)), false, units) {}
};
template LeafPtr describe(const AggregatedGaussian&, std::int64_t);

template <>
class Description<RingSum> final : public GaussianLeaf {
 public:
  Description(const RingSum& node, std::int64_t units)
      : GaussianLeaf(distance(node.sensitivity, units) / reading(node.sigma), false, units),
        mu_(distance(node.sensitivity, units) / reading(node.sigma)) {}
  [[nodiscard]] std::string note() const override {
    return "ring_sum is what one user sees: two who collude on both sides of a user see all of it, and publishing the sum takes fresh noise";
  }
  [[nodiscard]] std::optional<PublishedLine> published_line(std::int64_t uses) const override {
    return [uses, mu = mu_](double delta) {
      return Proved<Real>{ring_sum_epsilon(mu.upper(), uses, delta),
                          "sum around a ring: advanced composition of the passes",
                          "Cyffers2022",
                          {std::to_string(uses) + " passes", "half of δ = " + about(delta) + " for the noise, half for the composition"}};
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
      : GaussianLeaf(
            distance(node.sensitivity, units) * sqrt_of_nonnegative(gopa_complete_theta(reading(node.sigma), reading(node.mask), count(node.honest))),
            false, units),
        node_(node) {}
  [[nodiscard]] std::optional<PublishedLine> published_line(std::int64_t uses) const override {
    const Real theta = gopa_complete_theorem(reading(node_.sigma), reading(node_.mask), count(node_.honest));
    return gopa_line(real(uses) * square(distance(node_.sensitivity, units())) * theta, "complete graph of honest users, Thm 3");
  }

 private:
  GopaComplete node_;
};
template LeafPtr describe(const GopaComplete&, std::int64_t);

// A bound over all connected graphs: some graph is cheaper, so that nothing is known from below.
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
    auto pair = symmetric_pair(gaussian_loss(max(squared, negligible_loss * negligible_loss)), "Gaussians merge into one: μ² adds", "Dong2022");
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
                            sqrt_of_nonnegative(gopa_connected_theta(reading(node.sigma), reading(node.mask), count(node.honest))),
                        false, units),
        node_(node) {}
  [[nodiscard]] std::optional<PublishedLine> published_line(std::int64_t uses) const override {
    const Real theta = gopa_connected_theorem(reading(node_.sigma), reading(node_.mask), count(node_.honest));
    return gopa_line(real(uses) * square(distance(node_.sensitivity, units())) * theta, "connected honest users, Thm 2");
  }

 private:
  GopaConnected node_;
};
template LeafPtr describe(const GopaConnected&, std::int64_t);

// With probability at most 3δ the graph is bad for one user, whatever the data: then anything may be revealed. For a group it may be bad for any of
// its users. That δ is set aside, or taken out of the share.
template <>
class Description<GopaRandom> final : public BoundedGaussian {
 public:
  Description(const GopaRandom& node, std::int64_t units) : BoundedGaussian(mu_of(node, units), false, units), node_(node) {}
  [[nodiscard]] Real delta() const override { return min(1, bad_graph(node_, units())); }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share, GaussianLine line) const override {
    const Real rest = Real(share) - delta();
    if (!(rest.lower() > 0)) {
      return {{Real::unknown(), share}, "GOPA on a random graph: the graph's own δ is not below the share", "Sabater2022", {}};
    }
    auto own = GaussianLeaf::approximate(rest.lower(), line);
    own.value.delta = share;
    own.conditions.push_back("the graph is bad with probability at most " + at_most(delta()));
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
  [[nodiscard]] std::optional<PublishedLine> published_line(std::int64_t uses) const override {
    if (uses > 1) return std::nullopt;
    return [node = node_, units = units()](double delta) {
      const Real bad = bad_graph(node, units);
      if (!certainly_at_most(bad, Real::reading(delta))) {
        throw OutsideConditions("the paper's line on a random graph holds at 3 times the graph's delta, for each user, " + at_most(bad) +
                                ": ask for a larger delta");
      }
      return gopa_line(square(mu_of(node, units)), "random graph, Thm 4")(reading(node.delta).lower());
    };
  }

 private:
  static Real bad_graph(const GopaRandom& node, std::int64_t units) { return 3 * real(units) * reading(node.delta); }
  static Real mu_of(const GopaRandom& node, std::int64_t units) {
    const RandomGraph graph{count(node.users), count(node.honest), count(node.k), reading(node.delta)};
    return distance(node.sensitivity, units) * sqrt_of_nonnegative(gopa_random_theta(reading(node.sigma), reading(node.mask), graph));
  }

  GopaRandom node_;
};
template LeafPtr describe(const GopaRandom&, std::int64_t);

}  // namespace sotto::accounting_detail
