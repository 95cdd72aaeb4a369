// Privacy profiles: the curve δ(ε) of a mechanism, and bounds on its inverse ε(δ).
#pragma once

#include <functional>

#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// A privacy profile: the hockey-stick divergence δ as a non-increasing function of ε >= 0.
struct Profile {
  std::function<Real(double epsilon)> delta;
  /// The max divergence: the least ε with δ(ε) = 0, or infinity.
  double worst_loss;
  /// The limit of δ(ε) for ε to infinity: the probability that the mechanism fails completely.
  Real failure = 0;
};

/// Returns a bound on ε(δ) = inf{ε >= 0 : δ(ε) <= delta}: the least double that is certain to
/// suffice (Side::upper), or a double that is certain not to exceed the exact value (Side::lower).
/// Infinite if no ε suffices.
double epsilon_of(const Profile& profile, double delta, Side side);

}  // namespace sotto
