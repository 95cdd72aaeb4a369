// The figures of the papers on learning without a trusted curator, recomputed, beside the exact ones.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

/// GOPA at ε = 0.1, δ' = 1/n_H², δ = 10 δ' by [Sabater2022, Cor 1]: the noise of a user, and of a mask by graph.
struct GopaNoiseRow {
  double users, honest;
  double noise;            ///< σ_η
  double complete;         ///< σ_Δ on the complete graph
  double random, degree;   ///< on a random graph by Theorem 4, and its least degree
  double realised, picks;  ///< on one random graph of a small degree, every user checked; NaN above a thousand users
  double connected;        ///< where it is only known that the honest users are connected
};
std::vector<GopaNoiseRow> gopa_noise_table();

/// The same noise at the theorem's ε = 0.1: what it really costs.
struct GopaEpsilonRow {
  double users, honest, degree;
  double theorem;             ///< 0.1
  double exact;               ///< by the theorem's θ, in the exact profile
  double realised;            ///< by one random graph of that degree, every user checked
  double noise, exact_noise;  ///< σ_η by the theorem, and the exact one on the complete graph but for a hundredth of the variance
};
std::vector<GopaEpsilonRow> gopa_epsilon_table();

/// How many others each user must pick so that the honest users are connected but with probability 2^-40 (a union bound over their components):
/// enough for masks that are uniform modulo the group. Beside it the degree that Theorem 4 asks for.
struct ConnectivityRow {
  double users, honest;
  double uniform, theorem;
};
std::vector<ConnectivityRow> connectivity_table();
/// log2 of that probability.
double log2_disconnected(std::int64_t users, std::int64_t honest, std::int64_t degree);

/// A walk with N = 2n ln(1/δ)/ln n contributions of each user, with the noise for which it is (1, δ)-network-DP.
struct NetworkGainRow {
  double users, contributions;
  double noise;  ///< σ for sensitivity 1
  double local;  ///< ε of the same under local DP
  double root;   ///< √(n / ln n)
};
std::vector<NetworkGainRow> network_gain_table(double delta = 1e-6);

/// A walk of 100 n hops, ε₀ = 0.1 each by the classical line, δ = 1e-7 [Cyffers2022, Fig. 1].
struct NetworkEpsilonRow {
  double users;
  double paper_local, paper_network;
  double local, sum, learning;  ///< exact at the same noise: 100 contributions, 100 visits of another user, 100 gradient steps
};
std::vector<NetworkEpsilonRow> network_epsilon_table();

}  // namespace sotto
