// The mask graph of an aggregation: two users are connected if they share a mask.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "privacy/api/graph.hpp"

namespace sotto {

/// An undirected graph on the users 0, …, users - 1, without loops. The complete graph stores no
/// edges.
class MaskGraph {
 public:
  using User = std::uint32_t;
  using Edge = std::pair<User, User>;  ///< the first user is less than the second

  /// Throws InvalidValue unless users >= 1.
  static MaskGraph complete(std::int64_t users);
  /// A random graph [Sabater2022]: every user picks `out` others without replacement, and {u, v} is
  /// an edge if one of the two picked the other. Throws InvalidValue unless 1 <= out < users.
  static MaskGraph random(std::int64_t users, std::int64_t out);

  [[nodiscard]] std::int64_t users() const { return users_; }
  [[nodiscard]] bool is_complete() const { return complete_; }
  [[nodiscard]] std::int64_t edges() const;
  void for_each_edge(const std::function<void(User, User)>& visit) const;
  /// Returns the subgraph of the first `users` users.
  [[nodiscard]] Graph among_first(std::int64_t users) const;

 private:
  MaskGraph(std::int64_t users, bool complete, std::vector<Edge> list)
      : users_(users), complete_(complete), list_(std::move(list)) {}

  std::int64_t users_;
  bool complete_;
  std::vector<Edge> list_;  // sorted
};

}  // namespace sotto
