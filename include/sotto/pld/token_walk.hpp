// What a coalition sees of a token that hops uniformly over all users, as a mixture of Gaussian steps over the walk, which is revealed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sotto/pld/privacy_loss.hpp"

namespace sotto {

/// Users among whom a token hops, those of them who collude, and the users of a group, whose terms are protected together.
struct WalkUsers {
  std::int64_t all;
  std::int64_t colluders;
  std::int64_t group = 1;
};

/// Gaussian steps of which one is drawn and revealed. Its failure bounds the probability of walks that are left out.
struct GaussianMixture {
  std::vector<GaussianComponent> components;
  double failure = 0;
};

/// One contribution of a user of the group, of Gaussian cost μ² by itself, from above: μ²/g, with g the hops until the group or the coalition is met
/// again.
std::shared_ptr<const GaussianMixture> walk_gap_mixture(const Real& squared_mu, const WalkUsers& users);
/// The terms of the group in a running sum between two visits of the coalition, from above: μ² j²/m for j terms under m noises.
std::shared_ptr<const GaussianMixture> walk_cycle_mixture(const Real& squared_mu, const WalkUsers& users);

/// δ(ε) of a mixture's shares for an ε >= 0, rounded up.
double gaussian_mixture_delta(const std::vector<GaussianComponent>& shares, double epsilon);

/// So many independent steps with one loss, as one step.
PrivacyLossPtr repeated_loss(const PrivacyLossPtr& one, std::int64_t times);

}  // namespace sotto
