// Cells of a privacy loss distribution, between grid points or around one: their masses and means (docs/theory/pld/discretisation.md).
#pragma once

#include <cmath>
#include <cstdint>

#include "pld/grid/discretize.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/grid/grid_index.hpp"

namespace sotto::pld_detail {

inline constexpr double just_below_zero = -0x1p-1000;  // 0 as seen from below

// A cell of losses: its ends, masses and slopes.
class Cell {
 public:
  Cell(const LossDistribution& distribution, double low, const LossDistribution::Edge& from, double high, const LossDistribution::Edge& to)
      : distribution_(distribution), low_(low), high_(high), from_(from), to_(to) {
    if (low < 0 && high > 0) {
      without_ = sum(distribution.mass_q(from, distribution.edge(just_below_zero)), distribution.mass_q(distribution.edge(0), to));
    } else {
      without_ = distribution.mass_q(from, to);
    }
  }
  [[nodiscard]] const LossDistribution::Mass& mass_q() const { return without_; }
  [[nodiscard]] LossDistribution::Mass mass_p() const {
    if (!(low_ < 0 && high_ > 0)) return distribution_.mass_p(from_, to_);
    return sum(distribution_.mass_p(from_, distribution_.edge(just_below_zero)), distribution_.mass_p(distribution_.edge(0), to_));
  }
  // Nothing is known where a density has a kink.
  [[nodiscard]] LossDistribution::Slopes slopes() const {
    if ((low_ < 0 && high_ > 0) || low_ < distribution_.min_loss() || high_ > distribution_.max_loss()) return {-infinity, infinity};
    const LossDistribution::Slopes slopes = distribution_.slopes(from_, to_);
    const double error_bound = 1e-9;  // cells are a little longer or shorter than they are written down
    return {slopes.least - error_bound * (1 + std::abs(slopes.least)), slopes.most + error_bound * (1 + std::abs(slopes.most))};
  }

 private:
  static LossDistribution::Mass sum(const LossDistribution::Mass& a, const LossDistribution::Mass& b) {  // of small losses
    return {a.at(0) + b.at(0), std::max(a.error_bound, b.error_bound) + 8 * unit * (1 + std::abs(a.log) + std::abs(b.log))};
  }

  const LossDistribution& distribution_;
  double low_, high_;
  LossDistribution::Edge from_, to_;
  LossDistribution::Mass without_{};
};

inline std::int64_t point_at(double start, double spacing, double loss) { return grid_index(std::floor((loss - start) / spacing)); }
/// How far off losses may be: the most at the ends, or nearly so.
double rounded(const LossDistribution& distribution, double low, double high);

/// What a cell between two grid points gives them, times e^loss of the lower: its mass, and of that the share of the upper one so that P keeps its
/// mass. Bounds from above on both make a larger pair.
struct EndpointShares {
  double mass, share;
  double least;  // the mass, from below
};
EndpointShares endpoint_shares(const Cell& cell, double loss, double spacing);

/// What a cell about a grid point tells: its mass times e^grid point, and the mean of its loss from the grid point; from below.
struct CellMean {
  double weight, mean;
};
CellMean cell_mean(const Cell& cell, double low, double high, double point);
/// log of E_Q[e^L] over Q's mass, from below.
double mean_of(const LossDistribution::Mass& p, const LossDistribution::Mass& q);
/// Where cells about grid points are to end for their means to lie on the grid points, or a margin above them, by the density's slope there.
double end_below(const LossDistribution& distribution, double point, double spacing, double margin);

}  // namespace sotto::pld_detail
