// A token that walks from user to user and sums their values: its path, on which no coalition holds
// it too often, and the plan that it costs.
#pragma once

#include <cstdint>
#include <vector>

#include "course/api/graph.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::course_detail {

/// Every hop goes to a uniformly random user, independent of the data. A user contributes at most
/// `rounds` times and adds noise at every visit. The walk ends after users·rounds hops, or earlier,
/// before any `colluders` users together would hold the token more than visits() times. The path is
/// public, so every user can tell. The sum is published with the noise of publication() more hops.
struct TokenWalk {
  std::int64_t users;
  std::int64_t colluders;
  std::int64_t rounds;

  [[nodiscard]] std::int64_t hops() const { return users * rounds; }
  /// An upper bound on the mean number of visits to the `colluders` users with the most visits,
  /// over walks of hops() hops. It is v for each of them, with K(x log x - x + 1) =
  /// log(users/colluders) and x = v/K, by Jensen's inequality from the moments of a Poisson
  /// variable. Privacy holds for any number, since the walk enforces it.
  [[nodiscard]] std::int64_t visits() const;
  /// A quarter of the hops.
  [[nodiscard]] std::int64_t publication() const { return (hops() + 3) / 4; }
  [[nodiscard]] std::vector<MaskGraph::User> path() const;
  /// Returns visits() * walk_sum(σ, users, colluders) + gaussian(σ sqrt(R)/K). A walk that ends
  /// early reveals no more than visits() whole cycles, and the published sum has at most K terms
  /// that nobody saw, under R noises. The proof is in docs/theory/federated.md.
  [[nodiscard]] Plan plan(Hole sigma) const;
};

}  // namespace sotto::course_detail
