// Recomputes figures of papers on learning without a trusted curator, with the exact values for
// comparison.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

/// GOPA at ε = 0.1, δ' = 1/n_H², δ = 10 δ' by [Sabater2022, Cor 1]: a user's noise, and the masks'
/// noise for several graphs.
struct GopaNoiseRow {
  double users, honest;
  double noise;            ///< σ_η
  double complete;         ///< σ_Δ on the complete graph
  double random, degree;   ///< σ_Δ on a random graph by Theorem 4, and the graph's least degree
  double realised, picks;  ///< σ_Δ on one random graph of `picks` edges per user, computed for every user; NaN above 1000 users
  double connected;        ///< σ_Δ if the honest users are only known to be connected
};
std::vector<GopaNoiseRow> gopa_noise_table();

/// The exact cost of the noise that the theorem prescribes for ε = 0.1.
struct GopaEpsilonRow {
  double users, honest, degree;
  double theorem;             ///< 0.1
  double exact;               ///< ε of the exact profile at the theorem's θ
  double realised;            ///< ε on one random graph of that degree, computed for every user
  double noise, exact_noise;  ///< σ_η by the theorem, and exactly on the complete graph with a hundredth of the variance left to masks
};
std::vector<GopaEpsilonRow> gopa_epsilon_table();

/// The number of other users that each user must pick so that the honest users are connected,
/// except with probability 2^-40 (a union bound over their components), which suffices for masks
/// that are uniform modulo the group; and the number that Theorem 4 requires.
struct ConnectivityRow {
  double users, honest;
  double uniform, theorem;
};
std::vector<ConnectivityRow> connectivity_table();
/// Returns log2 of the bound on the probability that the honest users are not connected.
double log2_disconnected(std::int64_t users, std::int64_t honest, std::int64_t degree);

/// A walk with N = 2n ln(1/δ)/ln n contributions of each user, and the noise that makes it
/// (1, δ)-network-DP.
struct NetworkGainRow {
  double users, contributions;
  double noise;  ///< σ for sensitivity 1
  double local;  ///< ε of that noise under local DP
  double root;   ///< √(n / ln n)
};
std::vector<NetworkGainRow> network_gain_table(double delta = 1e-6);

/// A walk of 100 n hops with ε₀ = 0.1 each by the classical formula, δ = 1e-7 [Cyffers2022, Fig.
/// 1].
struct NetworkEpsilonRow {
  double users;
  double paper_local, paper_network;
  double local, sum, learning;  ///< exact ε at that noise: 100 contributions, 100 visits of another user, 100 gradient steps
};
std::vector<NetworkEpsilonRow> network_epsilon_table();

}  // namespace sotto
