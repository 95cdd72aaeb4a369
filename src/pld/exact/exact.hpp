// Profiles that are sums as they are written: of one step whose distribution is known, of steps that each have two losses, of few with narrow
// discrete noise.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "grid/distribution.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/pld/privacy_loss.hpp"
#include "support.hpp"

namespace sotto::pld_detail {

/// δ at ε, from both sides.
using Profile = std::function<Bound(double)>;

/// One step whose distribution is known: P(L > ε) - e^ε Q(L > ε).
std::optional<Profile> single_profile(const std::vector<LossStep>& steps);
/// Steps of at least two kinds, each of whose losses are ±ε_i: a sum over how many of each are positive (the composition of [Murtagh2016]).
std::optional<Profile> counted_profile(const std::vector<LossStep>& steps);

/// Few steps of narrow discrete Gaussian noise: the sum of their noises.
std::optional<Profile> convolved_profile(const std::vector<LossStep>& steps);
/// One step of several mechanisms on a sample: by their own profile. It takes as long as that, again and again.
std::optional<Profile> once_profile(const std::vector<LossStep>& steps);
/// A loss by a share below the largest and log of the mass above it under P, both rounded down.
std::optional<PrivacyLoss::MaxLossAtom> next_to_largest(const LossDistribution& distribution, double share);

/// ε at δ, by halving; at `worst` δ is 0.
Bound inverse_of(const Profile& profile, Bound delta, double worst);

/// A loss that is ε or -ε, as that of randomized response.
class TwoLosses {
 public:
  virtual ~TwoLosses() = default;
  [[nodiscard]] virtual std::optional<RoundedDouble> either() const = 0;
};

/// The loss of symmetric steps that are all on one Poisson sample.
class OnSample {
 public:
  virtual ~OnSample() = default;
  struct Parts {
    std::vector<LossStep> base;
    RoundedDouble rate;
    Direction direction;
  };
  [[nodiscard]] virtual Parts parts() const = 0;
};

/// The loss of discrete Gaussian noise.
class WholeNoise {
 public:
  virtual ~WholeNoise() = default;
  [[nodiscard]] virtual RoundedDouble sigma() const = 0;
  [[nodiscard]] virtual double sensitivity() const = 0;
};

}  // namespace sotto::pld_detail
