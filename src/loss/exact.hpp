// Profiles that are sums as they are written: of one step whose law is known, of steps that each have two losses, of few with narrow discrete noise.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "law.hpp"
#include "sotto/core/bound.hpp"
#include "sotto/loss/loss.hpp"
#include "support.hpp"

namespace sotto::loss_detail {

/// δ at ε, from both sides.
using Profile = std::function<Bound(double)>;

/// One step whose law is known: P(L > ε) - e^ε Q(L > ε).
std::optional<Profile> single_profile(const std::vector<LossStep>& steps);
/// Steps of at least two kinds, each of whose losses are ±ε_i: a sum over how many of each are positive (the composition of [Murtagh2016]).
std::optional<Profile> counted_profile(const std::vector<LossStep>& steps);

/// Few steps of narrow discrete Gaussian noise: the sum of their noises.
std::optional<Profile> convolved_profile(const std::vector<LossStep>& steps);
/// One step of several mechanisms on a sample: by their own profile. It takes as long as that, again and again.
std::optional<Profile> once_profile(const std::vector<LossStep>& steps);
/// A loss by a share below the largest and log of the mass above it under P, both rounded down.
std::optional<Loss::Top> next_to_largest(const LossLaw& law, double share);

/// ε at δ, by halving; at `worst` δ is 0.
Bound inverse_of(const Profile& profile, Bound delta, double worst);

/// A loss that is ε or -ε, as that of randomized response.
class TwoLosses {
 public:
  virtual ~TwoLosses() = default;
  [[nodiscard]] virtual std::optional<Near> either() const = 0;
};

/// The loss of symmetric steps that are all on one Poisson sample.
class OnSample {
 public:
  virtual ~OnSample() = default;
  struct Parts {
    std::vector<LossStep> base;
    Near rate;
    Direction direction;
  };
  [[nodiscard]] virtual Parts parts() const = 0;
};

/// The loss of discrete Gaussian noise.
class WholeNoise {
 public:
  virtual ~WholeNoise() = default;
  [[nodiscard]] virtual Near sigma() const = 0;
  [[nodiscard]] virtual double sensitivity() const = 0;
};

}  // namespace sotto::loss_detail
