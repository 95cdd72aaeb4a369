// Discretisation of a privacy loss distribution on an equidistant grid, pessimistic (connect-the-dots [Doroshenko2022]) or optimistic
// (mean-preserving merging): docs/theory/pld/discretisation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pld/grid/distribution.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// Upper bound on the mass lost to underflow.
inline constexpr double underflow = 1e-300;

/// A distribution on grid points at start + j height: a larger pair, or a smaller one.
struct GridDistribution {
  double start, spacing;
  std::int64_t first;           // the grid point of the first weight
  std::vector<double> weights;  // P-masses: those under Q times e^loss
  struct Bulk {                 // nearly all of the mass, if it lies on one grid point: log of its weight, within `error_bound`
    double log, error_bound;
  };
  std::optional<Bulk> bulk;  // on grid point 0
  double end;                // what has larger losses is left out
  double off;                // how far off all grid points may be

  [[nodiscard]] std::int64_t last() const { return first + static_cast<std::int64_t>(weights.size()) - 1; }
  [[nodiscard]] double at(std::int64_t j) const { return start + static_cast<double>(j) * spacing; }
  void add(std::int64_t j, double weight);
};

/// What is wanted of a grid for one distribution.
struct GridRange {
  double low, high;  // losses below `low` hardly count; none above `high` if the distribution has any
  double spacing;
  double tilt;  // losses count with e^(tilt loss): where the grid points start, and from where outcomes are taken
};

/// Up: what is below goes to the first grid point.
GridDistribution pessimistic(const LossDistribution& distribution, const GridRange& range);
/// Down.
GridDistribution optimistic(const LossDistribution& distribution, const GridRange& range);

}  // namespace sotto::pld_detail
