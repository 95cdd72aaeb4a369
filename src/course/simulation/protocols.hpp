// The sums that protocols compute, in grid units modulo 2^64: message by message, and by algebra. Equal draws give equal sums, to the bit.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "course/api/graph.hpp"
#include "course/api/simulation.hpp"

namespace sotto::course_detail {

using Units = std::uint64_t;  // of the grid; negative numbers wrap around

/// Everything that is random in one run, but for masks that cancel and the shuffler's order, which no sum shows.
struct Draws {
  std::vector<Units> values;                         // of each user
  std::vector<Units> noise;                          // in the order in which the protocol adds it
  std::vector<MaskGraph::User> path;                 // of a token
  std::vector<bool> dropped;                         // users who never publish (gopa)
  std::unordered_map<std::uint64_t, Units> residue;  // masks on edges that one end dropped from, by edge_key: what the lesser user adds
};
inline std::uint64_t edge_key(MaskGraph::User u, MaskGraph::User v) { return static_cast<std::uint64_t>(u) << 32U | v; }

struct Round {
  TrustModel model;
  std::int64_t rounds = 1;  // how often a token passes each user, or a walk's contributions at most
  double mask_scale = 0;    // σ_Δ
  int grid = 0;
};

/// Each party an object that knows its own value and draws, and what messages bring it.
Units sum_by_messages(const Round& round, const MaskGraph& graph, const Draws& draws);
Units sum_by_algebra(const Round& round, const MaskGraph& graph, const Draws& draws);

}  // namespace sotto::course_detail
