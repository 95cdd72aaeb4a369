// The privacy profile of composed losses at many ε, from few inversion integrals.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pld/api/privacy_loss.hpp"
#include "sotto/core/bound.hpp"

namespace sotto {

/// A composed curve is the privacy profile ε ↦ δ(ε) of one composition, evaluated at many ε. It
/// caches the nodes of its inversion integrals, and its grids, since those made for one ε are
/// accurate for all ε nearby. Not thread-safe: even delta() changes the cache.
class ComposedCurve {
 public:
  /// A cached integral is used at an ε if its bracket has at most the relative width `tolerance`
  /// there. Every bracket is valid whatever the tolerance is.
  explicit ComposedCurve(std::vector<LossStep> steps, double tolerance = 1e-8);
  ComposedCurve(ComposedCurve&&) noexcept;
  ComposedCurve& operator=(ComposedCurve&&) noexcept;
  ~ComposedCurve();

  /// Returns bounds on δ(ε) within [0, 1], for ε >= 0. Where no inversion integral converges, the
  /// lower bound may be 0.
  [[nodiscard]] Bound delta(double epsilon);
  /// Returns the bounds of an inversion integral if they have the tolerance, nullopt otherwise; [0,
  /// 0] from the largest loss on.
  [[nodiscard]] std::optional<Bound> by_integral(double epsilon);
  /// Returns the largest loss, from which on δ(ε) is 0; infinite if losses are unbounded.
  [[nodiscard]] double max_loss() const;

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace sotto
