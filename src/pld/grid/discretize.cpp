#include "pld/grid/discretize.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "pld/grid/cells.hpp"
#include "pld/grid/mean_preserving_merge.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

using Edge = LossDistribution::Edge;

constexpr double few_points = 64;  // between the least and the largest loss: several starts are tried

// Up: an atom on a grid point, or next to none: to both its neighbours; from below the first grid point to that.
void place_atoms(const std::vector<LossDistribution::PointMass>& atoms, GridDistribution& grid) {
  double off = 0;
  for (const LossDistribution::PointMass& atom : atoms) {
    const double error_bound = atom.loss_error + 16 * unit * (std::abs(atom.loss) + std::abs(grid.start));
    const auto nearest = grid_index(std::round((atom.loss - grid.start) / grid.spacing));
    const std::int64_t below = point_at(grid.start, grid.spacing, atom.loss - error_bound);
    // exponents and sums of all atoms are rounded
    const double rounding = 4 * unit * (4 + std::abs(atom.log) + std::abs(atom.loss) + grid.spacing + static_cast<double>(atoms.size()));
    spend(100);
    const double sized = atom.mass * (1 + atom.error_bound + rounding);
    const auto put = [&](std::int64_t point, double mass) { grid.add(point, mass * std::exp(atom.log + grid.at(point))); };
    if (below < grid.first) {
      put(grid.first, sized);
    } else if (std::abs(atom.loss - grid.at(nearest)) <= 2 * error_bound) {
      off = std::max(off, 4 * error_bound);
      put(nearest, sized);
    } else {
      const double share = std::clamp(std::expm1(atom.loss + error_bound - grid.at(below)) / std::expm1(grid.spacing) * (1 + 16 * unit), 0.0, 1.0);
      put(below, sized * (1 - share));
      put(below + 1, sized * share);
    }
  }
  grid.off += off;
}

// Where the grid points of a distribution begin whose losses do: so that the mean of the first cell is on the first one, or just above.
double first_mean(const LossDistribution& distribution, double spacing) {
  const double least = distribution.min_loss();
  const auto mean_at = [&](double start) {
    const double end = end_below(distribution, start + spacing, spacing, 0);
    double mean_p = 0;
    double mean_q = 0;
    if (end > least) {
      const Cell cell(distribution, least, distribution.edge(-infinity), end, distribution.edge(end));
      const LossDistribution::Mass p = cell.mass_p();
      const LossDistribution::Mass& q = cell.mass_q();
      mean_p = p.at(0) * (1 - p.error_bound - 64 * unit);
      mean_q = q.at(0) * (1 + q.error_bound + 64 * unit);
    }
    for (const LossDistribution::PointMass& atom : distribution.atoms()) {
      if (!(atom.loss < end)) continue;
      mean_p += atom.mass * std::exp(atom.log + atom.loss) * (1 - atom.error_bound - atom.loss_error - 64 * unit);
      mean_q += atom.mass * std::exp(atom.log) * (1 + atom.error_bound + 64 * unit);
    }
    return mean_q > 0 && mean_p > 0 ? std::log(mean_p / mean_q) : least;
  };
  double low = least;
  double high = least + spacing;
  for (int turn = 0; turn < 60; ++turn) {
    const double middle = low + (high - low) / 2;
    (mean_at(middle) >= middle ? low : high) = middle;
  }
  return low - 1e-9 * spacing;
}

// Where there is a grid point for certain: at the heaviest atom, tilted, or at the end of the losses.
double anchor_of(const LossDistribution& distribution, const GridRange& range) {
  double best = -infinity;
  double anchor = std::isfinite(distribution.min_loss())   ? distribution.min_loss()
                  : std::isfinite(distribution.max_loss()) ? distribution.max_loss()
                                                           : 0;
  for (const LossDistribution::PointMass& atom : distribution.atoms()) {
    const double log = std::log(atom.mass) + atom.log + (1 + range.tilt) * atom.loss;
    if (!(log > best)) continue;
    best = log;
    anchor = atom.loss;
  }
  return anchor;
}

}  // namespace

void GridDistribution::add(std::int64_t j, double weight) {
  if (!(weight > 0)) return;
  constexpr std::int64_t most_points = std::int64_t{1} << 32U;
  if (std::max(last(), j) - std::min(first, j) > most_points) throw OutsideConditions("a loss lies far outside of its grid");
  if (j < first) {
    weights.insert(weights.begin(), static_cast<std::size_t>(first - j), 0.0);
    first = j;
  }
  const auto at = static_cast<std::size_t>(j - first);
  if (at >= weights.size()) weights.resize(at + 1, 0.0);
  weights[at] += weight;
}

GridDistribution pessimistic(const LossDistribution& distribution, const GridRange& range) {
  const auto atoms = distribution.atoms();
  const auto bulk = distribution.bulk();
  const double start = bulk ? *bulk : anchor_of(distribution, range);
  const double spacing = range.spacing;
  GridDistribution grid{start, spacing, 0, {}, std::nullopt, 0, 0};
  const bool from_bulk = bulk && !(distribution.min_loss() < *bulk);
  grid.first = from_bulk ? 0 : point_at(start, spacing, range.low) - 1;
  const std::int64_t last = point_at(start, spacing, range.high) + (std::isinf(distribution.max_loss()) ? 0 : 2);
  grid.weights.assign(static_cast<std::size_t>(last - grid.first + 1), 0.0);
  grid.end = grid.at(last);
  if (distribution.only_atoms()) {
    place_atoms(atoms, grid);
    grid.off += rounded(distribution, std::max(range.low, distribution.min_loss()), std::min(range.high, distribution.max_loss())) +
                8 * unit * std::abs(start);
    return grid;
  }
  const double lowest = grid.at(grid.first);
  Edge edge = distribution.edge(lowest);
  double left = 0;  // Q of all that is not about the bulk, from below
  if (lowest > distribution.min_loss() && !from_bulk) {
    const LossDistribution::Mass rest = lowest <= 0 ? distribution.mass_q(distribution.edge(-infinity), edge) : LossDistribution::Mass{1, 0};
    grid.add(grid.first, rest.at(lowest) * (1 + rest.error_bound + 16 * unit) + underflow);
  }
  for (std::int64_t j = grid.first; j < last; ++j) {
    const double loss = grid.at(j);
    const double high = grid.at(j + 1);
    const Edge next = distribution.edge(high);
    spend(300);
    if (bulk && j == 0) {  // the cell above the bulk: only what it gives the upper end
      const LossDistribution::Mass rise = distribution.bulk_excess(from_bulk ? distribution.edge(-infinity) : edge, next);
      const double share = rise.at(0) * (1 + rise.error_bound + 16 * unit) / std::expm1(spacing) + underflow;
      grid.add(1, share * std::exp(high) * (1 + 16 * unit));
      left += share;
    } else {
      const bool below_bulk = bulk && j == -1;
      const EndpointShares one =
          endpoint_shares(Cell(distribution, loss, edge, high, below_bulk ? distribution.edge(just_below_zero) : next), loss, spacing);
      grid.add(j, (one.mass - one.share) * (1 + 4 * unit));
      if (below_bulk) {
        const LossDistribution::Mass rest = distribution.mass_q(distribution.edge(-infinity), edge);
        left +=
            rest.at(0) * std::max(0.0, 1 - rest.error_bound - 16 * unit) + std::max(0.0, one.least - one.share) * std::exp(-loss) * (1 - 16 * unit);
      } else {
        grid.add(j + 1, one.share * std::exp(spacing) * (1 + 4 * unit));
      }
    }
    edge = next;
  }
  if (!bulk) {
    place_atoms(atoms, grid);
    grid.off += rounded(distribution, std::max(range.low, distribution.min_loss()), std::min(range.high, distribution.max_loss())) +
                8 * unit * std::abs(start);
    return grid;
  }
  const LossDistribution::Mass right = distribution.mass_q(distribution.edge(grid.at(1)), distribution.edge(infinity));
  left += right.at(0) * std::max(0.0, 1 - right.error_bound - 16 * unit);
  // losses beside the bulk may be off by more than it: of each a share goes a grid point up
  const double share = std::expm1(rounded(distribution, std::max(range.low, distribution.min_loss()), range.high)) / std::expm1(spacing) * (1 + 1e-9);
  for (std::int64_t j = last; j >= grid.first; --j) {
    double& weight = grid.weights[static_cast<std::size_t>(j - grid.first)];
    const double moved = j == 0 ? 0 : share * weight;
    weight -= moved * (1 - 8 * unit);
    if (j == -1) {
      left -= moved * std::exp(-grid.at(j)) * (1 + 16 * unit);
    } else {
      grid.add(j + 1, moved * std::exp(spacing) * (1 + 8 * unit));
    }
  }
  const double log = std::log1p(-std::clamp(left, 0.0, 1.0));
  grid.bulk = {start + log, 8 * unit * (std::abs(start) + std::abs(log))};
  grid.off = 2 * distribution.loss_error(start) + 4 * unit * std::abs(start);
  return grid;
}

namespace {

// Down, with a grid point at `start`, the first one if the losses begin there.
GridDistribution optimistic_from(double start, bool begins, const LossDistribution& distribution, const GridRange& range) {
  const double spacing = range.spacing;
  const double lowest = std::max(range.low, distribution.min_loss());
  const std::int64_t first = begins ? std::max<std::int64_t>(0, point_at(start, spacing, lowest) - 1) : point_at(start, spacing, lowest) - 1;
  const std::int64_t last = std::max(first, point_at(start, spacing, range.high) + (std::isinf(distribution.max_loss()) ? -1 : 1));
  const auto at = [&](std::int64_t j) { return start + static_cast<double>(j) * spacing; };
  MeanPreservingMerge merge(spacing, range.tilt, first, last);
  const bool all = begins && first == 0;
  double high = all ? distribution.min_loss() : end_below(distribution, at(first), spacing, 0);
  Edge edge = distribution.edge(all ? -infinity : high);
  if (distribution.only_atoms()) high = at(last + 1);
  for (std::int64_t j = first; j <= last && !distribution.only_atoms(); ++j) {
    spend(500);
    const double low = high;
    high = end_below(distribution, at(j + 1), spacing, 0);
    const Edge next = distribution.edge(high);
    if (high > low) merge.add(j, cell_mean(Cell(distribution, low, edge, high, next), low, high, at(j)));
    edge = next;
  }
  double off = 0;
  for (const LossDistribution::PointMass& atom : distribution.atoms()) {
    if (atom.loss < lowest || atom.loss > high) continue;
    const auto nearest = grid_index(std::round((atom.loss - start) / spacing));
    const double error_bound = atom.loss_error + 16 * unit * (std::abs(atom.loss) + std::abs(start));
    const double sized = atom.mass * std::exp(atom.log + at(nearest)) *
                         std::max(0.0, 1 - atom.error_bound - 16 * unit * (1 + std::abs(atom.log) + std::abs(at(nearest))));
    spend(100);
    const double mean = atom.loss - at(nearest);
    if (std::abs(mean) <= 2 * error_bound) off = std::max(off, 4 * error_bound);
    merge.add(nearest, {sized, std::abs(mean) <= 2 * error_bound ? 0 : mean - error_bound});
  }
  GridDistribution grid{start, spacing, first, merge.weights(), std::nullopt, high, 0};
  grid.off = off + rounded(distribution, lowest, std::min(range.high, distribution.max_loss())) + 8 * unit * std::abs(start);
  return grid;
}

}  // namespace

// Down: of a cell about a grid point only its mass and mean are told. The cells end about where their means lie on grid points, and settle the rest.
GridDistribution optimistic(const LossDistribution& distribution, const GridRange& range) {
  const auto atoms = distribution.atoms();
  const bool begins = std::isfinite(distribution.min_loss());
  if (atoms.empty() && begins) return optimistic_from(first_mean(distribution, range.spacing), true, distribution, range);
  GridDistribution best = optimistic_from(anchor_of(distribution, range), false, distribution, range);
  if (!begins) return best;
  const auto worth = [&](const GridDistribution& grid) {
    spend(10 * static_cast<double>(grid.weights.size()));
    double sum = 0;
    for (std::int64_t j = grid.first; j <= grid.last(); ++j) {
      sum += grid.weights[static_cast<std::size_t>(j - grid.first)] * std::exp(range.tilt * grid.at(j));
    }
    return sum;
  };
  const auto consider = [&](double start, bool first) {
    GridDistribution other = optimistic_from(start, first, distribution, range);
    if (worth(other) > worth(best)) best = std::move(other);
  };
  // the mean of the lowest losses may be the better start, as next to a bulk; and where there are few grid points, one of the atoms, or all in one
  // place
  const bool few = distribution.max_loss() - distribution.min_loss() < few_points * range.spacing;
  if (few || !distribution.only_atoms()) consider(first_mean(distribution, range.spacing), true);
  if (!few) return best;
  consider(-1e-9 * range.spacing, false);
  for (const LossDistribution::PointMass& atom : atoms) consider(atom.loss, false);
  return best;
}

}  // namespace sotto::pld_detail
