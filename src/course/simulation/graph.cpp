// Edges are pairs of users, the smaller one first, sorted and without duplicates.
#include "course/api/graph.hpp"

#include <algorithm>
#include <unordered_set>

#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {

MaskGraph MaskGraph::complete(std::int64_t users) {
  return {require_count(users, 1, "users"), true, {}};
}

MaskGraph MaskGraph::random(std::int64_t users, std::int64_t out) {
  (void)require_count(users, 2, "users");
  (void)require_count(out, 1, "degree");
  if (out >= users) {
    throw InvalidValue("degree = " + std::to_string(out) +
                       " is not allowed: it must be less than the number of users, " +
                       std::to_string(users) + "; 0 stands for the complete graph");
  }
  std::vector<Edge> list;
  list.reserve(static_cast<std::size_t>(users * out));
  std::unordered_set<User> picked;
  for (std::int64_t u = 0; u < users; ++u) {
    picked.clear();
    const auto self = static_cast<User>(u);
    while (static_cast<std::int64_t>(picked.size()) < out) {
      const auto other = static_cast<User>(uniform_below(static_cast<std::uint64_t>(users)));
      if (other != self && picked.insert(other).second)
        list.emplace_back(std::min(self, other), std::max(self, other));
    }
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return {users, false, std::move(list)};
}

std::int64_t MaskGraph::edges() const {
  return complete_ ? users_ * (users_ - 1) / 2 : static_cast<std::int64_t>(list_.size());
}

void MaskGraph::for_each_edge(const std::function<void(User, User)>& visit) const {
  for (const auto& [u, v] : list_) visit(u, v);
  if (!complete_) return;
  for (User u = 0; u < users_; ++u) {
    for (User v = u + 1; v < users_; ++v) visit(u, v);
  }
}

Graph MaskGraph::among_first(std::int64_t users) const {
  Graph result{.users = static_cast<std::size_t>(require_count(users, 1, "users")), .edges = {}};
  for_each_edge([&](User u, User v) {
    if (v < users) result.edges.emplace_back(u, v);
  });
  return result;
}

}  // namespace sotto
