// Outcomes about rungs that take from one another until their means are on the rungs (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rung_cells.hpp"

namespace sotto::loss_detail {

/// Down: outcomes about each rung, which settle until their mean is on it or above. That is a smaller pair.
class Settled {
 public:
  /// Rungs from the first to the last; there may be none. A loss counts with e^(tilt loss).
  Settled(double height, double tilt, std::int64_t first, std::int64_t last)
      : height_(height), tilt_(tilt), first_(first), all_(static_cast<std::size_t>(std::max<std::int64_t>(0, last - first + 1))), low_(all_.size()) {}
  /// Outcomes whose mean (log of E_Q[e^L] over Q's mass) is `mean` from rung j, their mass times e^rung; both from below.
  void add(std::int64_t j, const Lump& lump);
  /// Those with their mean below a rung take some from the next ones above, those with it above some from below.
  std::vector<double> weights();

 private:
  struct One {
    double weight = 0, gain = 0;                 // Q's mass times e^rung, and E_Q[e^L - e^rung]
    double terms = 0;                            // so many were added up
    std::size_t none_above = 0, none_below = 0;  // so many rungs next to it are known to be empty
    One& operator+=(const One& other);
  };
  void lift_lowest();
  bool worth_taking(std::size_t j);
  std::size_t above(std::size_t j);
  std::size_t below(std::size_t j);
  void take(std::size_t j, One& one, std::size_t from);

  double height_, tilt_;
  std::int64_t first_;
  std::vector<One> all_, low_;  // outcomes with their mean on the rung or above it, and below it
};

}  // namespace sotto::loss_detail
