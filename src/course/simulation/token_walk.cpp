// The path of a walking token, and the number of visits that it allows.
#include "course/simulation/token_walk.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/random/uniform.hpp"

namespace sotto::course_detail {

std::int64_t TokenWalk::visits() const {
  const auto k = static_cast<double>(rounds);
  const double want = std::log(static_cast<double>(users) / static_cast<double>(colluders)) / k;
  double low = 1;
  double high = 3 + want;  // at x = 3 the left side is above 1, and from there on its slope is above 1
  for (int i = 0; i < 60; ++i) {
    const double x = (low + high) / 2;
    (x * std::log(x) - x + 1 < want ? low : high) = x;
  }
  return std::min(hops(), static_cast<std::int64_t>(std::ceil(static_cast<double>(colluders) * k * high)));
}

std::vector<MaskGraph::User> TokenWalk::path() const {
  const std::int64_t most = visits();
  std::vector<MaskGraph::User> path;
  std::vector<std::size_t> visits_of(static_cast<std::size_t>(users));
  std::vector<std::int64_t> users_with;  // [k]: number of users with more than k visits
  std::int64_t seen = 0;                 // visits to the `colluders` users with the most: Σ min(users_with, colluders)
  while (static_cast<std::int64_t>(path.size()) < hops()) {
    const auto next = static_cast<MaskGraph::User>(uniform_below(visits_of.size()));
    const std::size_t before = visits_of[next]++;
    if (before == users_with.size()) users_with.push_back(0);
    if (++users_with[before] <= colluders && ++seen > most) break;
    path.push_back(next);
  }
  return path;
}

Plan TokenWalk::plan(Hole sigma) const {
  const auto k = static_cast<double>(rounds);
  return static_cast<double>(visits()) * Plan(WalkSum{sigma, static_cast<double>(users), static_cast<double>(colluders)}) +
         gaussian(std::sqrt(static_cast<double>(publication())) / k * sigma);
}

}  // namespace sotto::course_detail
