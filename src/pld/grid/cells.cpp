// Means of cells, from their masses under P and Q or from the slope of the log density: see
// docs/theory/pld/discretisation.md, "Means from slopes".
#include "pld/grid/cells.hpp"

#include <algorithm>

namespace sotto::pld_detail {
namespace {

constexpr double max_slope =
    0.3;  // times the cell's length: steeper cells use their masses instead

using Edge = LossDistribution::Edge;
using Slopes = LossDistribution::Slopes;

// Returns log E[e^ℓ] - (the middle) for the density ∝ e^(sℓ) on a cell of length h, which is
// log shc((s+1)h/2) - log shc(sh/2) with shc x = sinh x / x.
double exponential_mean(double slope, double length) {
  const auto log_shc = [](double x) {
    const double y = x * x;
    if (y > 0.1) return std::abs(x) + std::log(-std::expm1(-2 * std::abs(x)) / (2 * std::abs(x)));
    return y / 6 *
           (1 - y / 30 * (1 - 4 * y / 63 * (1 - 3 * y / 40)));  // the next term is x^10/467775
  };
  return log_shc((slope + 1) * length / 2) - log_shc(slope * length / 2);
}

// Returns a bound on the error of exponential_mean if (|slope| + 1) * length <= max_slope: both
// series alternate after their last term.
double exponential_mean_error(double slope, double length) {
  const double x = (std::abs(slope) + 1) * length / 2;
  const double y = x * x;
  return y * y * y * y * y / 200000 + 16 * unit;
}

// Returns true if the slopes give the mean as accurately as the masses, whose rounding is about
// 1e-13.
bool slopes_suffice(const Slopes& slopes, double length) {
  return (slopes.max - slopes.min) * length * length / 12 < 1e-13;
}

// Returns a lower bound on log of E_Q[e^L] over the Q-mass, which is the quotient of the two
// masses.
double log_mean(const LossDistribution::Mass& p, const LossDistribution::Mass& q) {
  const double log = std::log(p.value / q.value) + (p.log - q.log);
  return log - p.error_bound - q.error_bound - 16 * unit * (1 + std::abs(p.log) + std::abs(q.log));
}

}  // namespace

double max_loss_error(const LossDistribution& distribution, double low, double high) {
  return 2 * std::max({distribution.loss_error(low), distribution.loss_error(high),
                       distribution.loss_error(0), distribution.loss_error((low + high) / 2)}) +
         8 * unit * (std::abs(low) + std::abs(high));
}

EndpointShares endpoint_shares(const Cell& cell, double loss, double spacing) {
  const double rise = std::expm1(spacing);
  const LossDistribution::Mass& q = cell.mass_q();
  const double error_bound = 16 * unit + 4 * unit * (std::abs(loss) + std::abs(q.log));
  const double mass = q.times_exp(loss) * (1 + q.error_bound + error_bound) + underflow;
  double share = mass;

  // Of all densities whose log is nowhere steeper than s, e^(sℓ) has the largest mean, and so the
  // largest share at the upper point.
  const Slopes slopes = cell.slopes();
  if ((std::abs(slopes.max) + 1) * spacing < max_slope) {
    share = mass *
            std::expm1(exponential_mean(slopes.max, spacing) +
                       exponential_mean_error(slopes.max, spacing) + spacing / 2) /
            rise * (1 + 8 * unit);
  }

  // The share that keeps the cell's P-mass: (P-mass - Q-mass e^loss)/(e^spacing - 1).
  if (!slopes_suffice(slopes, spacing)) {
    const LossDistribution::Mass p = cell.mass_p();
    const double by_masses =
        p.as_double() * (1 + p.error_bound + 16 * unit + 4 * unit * std::abs(p.log)) -
        q.times_exp(loss) * std::max(0.0, 1 - q.error_bound - error_bound);
    share = std::min(share, by_masses / rise * (1 + 8 * unit));
  }
  return {mass, std::clamp(share, 0.0, mass),
          q.times_exp(loss) * std::max(0.0, 1 - q.error_bound - error_bound)};
}

CellMean cell_mean(const Cell& cell, double low, double high, double point) {
  const LossDistribution::Mass& q = cell.mass_q();
  const double error_bound =
      q.error_bound + 16 * unit + 4 * unit * (std::abs(point) + std::abs(q.log));
  const double weight = q.times_exp(point) * std::max(0.0, 1 - error_bound);
  double mean = low - point;

  // Of all densities whose log is nowhere less steep than s, e^(sℓ) has the smallest mean.
  const Slopes slopes = cell.slopes();
  if ((std::abs(slopes.min) + 1) * (high - low) < max_slope) {
    mean = low - point + (high - low) / 2 + exponential_mean(slopes.min, high - low) -
           exponential_mean_error(slopes.min, high - low);
  }
  if (weight > 0 && !slopes_suffice(slopes, high - low))
    mean = std::max(mean, log_mean(cell.mass_p(), q) - point);
  return {weight, mean};
}

double cell_end_below(const LossDistribution& distribution, double point, double spacing) {
  const double end = point - spacing / 2;
  const Edge edge = distribution.edge(end);
  const Slopes slopes = end <= distribution.min_loss() || end >= distribution.max_loss()
                            ? Slopes{-infinity, infinity}
                            : distribution.slopes(edge, edge);
  return std::abs(slopes.min) * spacing < 1e6 ? end - exponential_mean(slopes.min, spacing) : end;
}

}  // namespace sotto::pld_detail
