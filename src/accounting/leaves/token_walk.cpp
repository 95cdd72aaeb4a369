// A token that hops uniformly over all users, and what a coalition sees of one user [Cyffers2022]: by the exact law of the walk, which is revealed.
#include <cmath>

#include "description.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/pld/compose.hpp"
#include "sotto/privacy/federated.hpp"
#include "sotto/privacy/gaussian.hpp"

namespace sotto::accounting_detail {
namespace {

// By the μ of one contribution that nothing hides but its own noise; the loss is a mixture of Gaussians.
class WalkLeaf : public NeedsShare {
 public:
  template <class Node>
  WalkLeaf(const Node& node, std::int64_t units)
      : NeedsShare(units),
        mu_(real(units) * reading(node.sensitivity) / reading(node.sigma)),
        users_(count(node.users)),
        colluders_(count(node.colluders)) {}

  [[nodiscard]] Proved<ApproximateDP> approximate(double share, GaussianLine) const override {
    const auto known = pair();
    const auto& own = std::get<Proved<DominatingPair>>(known);
    const double rest = (Real(share) - own.value.failure).lower();
    const Real epsilon = rest > 0 ? Real(composed_epsilon({{own.value.removed, 1}}, Bound{rest, rest}).upper) : Real::unknown();
    return {{epsilon, share}, own.theorem, own.reference, own.conditions};
  }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return false; }
  [[nodiscard]] const Real& mu() const { return mu_; }
  [[nodiscard]] std::int64_t users() const { return users_; }
  [[nodiscard]] std::int64_t colluders() const { return colluders_; }
  [[nodiscard]] std::vector<Condition> conditions() const {
    return {std::to_string(users_) + " users, " + std::to_string(colluders_) + " collude", "the walk is drawn without the data", "μ = " + about(mu_)};
  }

 private:
  Real mu_;
  std::int64_t users_;
  std::int64_t colluders_;
};

}  // namespace

template <>
class Description<WalkSgd> final : public WalkLeaf {
 public:
  Description(const WalkSgd& node, std::int64_t units) : WalkLeaf(node, units) {}

  [[nodiscard]] std::string note() const override {
    if (is_local()) return "";
    return "walk_sgd holds where every step is a contraction, as with each record's gradient clipped in a convex linear model: else a step costs "
           "gaussian(sigma). Publishing the token after R noises more adds gaussian(sigma sqrt(R))";
  }
  // Everybody else colludes: a contribution is seen under its own noise alone.
  [[nodiscard]] std::optional<Real> squared_mu(Side) const override { return is_local() ? std::optional<Real>(square(mu())) : std::nullopt; }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (side == Side::lower && !is_local()) return std::nullopt;
    const Real local = gaussian_renyi(mu().at(side), order);
    if (!is_local() && std::isfinite(order)) {
      const double used = std::max(order, 1 + 0x1p-14);  // divergences grow with the order
      const LogMgfValue here = loss()->log_mgf(used - 1)->at(0);
      const Real value = Real(here.log.re).widened(here.error) / (Real(used) - 1);
      if (std::isfinite(here.error) && value.upper() < local.upper()) return Proved<Real>{value.upper(), theorem, "Cyffers2022", conditions()};
    }
    return Proved<Real>{local, "a step by itself: Gaussian noise", "Mironov2017", {"μ = " + about(mu())}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoLine) const override {
    return Proved<Real>{gaussian_rho(mu().upper()), "a step by itself: ρ = μ²/2", "Bun2016", {"μ = " + about(mu())}};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    if (is_local()) return symmetric_pair(gaussian_loss(square(mu())), "Gaussian noise: everybody else colludes", "Dong2022");
    auto pair = symmetric_pair(loss(), theorem, "Cyffers2022");
    pair.value.attained = false;
    pair.value.discretized = true;
    pair.conditions = conditions();
    return pair;
  }
  [[nodiscard]] std::optional<PublishedLine> published_line(std::int64_t uses) const override {
    return [uses, mu = mu(), users = users(), colluders = colluders()](double delta) {
      return Proved<Real>{walk_sgd_epsilon(mu.upper(), users, colluders, uses, delta),
                          "gradient steps on a walk: 2μ sqrt(q log(1/δ)), q = max(2K p log(1/p)/(1-p), 2 log(1/δ)), p = (1+c)/n",
                          "Cyffers2022",
                          {"local ε below 1", "δ < 1/2", "the total is small", std::to_string(uses) + " contributions"}};
    };
  }

 private:
  static constexpr const char* theorem = "a step under g noises costs μ²/g, g geometric with (1+c)/n; the walk is revealed";
  [[nodiscard]] bool is_local() const { return colluders() + 1 == users(); }
  [[nodiscard]] PrivacyLossPtr loss() const { return walk_gap_loss(square(mu()), users(), colluders()); }
};
template LeafPtr describe(const WalkSgd&, std::int64_t);

template <>
class Description<WalkSum> final : public WalkLeaf {
 public:
  Description(const WalkSum& node, std::int64_t units) : WalkLeaf(node, units) {}

  [[nodiscard]] std::string note() const override {
    return "walk_sum is one visit of the coalition to the token, and repetitions cap its visits: the walk has to end there. Publishing the sum of a "
           "user's K "
           "terms at most after R noises more adds gaussian(sigma sqrt(R), K)";
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double, Side) const override { return std::nullopt; }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoLine) const override {
    return Refusal{"has no zCDP guarantee: a user may be met any number of times between two visits; use pld"};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    const TruncatedLoss own = walk_cycle_loss(square(mu()), users(), colluders());
    auto pair = symmetric_pair(own.loss, "j terms of a sum under m noises cost μ²j²/m; the walk is revealed", "Cyffers2022");
    pair.value.failure = own.failure;
    pair.value.attained = false;
    pair.value.discretized = true;
    pair.conditions = conditions();
    return pair;
  }
};
template LeafPtr describe(const WalkSum&, std::int64_t);

}  // namespace sotto::accounting_detail
