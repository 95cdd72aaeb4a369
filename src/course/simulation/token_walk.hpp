// The walk of a token on which values are summed up: a path that no coalition meets too often, and the plan that it costs.
#pragma once

#include <cstdint>
#include <vector>

#include "course/api/graph.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::course_detail {

/// Every hop goes to one of the users, uniformly, whatever the data. Each contributes `rounds` times at most and adds noise at every visit. The walk
/// ends after users·rounds hops, or sooner, before any `colluders` users together would hold the token more than visits() times: the path is public,
/// so whoever passes the token on can tell. The sum is published under the noise of publication() hops more.
struct TokenWalk {
  std::int64_t users;
  std::int64_t colluders;
  std::int64_t rounds;

  [[nodiscard]] std::int64_t hops() const { return users * rounds; }
  /// At least the mean, over walks of that many hops, of the visits to the `colluders` users whom each meets most: v of each with
  /// K(x log x - x + 1) = log(users/colluders), x = v/K, by Jensen's inequality from the moments of a Poisson variable. Any number would be private.
  [[nodiscard]] std::int64_t visits() const;
  /// A quarter of the hops.
  [[nodiscard]] std::int64_t publication() const { return (hops() + 3) / 4; }
  [[nodiscard]] std::vector<MaskGraph::User> path() const;
  /// visits() * walk_sum(σ, users, colluders) + gaussian(σ sqrt(R)/K): the walk with its end cut off is seen no better than `visits()` whole cycles,
  /// and what nobody has seen when the sum is published are K terms at most under R noises. docs/theory/federated.md.
  [[nodiscard]] Plan plan(Hole sigma) const;
};

}  // namespace sotto::course_detail
