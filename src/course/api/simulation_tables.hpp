// The numbers of the papers on learning without a trusted curator, recomputed, and the exact ones.
#pragma once

#include <cstdint>
#include <vector>

namespace sotto {

/// The noise of GOPA at ε = 0.1, δ' = 1/n_H², δ = 10 δ' by [Sabater2022, Cor 1]: of a user, and of
/// a mask on different graphs.
struct GopaNoiseRow {
  double users, honest;
  double noise;     ///< σ_η
  double complete;  ///< σ_Δ on the complete graph
  double random,
      degree;  ///< σ_Δ on a random graph by Theorem 4, and the least degree of that theorem
  double realised, picks;  ///< σ_Δ on one random graph in which each user makes few picks, with
                           ///< every user checked; NaN above 1000 users
  double connected;        ///< σ_Δ if it is only known that the honest users are connected
};
std::vector<GopaNoiseRow> gopa_noise_table();

/// The exact cost of the noise that the theorem requires for ε = 0.1.
struct GopaEpsilonRow {
  double users, honest, degree;
  double theorem;             ///< the ε of the theorem, 0.1
  double exact;               ///< from the theorem's θ and the exact Gaussian profile
  double realised;            ///< on one random graph of this degree, with every user checked
  double noise, exact_noise;  ///< σ_η by the theorem, and the exact one on the complete graph with
                              ///< 1 % of the variance left to the masks
};
std::vector<GopaEpsilonRow> gopa_epsilon_table();

/// The number of others that each user must pick. `uniform`: such that the honest users are
/// connected except with probability 2^-40 (a union bound over their components), which is enough
/// for masks that are uniform modulo the group. `theorem`: the degree that Theorem 4 requires for
/// Gaussian masks.
struct ConnectivityRow {
  double users, honest;
  double uniform, theorem;
};
std::vector<ConnectivityRow> connectivity_table();
/// Returns log2 of the probability that the honest users are not connected.
double log2_disconnected(std::int64_t users, std::int64_t honest, std::int64_t degree);

/// A walk with 2n ln(1/δ)/ln n contributions of each user and the noise with which it is (1,
/// δ)-network-DP.
struct NetworkGainRow {
  double users, contributions;
  double noise;  ///< σ for sensitivity 1
  double local;  ///< ε of these contributions under local DP
  double root;   ///< √(n / ln n)
};
std::vector<NetworkGainRow> network_gain_table(double delta = 1e-6);

/// A walk of 100 n hops, each with the classical noise of ε₀ = 0.1, at δ = 1e-7 [Cyffers2022, Fig.
/// 1].
struct NetworkEpsilonRow {
  double users;
  double paper_local, paper_network;
  double local, sum, learning;  ///< exact ε: of 100 local contributions, of 100 visits of another
                                ///< user, of 100 gradient steps
};
std::vector<NetworkEpsilonRow> network_epsilon_table();

}  // namespace sotto
