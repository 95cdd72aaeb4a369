// Network DP of a token that walks uniformly over all users: the view of a coalition on one user
// [Cyffers2022]. The bounds use the exact distribution of the walk, which the coalition sees.
#include "pld/api/token_walk.hpp"

#include <cmath>
#include <limits>

#include "accounting/api/composition.hpp"
#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/compose.hpp"
#include "privacy/api/federated.hpp"
#include "privacy/api/gaussian.hpp"

namespace sotto::accounting_detail {
namespace {

// A leaf with the μ of one contribution under its own noise alone; its privacy loss is a mixture of
// Gaussians. A group of k is k users, and the token meets the group when it meets any of them.
// Their terms are added at different hops, so a multiple of the sensitivity does not bound the cost
// (docs/theory/federated.md).
class WalkLeaf : public NeedsShare {
 public:
  template <class Node>
  WalkLeaf(const Node& node, std::int64_t units)
      : NeedsShare(units),
        mu_(reading(node.sensitivity) / reading(node.sigma)),
        users_{.all = count(node.users), .colluders = count(node.colluders), .group = units} {}

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return false; }
  [[nodiscard]] const Real& mu() const { return mu_; }
  [[nodiscard]] const WalkUsers& users() const { return users_; }
  // Whether every user is in the coalition or in the group.
  [[nodiscard]] bool meets_at_every_hop() const {
    return users_.colluders + users_.group >= users_.all;
  }
  [[nodiscard]] std::string note_of(const std::string& about_leaf, const std::string& name) const {
    if (users_.group == 1) return about_leaf;
    return about_leaf + ". A group of " + std::to_string(users_.group) +
           " is this number of users, each of whom changes by the sensitivity of " + name +
           "; if several units may belong to one user, multiply the sensitivity too";
  }
  [[nodiscard]] std::vector<Condition> conditions() const {
    std::vector<Condition> all{
        std::to_string(users_.all) + " users, " + std::to_string(users_.colluders) + " collude",
        "the walk is drawn without the data", "μ = " + rounded_to_nearest(mu_)};
    if (users_.group > 1)
      all.push_back("a group of " + std::to_string(users_.group) +
                    " users, at whichever of whom the token is");
    return all;
  }
  // The profile of one use, from its mixture.
  [[nodiscard]] static Profile profile_of(const std::shared_ptr<const GaussianMixture>& mixture) {
    const Real failure = mixture->failure;
    return {[mixture, failure](double epsilon) {
              return either_failure(failure, gaussian_mixture_delta(mixture->components, epsilon));
            },
            std::numeric_limits<double>::infinity(), failure};
  }

 private:
  Real mu_;
  WalkUsers users_;
};

}  // namespace

template <>
class Description<WalkSgd> final : public WalkLeaf {
 public:
  Description(const WalkSgd& node, std::int64_t units) : WalkLeaf(node, units) {}

  [[nodiscard]] std::string note() const override {
    if (users().colluders + 1 == users().all) return "";
    return note_of(
        "walk_sgd holds where every step is a contraction, as with each record's gradient clipped "
        "in a convex linear model: else a step "
        "costs gaussian(sigma). Publishing the token after R noises more adds gaussian(sigma "
        "sqrt(R))",
        "walk_sgd");
  }
  // If everybody else colludes, each contribution is seen under its own noise alone.
  [[nodiscard]] std::optional<Real> squared_mu(Side side) const override {
    if (!meets_at_every_hop() || (side == Side::lower && units() > 1)) return std::nullopt;
    return k() * square(mu());
  }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share, GaussianConversion) const override {
    const auto known = pair();
    const auto& own = std::get<Proved<DominatingPair>>(known);
    const Profile one = meets_at_every_hop()
                            ? gaussian_profile(sqrt(*squared_mu(Side::upper)).upper())
                            : profile_of(mixture());
    const Real epsilon =
        meets_at_every_hop() || units() == 1
            ? epsilon_of(one, share, Side::upper)
            : composed_epsilon({{own.value.removed, 1}}, Bound{share, share}).upper;
    return {{epsilon, share}, own.theorem, own.reference, own.conditions};
  }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    if (side == Side::lower || units() > 1 || meets_at_every_hop()) return std::nullopt;
    return Proved<Profile>{profile_of(mixture()), theorem, "Cyffers2022", conditions()};
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    const bool local_alone = meets_at_every_hop();
    if (side == Side::lower && (!local_alone || units() > 1)) return std::nullopt;
    const Real local = k() * gaussian_renyi(mu().at(side), order);
    if (!local_alone && std::isfinite(order)) {
      const double used = std::max(order, 1 + 0x1p-14);  // divergences grow with the order
      const LogMgfValue here = loss()->log_mgf(used - 1)->at(0);
      const Real value = Real(here.log.re).widened(here.error) / (Real(used) - 1);
      if (std::isfinite(here.error) && value.upper() < local.upper())
        return Proved<Real>{value.upper(), theorem, "Cyffers2022", conditions()};
    }
    return Proved<Real>{local,
                        "each step by itself: Gaussian noise",
                        "Mironov2017",
                        {"μ = " + rounded_to_nearest(mu())}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion) const override {
    return Proved<Real>{k() * gaussian_rho(mu().upper()),
                        "each step by itself: ρ = μ²/2",
                        "Bun2016",
                        {"μ = " + rounded_to_nearest(mu())}};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    if (meets_at_every_hop()) {
      auto pair = symmetric_pair(gaussian_loss(k() * square(mu())),
                                 "Gaussian noise: everybody else colludes", "Dong2022");
      pair.value.attained = units() == 1;
      return pair;
    }
    auto pair = symmetric_pair(loss(), theorem, "Cyffers2022");
    pair.value.attained = false;
    pair.value.discretized = true;
    pair.conditions = conditions();
    return pair;
  }
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    // The group contributes at each use of each of its users. In the paper's bound all other users
    // of group and coalition end a gap.
    const std::int64_t contributions = times(units(), static_cast<double>(uses));
    const std::int64_t others = users().colluders + users().group - 1;
    return [contributions, others, mu = mu(), all = users().all](double delta) {
      return Proved<Real>{walk_sgd_epsilon(mu.upper(), all, others, contributions, delta),
                          "gradient steps on a walk: 2μ sqrt(q log(1/δ)), q = max(2K p "
                          "log(1/p)/(1-p), 2 log(1/δ)), p = (1+c)/n",
                          "Cyffers2022",
                          {"local ε below 1", "δ < 1/2", "the total is small",
                           std::to_string(contributions) + " contributions"}};
    };
  }

 private:
  static constexpr const char* theorem =
      "a step under g noises costs μ²/g, g geometric with (group + coalition)/n; the walk is "
      "revealed";
  [[nodiscard]] std::shared_ptr<const GaussianMixture> mixture() const {
    return walk_gap_mixture(square(mu()), users());
  }
  // The loss of one contribution of each user of the group.
  [[nodiscard]] PrivacyLossPtr loss() const {
    return repeated_loss(gaussian_mixture_loss(mixture()->components), units());
  }
};
template LeafPtr describe(const WalkSgd&, std::int64_t);

template <>
class Description<WalkSum> final : public WalkLeaf {
 public:
  Description(const WalkSum& node, std::int64_t units) : WalkLeaf(node, units) {}

  [[nodiscard]] std::string note() const override {
    return note_of(
        "walk_sum is one visit of the coalition to the token, and repetitions cap its visits: the "
        "walk has to end there. Publishing the sum "
        "of a user's K terms at most after R noises more adds gaussian(sigma sqrt(R), K)",
        "walk_sum");
  }
  [[nodiscard]] Proved<ApproximateDP> approximate(double share, GaussianConversion) const override {
    return {{epsilon_of(profile_of(mixture()), share, Side::upper), share},
            theorem,
            "Cyffers2022",
            conditions()};
  }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    if (side == Side::lower) return std::nullopt;
    return Proved<Profile>{profile_of(mixture()), theorem, "Cyffers2022", conditions()};
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double, Side) const override {
    return std::nullopt;
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion) const override {
    return Refusal{
        "has no zCDP guarantee: a user may be met any number of times between two visits; use pld"};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    const auto own = mixture();
    auto pair = symmetric_pair(gaussian_mixture_loss(own->components), theorem, "Cyffers2022");
    pair.value.failure = own->failure;
    pair.value.attained = false;
    pair.value.discretized = true;
    pair.conditions = conditions();
    return pair;
  }

 private:
  static constexpr const char* theorem =
      "j terms of a sum under m noises cost μ²j²/m; the walk is revealed";
  [[nodiscard]] std::shared_ptr<const GaussianMixture> mixture() const {
    return walk_cycle_mixture(square(mu()), users());
  }
};
template LeafPtr describe(const WalkSum&, std::int64_t);

}  // namespace sotto::accounting_detail
