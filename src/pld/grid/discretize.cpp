// Pessimistic and optimistic discretisation: docs/theory/pld/discretisation.md proves that the
// result dominates, or is dominated, and bounds its rounding errors.
#include "pld/grid/discretize.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/api/work.hpp"
#include "pld/grid/cells.hpp"
#include "pld/grid/mean_preserving_merge.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::pld_detail {
namespace {

using Edge = LossDistribution::Edge;

constexpr double few_points =
    64;  // with fewer grid points between the extreme losses, several starts are tried

// Places atoms pessimistically: on a grid point if there is one at the atom's loss, otherwise on
// both neighbours so that the atom's P-mass and Q-mass stay. Atoms below the first grid point are
// raised to it.
void place_atoms(const std::vector<LossDistribution::PointMass>& atoms, GridDistribution& grid) {
  double loss_error = 0;
  for (const LossDistribution::PointMass& atom : atoms) {
    const double error_bound =
        atom.loss_error + 16 * unit * (std::abs(atom.loss) + std::abs(grid.start));
    const auto nearest = grid_index(std::round((atom.loss - grid.start) / grid.spacing));
    const std::int64_t below = point_at(grid.start, grid.spacing, atom.loss - error_bound);
    // exponents, and the sum over all atoms, are rounded
    const double rounding = 4 * unit *
                            (4 + std::abs(atom.log) + std::abs(atom.loss) + grid.spacing +
                             static_cast<double>(atoms.size()));
    spend(100);
    const double mass_above = atom.mass * (1 + atom.error_bound + rounding);
    const auto put = [&](std::int64_t point, double mass) {
      grid.add(point, mass * std::exp(atom.log + grid.loss_at(point)));
    };
    if (below < grid.first) {
      put(grid.first, mass_above);
    } else if (std::abs(atom.loss - grid.loss_at(nearest)) <= 2 * error_bound) {
      loss_error = std::max(loss_error, 4 * error_bound);
      put(nearest, mass_above);
    } else {
      const double share = std::clamp(std::expm1(atom.loss + error_bound - grid.loss_at(below)) /
                                          std::expm1(grid.spacing) * (1 + 16 * unit),
                                      0.0, 1.0);
      put(below, mass_above * (1 - share));
      put(below + 1, mass_above * share);
    }
  }
  grid.loss_error += loss_error;
}

// Returns the start of an optimistic grid for a distribution with a least loss: the point at which
// the mean of the grid's lowest cell is on the first grid point, or just above it. By bisection.
double lowest_cell_mean(const LossDistribution& distribution, double spacing) {
  const double min_loss = distribution.min_loss();
  // log E_Q[e^L] over the lowest cell, if the grid starts there
  const auto mean_at = [&](double start) {
    const double end = cell_end_below(distribution, start + spacing, spacing);
    double mass_p = 0;
    double mass_q = 0;
    if (end > min_loss) {
      const Cell cell(distribution, min_loss, distribution.edge(-infinity), end,
                      distribution.edge(end));
      const LossDistribution::Mass p = cell.mass_p();
      const LossDistribution::Mass& q = cell.mass_q();
      mass_p = p.as_double() * (1 - p.error_bound - 64 * unit);
      mass_q = q.as_double() * (1 + q.error_bound + 64 * unit);
    }
    for (const LossDistribution::PointMass& atom : distribution.atoms()) {
      if (!(atom.loss < end)) continue;
      mass_p += atom.mass * std::exp(atom.log + atom.loss) *
                (1 - atom.error_bound - atom.loss_error - 64 * unit);
      mass_q += atom.mass * std::exp(atom.log) * (1 + atom.error_bound + 64 * unit);
    }
    return mass_q > 0 && mass_p > 0 ? std::log(mass_p / mass_q) : min_loss;
  };
  double low = min_loss;
  double high = min_loss + spacing;
  for (int turn = 0; turn < 60; ++turn) {
    const double middle = low + (high - low) / 2;
    (mean_at(middle) >= middle ? low : high) = middle;
  }
  return low - 1e-9 * spacing;
}

// Returns a loss that has a grid point on it: the atom with the largest tilted mass, or else an
// extreme loss.
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
  constexpr std::int64_t max_points = std::int64_t{1} << 32U;
  if (std::max(last(), j) - std::min(first, j) > max_points) {
    throw OutsideConditions(
        "method pld gives no bound: a loss lies more than 2^32 spacings away from its grid; use "
        "another method");
  }
  if (j < first) {
    weights.insert(weights.begin(), static_cast<std::size_t>(first - j), 0.0);
    first = j;
  }
  const auto at = static_cast<std::size_t>(j - first);
  if (at >= weights.size()) weights.resize(at + 1, 0.0);
  weights[at] += weight;
}

namespace {

// Builds a pessimistic grid, step by step. Without a bulk every cell is shared between its end
// points. With a bulk, which is grid point 0, the cells next to it give only their far end points a
// mass; the bulk gets the remaining Q-mass, as a logarithm, in which nothing cancels.
class PessimisticBuilder {
 public:
  PessimisticBuilder(const LossDistribution& distribution, const GridRange& range)
      : distribution_(distribution),
        range_(range),
        atoms_(distribution.atoms()),
        bulk_(distribution.bulk()),
        start_(bulk_ ? *bulk_ : anchor_of(distribution, range)),
        grid_{start_, range.spacing, 0, {}, std::nullopt, 0, 0},
        bulk_is_least_(bulk_ && !(distribution.min_loss() < *bulk_)) {}

  GridDistribution build() {
    choose_points();
    if (distribution_.only_atoms()) return finish_without_bulk();
    add_below_first_point();
    add_cells();
    if (!bulk_) return finish_without_bulk();
    raise_uncertain_losses();
    set_bulk();
    return std::move(grid_);
  }

 private:
  void choose_points() {
    grid_.first = bulk_is_least_ ? 0 : point_at(start_, grid_.spacing, range_.low) - 1;
    last_ = point_at(start_, grid_.spacing, range_.high) +
            (std::isinf(distribution_.max_loss()) ? 0 : 2);
    grid_.weights.assign(static_cast<std::size_t>(last_ - grid_.first + 1), 0.0);
    grid_.end = grid_.loss_at(last_);
  }

  GridDistribution finish_without_bulk() {
    place_atoms(atoms_, grid_);
    grid_.loss_error +=
        max_loss_error(distribution_, std::max(range_.low, distribution_.min_loss()),
                       std::min(range_.high, distribution_.max_loss())) +
        8 * unit * std::abs(start_);
    return std::move(grid_);
  }

  // Raises losses below the first grid point to it.
  void add_below_first_point() {
    const double lowest = grid_.loss_at(grid_.first);
    edge_ = distribution_.edge(lowest);
    if (lowest > distribution_.min_loss() && !bulk_is_least_) {
      const LossDistribution::Mass rest =
          lowest <= 0 ? distribution_.mass_q(distribution_.edge(-infinity), edge_)
                      : LossDistribution::Mass{1, 0};
      grid_.add(grid_.first,
                rest.times_exp(lowest) * (1 + rest.error_bound + 16 * unit) + underflow);
    }
  }

  void add_cells() {
    for (std::int64_t j = grid_.first; j < last_; ++j) {
      const Edge next = distribution_.edge(grid_.loss_at(j + 1));
      spend(300);
      if (bulk_ && j == 0) {
        add_cell_above_bulk(next);
      } else {
        add_cell(j, next);
      }
      edge_ = next;
    }
  }

  // Shares the cell from grid point j to the next one between the two. Of the cell below the bulk
  // only the lower point's share is added here.
  void add_cell(std::int64_t j, const Edge& next) {
    const double spacing = grid_.spacing;
    const double loss = grid_.loss_at(j);
    const double high = grid_.loss_at(j + 1);
    const bool below_bulk = bulk_ && j == -1;
    const EndpointShares one =
        endpoint_shares(Cell(distribution_, loss, edge_, high,
                             below_bulk ? distribution_.edge(just_below_zero) : next),
                        loss, spacing);
    grid_.add(j, (one.mass - one.upper_share) * (1 + 4 * unit));
    if (below_bulk) {
      const LossDistribution::Mass rest =
          distribution_.mass_q(distribution_.edge(-infinity), edge_);
      away_from_bulk_ +=
          rest.as_double() * std::max(0.0, 1 - rest.error_bound - 16 * unit) +
          std::max(0.0, one.least_mass - one.upper_share) * std::exp(-loss) * (1 - 16 * unit);
    } else {
      grid_.add(j + 1, one.upper_share * std::exp(spacing) * (1 + 4 * unit));
    }
  }

  // The cell above the bulk gives its upper point the Q-mass E_Q[e^(L-b) - 1; cell]/(e^h - 1),
  // which keeps the cell's P-mass.
  void add_cell_above_bulk(const Edge& next) {
    const LossDistribution::Mass rise =
        distribution_.bulk_excess(bulk_is_least_ ? distribution_.edge(-infinity) : edge_, next);
    const double share =
        rise.as_double() * (1 + rise.error_bound + 16 * unit) / std::expm1(grid_.spacing) +
        underflow;
    grid_.add(1, share * std::exp(grid_.loss_at(1)) * (1 + 16 * unit));
    away_from_bulk_ += share;
  }

  // Losses away from the bulk may be uncertain by more than the bulk is. Instead of moving ε, a
  // share of each point's mass goes one point up, which dominates a shift of the loss by its error.
  void raise_uncertain_losses() {
    const double spacing = grid_.spacing;
    const LossDistribution::Mass right =
        distribution_.mass_q(distribution_.edge(grid_.loss_at(1)), distribution_.edge(infinity));
    away_from_bulk_ += right.as_double() * std::max(0.0, 1 - right.error_bound - 16 * unit);
    const double share =
        std::expm1(max_loss_error(distribution_, std::max(range_.low, distribution_.min_loss()),
                                  range_.high)) /
        std::expm1(spacing) * (1 + 1e-9);
    for (std::int64_t j = last_; j >= grid_.first; --j) {
      double& weight = grid_.weights[static_cast<std::size_t>(j - grid_.first)];
      const double moved = j == 0 ? 0 : share * weight;
      weight -= moved * (1 - 8 * unit);
      if (j == -1) {
        away_from_bulk_ -= moved * std::exp(-grid_.loss_at(j)) * (1 + 16 * unit);
      } else {
        grid_.add(j + 1, moved * std::exp(spacing) * (1 + 8 * unit));
      }
    }
  }

  void set_bulk() {
    const double log = std::log1p(-std::clamp(away_from_bulk_, 0.0, 1.0));
    grid_.bulk = {start_ + log, 8 * unit * (std::abs(start_) + std::abs(log))};
    grid_.loss_error = 2 * distribution_.loss_error(start_) + 4 * unit * std::abs(start_);
  }

  const LossDistribution& distribution_;
  const GridRange& range_;
  std::vector<LossDistribution::PointMass> atoms_;
  std::optional<double> bulk_;
  double start_;
  GridDistribution grid_;
  bool bulk_is_least_;         // no loss is below the bulk
  std::int64_t last_ = 0;      // the last grid point
  Edge edge_{};                // the lower end of the next cell
  double away_from_bulk_ = 0;  // a lower bound on the Q-mass that is not at the bulk
};

}  // namespace

GridDistribution pessimistic(const LossDistribution& distribution, const GridRange& range) {
  return PessimisticBuilder(distribution, range).build();
}

namespace {

// Adds atoms to an optimistic grid, each at its nearest grid point. Returns the largest error of a
// loss that is put onto a grid point as it is.
double add_atoms(const LossDistribution& distribution, double start, double spacing, Bound losses,
                 MeanPreservingMerge& merge) {
  const auto at = [&](std::int64_t j) { return start + static_cast<double>(j) * spacing; };
  double loss_error = 0;
  for (const LossDistribution::PointMass& atom : distribution.atoms()) {
    if (atom.loss < losses.lower || atom.loss > losses.upper) continue;
    const auto nearest = grid_index(std::round((atom.loss - start) / spacing));
    const double error_bound =
        atom.loss_error + 16 * unit * (std::abs(atom.loss) + std::abs(start));
    const double weight =
        atom.mass * std::exp(atom.log + at(nearest)) *
        std::max(0.0, 1 - atom.error_bound -
                          16 * unit * (1 + std::abs(atom.log) + std::abs(at(nearest))));
    spend(100);
    const double mean = atom.loss - at(nearest);
    if (std::abs(mean) <= 2 * error_bound) loss_error = std::max(loss_error, 4 * error_bound);
    merge.add(nearest, {weight, std::abs(mean) <= 2 * error_bound ? 0 : mean - error_bound});
  }
  return loss_error;
}

// Returns the optimistic grid with a grid point at `start`. If `starts_there`, it is the first one,
// and the lowest cell contains all losses below.
GridDistribution optimistic_from(double start, bool starts_there,
                                 const LossDistribution& distribution, const GridRange& range) {
  const double spacing = range.spacing;
  const double lowest = std::max(range.low, distribution.min_loss());
  const std::int64_t first = starts_there
                                 ? std::max<std::int64_t>(0, point_at(start, spacing, lowest) - 1)
                                 : point_at(start, spacing, lowest) - 1;
  const std::int64_t last = std::max(
      first, point_at(start, spacing, range.high) + (std::isinf(distribution.max_loss()) ? -1 : 1));
  const auto at = [&](std::int64_t j) { return start + static_cast<double>(j) * spacing; };
  MeanPreservingMerge merge(spacing, range.tilt, first, last);

  // the cells, each around a grid point
  const bool all = starts_there && first == 0;
  double high = all ? distribution.min_loss() : cell_end_below(distribution, at(first), spacing);
  Edge edge = distribution.edge(all ? -infinity : high);
  if (distribution.only_atoms()) high = at(last + 1);
  for (std::int64_t j = first; j <= last && !distribution.only_atoms(); ++j) {
    spend(500);
    const double low = high;
    high = cell_end_below(distribution, at(j + 1), spacing);
    const Edge next = distribution.edge(high);
    if (high > low)
      merge.add(j, cell_mean(Cell(distribution, low, edge, high, next), low, high, at(j)));
    edge = next;
  }

  const double atom_error = add_atoms(distribution, start, spacing, {lowest, high}, merge);
  GridDistribution grid{start, spacing, first, merge.weights(), std::nullopt, high, 0};
  grid.loss_error =
      atom_error +
      max_loss_error(distribution, lowest, std::min(range.high, distribution.max_loss())) +
      8 * unit * std::abs(start);
  return grid;
}

}  // namespace

// Every start gives a valid grid. Where several are plausible, the one that keeps the most tilted
// mass is returned: the mean of the lowest losses is better next to a bulk, and with few grid
// points an atom is, or one point for all losses.
GridDistribution optimistic(const LossDistribution& distribution, const GridRange& range) {
  const auto atoms = distribution.atoms();
  const bool has_least = std::isfinite(distribution.min_loss());
  if (atoms.empty() && has_least)
    return optimistic_from(lowest_cell_mean(distribution, range.spacing), true, distribution,
                           range);
  GridDistribution best =
      optimistic_from(anchor_of(distribution, range), false, distribution, range);
  if (!has_least) return best;

  const auto tilted_mass = [&](const GridDistribution& grid) {
    spend(10 * static_cast<double>(grid.weights.size()));
    double sum = 0;
    for (std::int64_t j = grid.first; j <= grid.last(); ++j) {
      sum += grid.weights[static_cast<std::size_t>(j - grid.first)] *
             std::exp(range.tilt * grid.loss_at(j));
    }
    return sum;
  };
  const auto consider = [&](double start, bool starts_there) {
    GridDistribution other = optimistic_from(start, starts_there, distribution, range);
    if (tilted_mass(other) > tilted_mass(best)) best = std::move(other);
  };
  const bool few = distribution.max_loss() - distribution.min_loss() < few_points * range.spacing;
  if (few || !distribution.only_atoms())
    consider(lowest_cell_mean(distribution, range.spacing), true);
  if (!few) return best;
  consider(-1e-9 * range.spacing, false);
  for (const LossDistribution::PointMass& atom : atoms) consider(atom.loss, false);
  return best;
}

}  // namespace sotto::pld_detail
