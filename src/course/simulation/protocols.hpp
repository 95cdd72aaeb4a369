// The sums that simulated protocols compute, in grid units modulo 2^64, by messages and by algebra.
// Equal draws give bitwise equal sums.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "course/api/graph.hpp"
#include "course/api/simulation.hpp"

namespace sotto::course_detail {

using Units = std::uint64_t;  // a number of grid steps; negative numbers wrap around

/// All random values of one run, except the masks that cancel and the shuffler's order, which do
/// not change a sum.
struct Draws {
  std::vector<Units> values;                         // one per user
  std::vector<Units> noise;                          // in the order in which the protocol adds it
  std::vector<MaskGraph::User> path;                 // the users that hold the token, in order
  std::vector<bool> dropped;                         // users who never publish (gopa)
  std::unordered_map<std::uint64_t, Units> residue;  // by edge_key: masks between a dropped user and another one, as the lesser user adds them
};
inline std::uint64_t edge_key(MaskGraph::User u, MaskGraph::User v) { return static_cast<std::uint64_t>(u) << 32U | v; }

/// The parameters of one run.
struct Round {
  TrustModel model;
  std::int64_t rounds = 1;  // visits of the token per user (ring), or the largest number of contributions (walk)
  double mask_scale = 0;    // σ_Δ
  int grid = 0;
};

/// Simulates every user as an object that knows only its value, its draws and the messages it
/// receives.
Units sum_by_messages(const Round& round, const MaskGraph& graph, const Draws& draws);
/// Computes the same sum directly from the draws.
Units sum_by_algebra(const Round& round, const MaskGraph& graph, const Draws& draws);

}  // namespace sotto::course_detail
