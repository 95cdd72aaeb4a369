// Cells of a privacy loss distribution, between two grid points or around one: their masses, their
// means, and bounds on both (docs/theory/pld/discretisation.md).
#pragma once

#include <cmath>
#include <cstdint>

#include "pld/grid/discretize.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/grid/grid_index.hpp"

namespace sotto::pld_detail {

inline constexpr double just_below_zero = -0x1p-1000;  // the end of a cell below loss 0

/// A cell is an interval of losses. Masses of a distribution are defined on one side of 0 only; a
/// cell that contains 0 adds those of its two halves.
class Cell {
 public:
  Cell(const LossDistribution& distribution, double low, const LossDistribution::Edge& from,
       double high, const LossDistribution::Edge& to)
      : distribution_(distribution), low_(low), high_(high), from_(from), to_(to) {
    if (low < 0 && high > 0) {
      mass_q_ = sum(distribution.mass_q(from, distribution.edge(just_below_zero)),
                    distribution.mass_q(distribution.edge(0), to));
    } else {
      mass_q_ = distribution.mass_q(from, to);
    }
  }
  [[nodiscard]] const LossDistribution::Mass& mass_q() const { return mass_q_; }
  [[nodiscard]] LossDistribution::Mass mass_p() const {
    if (!(low_ < 0 && high_ > 0)) return distribution_.mass_p(from_, to_);
    return sum(distribution_.mass_p(from_, distribution_.edge(just_below_zero)),
               distribution_.mass_p(distribution_.edge(0), to_));
  }
  /// Returns bounds on the slope of the log density under Q; infinite where the density has a kink.
  [[nodiscard]] LossDistribution::Slopes slopes() const {
    if ((low_ < 0 && high_ > 0) || low_ < distribution_.min_loss() ||
        high_ > distribution_.max_loss())
      return {-infinity, infinity};
    const LossDistribution::Slopes slopes = distribution_.slopes(from_, to_);
    const double error_bound = 1e-9;  // the cell's ends are rounded
    return {slopes.min - error_bound * (1 + std::abs(slopes.min)),
            slopes.max + error_bound * (1 + std::abs(slopes.max))};
  }

 private:
  // Adds two masses at small losses, which do not underflow.
  static LossDistribution::Mass sum(const LossDistribution::Mass& a,
                                    const LossDistribution::Mass& b) {
    return {a.as_double() + b.as_double(), std::max(a.error_bound, b.error_bound) +
                                               8 * unit * (1 + std::abs(a.log) + std::abs(b.log))};
  }

  const LossDistribution& distribution_;
  double low_, high_;
  LossDistribution::Edge from_, to_;
  LossDistribution::Mass mass_q_{};
};

/// Returns the index of the last grid point at or below a loss.
inline std::int64_t point_at(double start, double spacing, double loss) {
  return grid_index(std::floor((loss - start) / spacing));
}
/// Returns a bound on the error of all losses from `low` to `high`. It is largest near the ends,
/// and at 0.
double max_loss_error(const LossDistribution& distribution, double low, double high);

/// The masses that a cell between two grid points gives them, times e^loss of the lower one. Upper
/// bounds on `mass` and `upper_share` make a larger pair, so the discretisation stays pessimistic.
struct EndpointShares {
  double mass;  // an upper bound on the cell's mass
  double
      upper_share;    // an upper bound on the part for the upper point that keeps the cell's P-mass
  double least_mass;  // a lower bound on the cell's mass
};
EndpointShares endpoint_shares(const Cell& cell, double loss, double spacing);

/// Lower bounds on the mass of a cell around a grid point, times e^grid point, and on the log of
/// E_Q[e^L | cell], relative to the grid point. They make a smaller pair.
struct CellMean {
  double weight, mean;
};
CellMean cell_mean(const Cell& cell, double low, double high, double point);
/// Returns the boundary below a grid point at which cells should end so that their means lie on
/// grid points. It follows from the density's slope, and is heuristic: any boundary is valid.
double cell_end_below(const LossDistribution& distribution, double point, double spacing);

}  // namespace sotto::pld_detail
