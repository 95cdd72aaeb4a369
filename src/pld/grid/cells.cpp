#include "pld/grid/cells.hpp"

#include <algorithm>

namespace sotto::pld_detail {
namespace {

constexpr double steepest = 0.3;  // slope times height of a cell in which the density is taken by its slopes

using Edge = LossDistribution::Edge;
using Slopes = LossDistribution::Slopes;

// log of the mean of e^ℓ, less the middle, under the density ∝ e^(sℓ) on a cell of this height: log of shc((s+1)h/2)/shc(sh/2), shc x = sinh x/x.
double mean_in(double slope, double spacing) {
  const auto log_shc = [](double x) {
    const double y = x * x;
    if (y > 0.1) return std::abs(x) + std::log(-std::expm1(-2 * std::abs(x)) / (2 * std::abs(x)));
    return y / 6 * (1 - y / 30 * (1 - 4 * y / 63 * (1 - 3 * y / 40)));  // the next term is x^10/467775
  };
  return log_shc((slope + 1) * spacing / 2) - log_shc(slope * spacing / 2);
}

// How far off that may be, where |slope| + 1 times height is at most `steepest`: both series end alternating.
double mean_error(double slope, double spacing) {
  const double x = (std::abs(slope) + 1) * spacing / 2;
  const double y = x * x;
  return y * y * y * y * y / 200000 + 16 * unit;
}

// Whether they tell the mean as well as masses would, whose rounding is about that.
bool well_known(const Slopes& slopes, double spacing) { return (slopes.most - slopes.least) * spacing * spacing / 12 < 1e-13; }

}  // namespace

double rounded(const LossDistribution& distribution, double low, double high) {
  return 2 * std::max({distribution.loss_error(low), distribution.loss_error(high), distribution.loss_error(0),
                       distribution.loss_error((low + high) / 2)}) +
         8 * unit * (std::abs(low) + std::abs(high));
}

EndpointShares endpoint_shares(const Cell& cell, double loss, double spacing) {
  const double rise = std::expm1(spacing);
  const LossDistribution::Mass& q = cell.mass_q();
  const double error_bound = 16 * unit + 4 * unit * (std::abs(loss) + std::abs(q.log));
  const double mass = q.at(loss) * (1 + q.error_bound + error_bound) + underflow;
  double share = mass;
  const Slopes slopes = cell.slopes();
  if ((std::abs(slopes.most) + 1) * spacing < steepest) {
    // of all densities whose logarithm is nowhere steeper, e^(sℓ) has the largest share at the upper end
    share = mass * std::expm1(mean_in(slopes.most, spacing) + mean_error(slopes.most, spacing) + spacing / 2) / rise * (1 + 8 * unit);
  }
  if (!well_known(slopes, spacing)) {
    const LossDistribution::Mass p = cell.mass_p();
    const double by_masses =
        p.at(0) * (1 + p.error_bound + 16 * unit + 4 * unit * std::abs(p.log)) - q.at(loss) * std::max(0.0, 1 - q.error_bound - error_bound);
    share = std::min(share, by_masses / rise * (1 + 8 * unit));
  }
  return {mass, std::clamp(share, 0.0, mass), q.at(loss) * std::max(0.0, 1 - q.error_bound - error_bound)};
}

double mean_of(const LossDistribution::Mass& p, const LossDistribution::Mass& q) {
  const double log = std::log(p.value / q.value) + (p.log - q.log);
  return log - p.error_bound - q.error_bound - 16 * unit * (1 + std::abs(p.log) + std::abs(q.log));
}

CellMean cell_mean(const Cell& cell, double low, double high, double point) {
  const LossDistribution::Mass& q = cell.mass_q();
  const double error_bound = q.error_bound + 16 * unit + 4 * unit * (std::abs(point) + std::abs(q.log));
  const double weight = q.at(point) * std::max(0.0, 1 - error_bound);
  double mean = low - point;
  const Slopes slopes = cell.slopes();
  if ((std::abs(slopes.least) + 1) * (high - low) < steepest) {
    // of all densities whose logarithm is nowhere less steep, e^(sℓ) has the lowest mean
    mean = low - point + (high - low) / 2 + mean_in(slopes.least, high - low) - mean_error(slopes.least, high - low);
  }
  if (weight > 0 && !well_known(slopes, high - low)) mean = std::max(mean, mean_of(cell.mass_p(), q) - point);
  return {weight, mean};
}

double end_below(const LossDistribution& distribution, double point, double spacing, double margin) {
  const double end = point - spacing / 2;
  const Edge edge = distribution.edge(end);
  const Slopes slopes =
      end <= distribution.min_loss() || end >= distribution.max_loss() ? Slopes{-infinity, infinity} : distribution.slopes(edge, edge);
  return std::abs(slopes.least) * spacing < 1e6 ? end - mean_in(slopes.least, spacing) + margin : end;
}

}  // namespace sotto::pld_detail
