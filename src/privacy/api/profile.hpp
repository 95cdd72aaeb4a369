// Privacy profiles: the whole curve δ(ε), and its inverse ε(δ) from both sides.
#pragma once

#include <functional>

#include "sotto/core/bound.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {

/// The hockey-stick divergence as a function of ε >= 0, non-increasing.
struct Profile {
  std::function<Real(double epsilon)> delta;
  /// The max divergence: the ε from which on δ(ε) = 0, or infinity.
  double worst_loss;
  /// The limit of δ(ε) for large ε: the probability of losing everything.
  Real failure = 0;
};

/// ε(δ) = inf{ε >= 0 : δ(ε) <= delta}: the least double that is certainly sufficient (Side::upper), or a double
/// that is certainly not above the exact value (Side::lower). Infinite when no ε suffices.
double epsilon_of(const Profile& profile, double delta, Side side);

}  // namespace sotto
