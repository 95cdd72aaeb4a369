// The sums that the protocols compute, in units of a grid modulo 2^64: by simulating every message,
// and by adding up. Both give the same sum, to the bit, for the same draws.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "course/api/graph.hpp"
#include "course/api/simulation.hpp"

namespace sotto::course_detail {

using Units = std::uint64_t;  // a multiple of the grid; negative numbers wrap around

/// The random values of one run, except masks that cancel and the shuffler's permutation, which do
/// not affect the sum.
struct Draws {
  std::vector<Units> values;          // of each user
  std::vector<Units> noise;           // in the order in which the protocol adds it
  std::vector<MaskGraph::User> path;  // of a token
  std::vector<bool> dropped;          // users who never publish (gopa)
  std::unordered_map<std::uint64_t, Units>
      residue;  // masks on edges with one dropped user, by edge_key(): the amount that the smaller
                // user adds
};
/// Returns a key for the edge between u and v, u < v.
inline std::uint64_t edge_key(MaskGraph::User u, MaskGraph::User v) {
  return static_cast<std::uint64_t>(u) << 32U | v;
}

struct Round {
  TrustModel model;
  std::int64_t rounds =
      1;  // contributions of each user: exactly this many on a ring, at most this many on a walk
  double mask_scale = 0;  // σ_Δ
  int grid = 0;
};

/// Simulates every party as an object that knows its own value, its draws, and the messages it
/// received.
Units sum_by_messages(const Round& round, const MaskGraph& graph, const Draws& draws);
/// Adds up what the messages would carry.
Units sum_by_algebra(const Round& round, const MaskGraph& graph, const Draws& draws);

}  // namespace sotto::course_detail
