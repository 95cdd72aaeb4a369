// Bounds how often a coalition meets the token, and draws paths that keep to the bound.
#include "course/simulation/token_walk.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/random/uniform.hpp"

namespace sotto::course_detail {

std::int64_t TokenWalk::visits() const {
  const auto k = static_cast<double>(rounds);
  const double want = std::log(static_cast<double>(users) / static_cast<double>(colluders)) / k;
  double low = 1;
  double high = 3 + want;  // x log x - x + 1 exceeds 0 at x = 3 and its slope there exceeds 1, so
                           // the root is below
  for (int i = 0; i < 60; ++i) {
    const double x = (low + high) / 2;
    (x * std::log(x) - x + 1 < want ? low : high) = x;
  }
  return std::min(hops(),
                  static_cast<std::int64_t>(std::ceil(static_cast<double>(colluders) * k * high)));
}

std::vector<MaskGraph::User> TokenWalk::path() const {
  const std::int64_t most = visits();
  std::vector<MaskGraph::User> path;
  std::vector<std::size_t> meetings(static_cast<std::size_t>(users));
  std::vector<std::int64_t>
      users_met;  // users_met[k]: the number of users who were met more than k times
  std::int64_t seen =
      0;  // visits to the `colluders` users who were met most: Σ min(users_met[k], colluders)
  while (static_cast<std::int64_t>(path.size()) < hops()) {
    const auto next = static_cast<MaskGraph::User>(uniform_below(meetings.size()));
    const std::size_t before = meetings[next]++;
    if (before == users_met.size()) users_met.push_back(0);
    if (++users_met[before] <= colluders && ++seen > most) break;
    path.push_back(next);
  }
  return path;
}

Plan TokenWalk::plan(Hole sigma) const {
  const auto k = static_cast<double>(rounds);
  return static_cast<double>(visits()) *
             Plan(WalkSum{sigma, static_cast<double>(users), static_cast<double>(colluders)}) +
         gaussian(std::sqrt(static_cast<double>(publication())) / k * sigma);
}

}  // namespace sotto::course_detail
