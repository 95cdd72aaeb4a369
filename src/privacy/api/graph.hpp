// What is left to a coalition on a graph that is given: correlated noise on the honest users' graph, and gossip. Diagnostics: nobody who takes part
// knows who is honest, so that what is charged is `gopa_complete` or a theorem on random graphs. docs/theory/federated.md.
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

/// θ_v = e_vᵀ(own² I + mask² L)⁻¹ e_v of GOPA for every honest user v, L the Laplacian of the honest users' graph: exactly μ² for a sensitivity of 1,
/// from above. By Cholesky's factorisation; a solution x with residual r is off by at most |r|/own², which is added. Cost n³: InvalidValue above 2000
/// users.
std::vector<double> gopa_thetas(const Graph& honest, double own, double mask);

/// The same for masks that are uniform modulo the group: 1/(n_v own²), n_v the users in v's component; rounded up.
std::vector<double> gopa_uniform_thetas(const Graph& honest, double own);

/// Noise once, then rounds of gossip z ← Wz: the share |P e_u|² of the squared (sensitivity over noise) that `observer` sees of each user u, P the
/// projection on the span of the observer's own value and of all messages of its neighbours together. W is row by row, with W_vw > 0 for
/// neighbours. The messages share their noise: a sum over messages is no bound. Computed in doubles by orthogonalisation; a message within
/// 10^-10 of the span of the others counts as theirs. From above by 10^-9 for entries that are not ill-conditioned.
std::vector<double> gossip_shares(const std::vector<std::vector<double>>& gossip, std::size_t rounds, std::size_t observer);

}  // namespace sotto
