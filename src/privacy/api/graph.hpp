// Guarantees on a concrete graph of users: correlated noise (GOPA) on the graph of honest users,
// and gossip. These are diagnostics. No participant knows who is honest, so a session is charged
// for gopa_complete, or for a theorem on random graphs. See docs/theory/federated.md.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace sotto {

/// An undirected graph on users 0, 1, …
struct Graph {
  std::size_t users;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
};

/// Returns an upper bound on μ² = e_vᵀ(own² I + mask² L)⁻¹ e_v for every honest user v of GOPA with
/// sensitivity 1, where L is the Laplacian of the graph of honest users, and `own` and `mask` are
/// standard deviations. Solves by Cholesky factorisation in time n³; a solution with residual r has
/// an error of at most |r|/own², which is added. Throws InvalidValue for more than 2000 users.
std::vector<double> gopa_squared_mus(const Graph& honest, double own, double mask);

/// Returns μ² for masks that are uniform modulo the group order: 1/(n_v own²), rounded up, where
/// n_v is the number of users in the connected component of v.
std::vector<double> gopa_uniform_squared_mus(const Graph& honest, double own);

/// Gossip: every user adds noise once, then all values z are averaged in rounds z ← Wz, of which
/// `observer` sees the messages of its neighbours. Returns, for each user u, the share |P e_u|² of
/// (sensitivity/noise)² that remains visible, where P projects on the span of the observer's own
/// value and all messages to it. The messages share their noise, so a sum over messages would not
/// be a bound. `gossip` holds the rows of W, with W_vw > 0 for neighbours. Computed in doubles by
/// orthogonalisation; a message within 10^-10 of the span of the others is taken to lie in it. An
/// upper bound, by a margin of 10^-9, unless W is ill-conditioned.
std::vector<double> gossip_shares(const std::vector<std::vector<double>>& gossip,
                                  std::size_t rounds, std::size_t observer);

}  // namespace sotto
