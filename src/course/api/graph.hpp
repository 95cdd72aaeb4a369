// Who shares a mask with whom: the graph of an aggregation.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "privacy/api/graph.hpp"

namespace sotto {

/// An undirected graph on the users 0, …, users - 1, without loops. The complete one keeps no list of its edges.
class MaskGraph {
 public:
  using User = std::uint32_t;
  using Edge = std::pair<User, User>;  ///< the first is less than the second

  static MaskGraph complete(std::int64_t users);
  /// Every user picks `out` others, without replacement; {u, v} is an edge if one of them picked the other [Sabater2022]. 1 <= out < users.
  static MaskGraph random(std::int64_t users, std::int64_t out);

  [[nodiscard]] std::int64_t users() const { return users_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  [[nodiscard]] std::int64_t edges() const;
  void for_each_edge(const std::function<void(User, User)>& visit) const;
  /// The graph among the first `users` users alone.
  [[nodiscard]] Graph among_first(std::int64_t users) const;

 private:
  MaskGraph(std::int64_t users, bool complete, std::vector<Edge> list) : users_(users), complete_(complete), list_(std::move(list)) {}

  std::int64_t users_;
  bool complete_;
  std::vector<Edge> list_;  // sorted
};

}  // namespace sotto
