// Mean-preserving merging of neighbouring cells, which can only lower a profile (Jensen): docs/theory/pld/discretisation.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pld/grid/cells.hpp"

namespace sotto::pld_detail {

/// Down: outcomes about each grid point, which settle until their mean is on it or above. That is a smaller pair.
class MeanPreservingMerge {
 public:
  /// Rungs from the first to the last; there may be none. A loss counts with e^(tilt loss).
  MeanPreservingMerge(double spacing, double tilt, std::int64_t first, std::int64_t last)
      : spacing_(spacing),
        tilt_(tilt),
        first_(first),
        all_(static_cast<std::size_t>(std::max<std::int64_t>(0, last - first + 1))),
        low_(all_.size()) {}
  /// Outcomes whose mean (log of E_Q[e^L] over Q's mass) is `mean` from grid point j, their mass times e^grid point; both from below.
  void add(std::int64_t j, const CellMean& cell_mean);
  /// Those with their mean below a grid point take some from the next ones above, those with it above some from below.
  std::vector<double> weights();

 private:
  struct One {
    double weight = 0, gain = 0;                 // Q's mass times e^grid point, and E_Q[e^L - e^grid point]
    double terms = 0;                            // so many were added up
    std::size_t none_above = 0, none_below = 0;  // so many grid points next to it are known to be empty
    One& operator+=(const One& other);
  };
  void lift_lowest();
  bool worth_taking(std::size_t j);
  std::size_t above(std::size_t j);
  std::size_t below(std::size_t j);
  void take(std::size_t j, One& one, std::size_t from);

  double spacing_, tilt_;
  std::int64_t first_;
  std::vector<One> all_, low_;  // outcomes with their mean on the grid point or above it, and below it
};

}  // namespace sotto::pld_detail
