// The random walk of a token that collects a sum: its path, which no coalition meets too often, and
// its privacy cost.
#pragma once

#include <cstdint>
#include <vector>

#include "course/api/graph.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::course_detail {

/// A token walk passes a partial sum between users. Every hop goes to a uniformly random user,
/// independent of the data. Each user contributes at most `rounds` times and adds noise at every
/// visit. The walk ends after users·rounds hops, or earlier: before any `colluders` users together
/// would hold the token more than visits() times. The path is public, so whoever passes the token
/// on can check this. The sum is published with the noise of publication() further hops.
struct TokenWalk {
  std::int64_t users;
  std::int64_t colluders;
  std::int64_t rounds;

  [[nodiscard]] std::int64_t hops() const { return users * rounds; }
  /// Returns the limit on the visits of `colluders` users together. Any limit would be private;
  /// this one rarely ends a walk early. It is at least the mean, over walks of hops() hops, of the
  /// visits to the `colluders` users that the walk meets most often: v for each, with K(x log x - x
  /// + 1) = log(users/colluders) and x = v/K, by Jensen's inequality from the moments of a Poisson
  /// variable.
  [[nodiscard]] std::int64_t visits() const;
  /// Returns a quarter of the hops, rounded up.
  [[nodiscard]] std::int64_t publication() const { return (hops() + 3) / 4; }
  /// Draws a path.
  [[nodiscard]] std::vector<MaskGraph::User> path() const;
  /// Returns visits() * walk_sum(σ, users, colluders) + gaussian(σ sqrt(R)/K), with R =
  /// publication() and K = rounds. Observers of the truncated walk learn no more than from visits()
  /// whole cycles. The terms that nobody saw before the sum is published are at most K, under R
  /// noises. See docs/theory/federated.md.
  [[nodiscard]] Plan plan(Hole sigma) const;
};

}  // namespace sotto::course_detail
