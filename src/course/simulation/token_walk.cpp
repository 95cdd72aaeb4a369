#include "course/simulation/token_walk.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/random/uniform.hpp"

namespace sotto::course_detail {

std::int64_t TokenWalk::visits() const {
  const auto k = static_cast<double>(rounds);
  const double want = std::log(static_cast<double>(users) / static_cast<double>(colluders)) / k;
  double low = 1;
  double high = 3 + want;  // at 3 the left side is above 1, and from there it grows by more than x does
  for (int i = 0; i < 60; ++i) {
    const double x = (low + high) / 2;
    (x * std::log(x) - x + 1 < want ? low : high) = x;
  }
  return std::min(hops(), static_cast<std::int64_t>(std::ceil(static_cast<double>(colluders) * k * high)));
}

std::vector<MaskGraph::User> TokenWalk::path() const {
  const std::int64_t most = visits();
  std::vector<MaskGraph::User> path;
  std::vector<std::size_t> met(static_cast<std::size_t>(users));
  std::vector<std::int64_t> met_so_often;  // how many users were met once at least, twice at least, …
  std::int64_t seen = 0;                   // by the `colluders` users who were met most: Σ min(met_so_often, colluders)
  while (static_cast<std::int64_t>(path.size()) < hops()) {
    const auto next = static_cast<MaskGraph::User>(uniform_below(met.size()));
    const std::size_t before = met[next]++;
    if (before == met_so_often.size()) met_so_often.push_back(0);
    if (++met_so_often[before] <= colluders && ++seen > most) break;
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
