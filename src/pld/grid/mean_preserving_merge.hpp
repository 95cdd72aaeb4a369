// Mean-preserving merging of neighbouring cells, which can only lower a profile (Jensen's
// inequality): docs/theory/pld/discretisation.md, "Optimistic discretisation".
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pld/grid/cells.hpp"

namespace sotto::pld_detail {

/// A mean-preserving merge moves outcomes to grid points so that no mean grows. Outcomes near a
/// grid point are grouped; a group whose mean is below its point is merged with outcomes from
/// points above until the mean is on the point, and a group whose mean is above it with outcomes
/// from below. Merging is post-processing, so the result is a smaller pair. All masses and means
/// are lower bounds.
class MeanPreservingMerge {
 public:
  /// Grid points from `first` to `last`, of which there may be none. Moving an outcome costs its
  /// mass tilted by e^(tilt loss), by which the cheaper of two merges is chosen.
  MeanPreservingMerge(double spacing, double tilt, std::int64_t first, std::int64_t last)
      : spacing_(spacing),
        tilt_(tilt),
        first_(first),
        at_or_above_(static_cast<std::size_t>(std::max<std::int64_t>(0, last - first + 1))),
        below_(at_or_above_.size()) {}
  /// Adds outcomes near grid point j: lower bounds on their mass and mean.
  void add(std::int64_t j, const CellMean& cell_mean);
  /// Merges, and returns the weights of all grid points: lower bounds on mass times e^grid point.
  std::vector<double> weights();

 private:
  /// Outcomes that belong to one grid point.
  struct Group {
    double weight = 0;            // Q-mass times e^grid point
    double excess = 0;            // E_Q[e^L - e^grid point]: the mean is on the point if this is 0
    double additions = 0;         // the number of rounded additions
    std::size_t empty_above = 0;  // the next points above that are known to be empty
    std::size_t empty_below = 0;
    Group& operator+=(const Group& other);
  };
  void lift_lowest();
  bool merge_up_is_cheaper(std::size_t j);
  std::size_t next_above(std::size_t j);
  std::size_t next_below(std::size_t j);
  void merge_from(std::size_t from, std::size_t j, Group& group);

  double spacing_, tilt_;
  std::int64_t first_;
  std::vector<Group> at_or_above_, below_;  // by whether the group's mean is at or above its point
};

}  // namespace sotto::pld_detail
