// Privacy losses of decentralised learning by a token that hops uniformly over all users: mixtures
// of Gaussian steps over the walk, which a coalition sees. docs/theory/federated.md derives them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pld/api/privacy_loss.hpp"

namespace sotto {

/// The users of a token walk: their number, the colluders among them, and the size of the group
/// whose contributions are protected together.
struct WalkUsers {
  std::int64_t all;
  std::int64_t colluders;
  std::int64_t group = 1;
};

/// A mixture of Gaussian steps: one component is drawn by its mass, revealed, and run. Walks that
/// are left out of the mixture have at most the probability `failure`, to be added to δ.
struct GaussianMixture {
  std::vector<GaussianComponent> components;
  double failure = 0;
};

/// Returns a mixture that dominates one contribution of a user of the group, a Gaussian step with
/// the given μ² if it were seen at once. The coalition sees it after g noises, so with μ²/g, where
/// g is the number of hops until the token meets the group or the coalition again.
std::shared_ptr<const GaussianMixture> walk_gap_mixture(const Real& squared_mu,
                                                        const WalkUsers& users);
/// Returns a mixture that dominates the group's terms in a running sum between two visits of the
/// coalition: j terms of the group under m noises cost μ² j²/m.
std::shared_ptr<const GaussianMixture> walk_cycle_mixture(const Real& squared_mu,
                                                          const WalkUsers& users);

/// Returns an upper bound on δ(ε) of a mixture, for ε >= 0, in closed form.
double gaussian_mixture_delta(const std::vector<GaussianComponent>& components, double epsilon);

/// Returns the loss of `times` independent steps with one loss, as the loss of a single step.
PrivacyLossPtr repeated_loss(const PrivacyLossPtr& one, std::int64_t times);

}  // namespace sotto
