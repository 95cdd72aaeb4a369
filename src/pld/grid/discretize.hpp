// Discretisation of a privacy loss distribution on an equidistant grid: pessimistic by connecting
// the dots [Doroshenko2022], optimistic by mean-preserving merging
// (docs/theory/pld/discretisation.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pld/grid/distribution.hpp"
#include "sotto/core/bound.hpp"

namespace sotto::pld_detail {

/// Upper bound on the mass lost to underflow.
inline constexpr double underflow = 1e-300;

/// A grid distribution has its masses on the losses start + j * spacing. Discretised
/// pessimistically it dominates the original distribution, discretised optimistically it is
/// dominated by it.
struct GridDistribution {
  double start, spacing;
  std::int64_t first;           // the index of the first weight
  std::vector<double> weights;  // P-masses, that is Q-mass times e^loss
  /// The log of the P-mass at grid point 0, where nearly all mass lies; it is not among the
  /// weights.
  struct Bulk {
    double log_mass, error_bound;
  };
  std::optional<Bulk> bulk;
  double end;         // losses above it are left out
  double loss_error;  // every grid point may be off by this

  [[nodiscard]] std::int64_t last() const {
    return first + static_cast<std::int64_t>(weights.size()) - 1;
  }
  [[nodiscard]] double loss_at(std::int64_t j) const {
    return start + static_cast<double>(j) * spacing;
  }
  /// Adds a positive weight to grid point j, and extends the grid if it must. Throws
  /// OutsideConditions if the grid would have more than 2^32 points.
  void add(std::int64_t j, double weight);
};

/// The range of losses and the spacing of a grid. The choice affects the width of a bound, and not
/// its validity.
struct GridRange {
  double low,
      high;  // losses below `low` are negligible; `high` is the largest loss, or a truncation
  double spacing;
  double
      tilt;  // an outcome counts by its mass times e^(tilt loss), when a start or a merge is chosen
};

/// Returns a grid distribution that dominates, up to losses above its `end`. Losses below its first
/// grid point are raised to it.
GridDistribution pessimistic(const LossDistribution& distribution, const GridRange& range);
/// Returns a grid distribution that is dominated.
GridDistribution optimistic(const LossDistribution& distribution, const GridRange& range);

}  // namespace sotto::pld_detail
