// Who shares a mask with whom: the graph of an aggregation.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace sotto {

/// An undirected graph on the users 0, …, users - 1, without loops. The complete one keeps no list of its edges.
class MaskGraph {
 public:
  using User = std::uint32_t;
  using Edge = std::pair<User, User>;  ///< the first is less than the second

  static MaskGraph complete(std::int64_t users);
  /// Every user picks `out` others, without replacement; {u, v} is an edge if one of them picked the other [Sabater2022]. 1 <= out < users.
  static MaskGraph random(std::int64_t users, std::int64_t out);
  /// A path 0, 1, 2, …: the connected graph that hides its ends least.
  static MaskGraph path(std::int64_t users);

  [[nodiscard]] std::int64_t users() const { return users_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  [[nodiscard]] std::int64_t edges() const;
  void for_each_edge(const std::function<void(User, User)>& visit) const;
  /// The graph among the first `users` users alone.
  [[nodiscard]] MaskGraph among_first(std::int64_t users) const;

 private:
  MaskGraph(std::int64_t users, bool complete, std::vector<Edge> list) : users_(users), complete_(complete), list_(std::move(list)) {}

  std::int64_t users_;
  bool complete_;
  std::vector<Edge> list_;  // sorted
};

/// The largest θ_v = e_vᵀ(σ² I + σ_Δ² L)⁻¹ e_v over all users v of the graph with Laplacian L: what a coalition that knows every mask but those on these
/// edges learns of v is Gaussian noise of μ² = θ_v. By conjugate gradients in doubles, for every user to a part in 10^5 of what masks
/// leave, for the ten largest to 10^10: a diagnostic of one graph, no bound, as nobody knows the honest users. Cost: users times some twenty passes over the edges.
double largest_theta(const MaskGraph& honest, double noise, double pair_noise);

}  // namespace sotto
