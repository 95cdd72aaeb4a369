// Down, of a distribution whose losses are nearly all in one place (rung_cells.hpp).
#include <algorithm>
#include <vector>

#include "grid/cells.hpp"
#include "grid/mean_preserving_merge.hpp"

namespace sotto::pld_detail {
namespace {

using Edge = LossDistribution::Edge;
using Slopes = LossDistribution::Slopes;

// Down, next to a bulk: what is about it goes to its mean, and there the grid starts. The cells of the nearest grid points end exactly where their
// means lie on grid points, the farther ones first: the nearer, the more steeply the density falls.
class OptimisticBulk {
 public:
  OptimisticBulk(const LossDistribution& distribution, double bulk, const GridRange& range)
      : distribution_(distribution),
        bulk_(bulk),
        spacing_(range.spacing),
        margin_(rounded(distribution, std::max(range.low, distribution.least()), range.high)),
        start_(bulk) {
    above_ = std::max<std::int64_t>(1, std::min(cells_near_bulk, point_at(bulk, spacing_, range.high) - 1));
    below_ = distribution.least() < bulk ? std::max<std::int64_t>(1, std::min(cells_near_bulk, -point_at(bulk, spacing_, range.low) - 1)) : 0;
    for (int turn = 0; turn < 20; ++turn) {
      truncation();
      const double next = mean();
      if (!(std::abs(next - bulk_) < 0.3 * spacing_)) return;
      found_ = std::abs(next - start_) <= 1e-9 * spacing_;  // other cells have their means that much higher
      start_ = next;
      if (found_) return;
    }
  }
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] double start() const { return start_; }
  /// By how much losses may be off, and by how much means lie above the grid points.
  [[nodiscard]] double margin() const { return margin_; }
  [[nodiscard]] double aim() const { return margin_ + 2e-9 * spacing_; }
  /// Where the cells of grid points -below … above end, from the left; those of the bulk's are ends()[below()] and the next.
  [[nodiscard]] const std::vector<double>& ends() const { return ends_; }
  [[nodiscard]] std::int64_t below() const { return below_; }
  [[nodiscard]] std::int64_t above() const { return above_; }
  /// Q of all that is not about the bulk, from above.
  [[nodiscard]] double rest() const { return rest_; }

 private:
  void truncation() {
    ends_.assign(static_cast<std::size_t>(below_ + above_ + 2), -infinity);
    const auto at = [&](std::int64_t j) { return start_ + static_cast<double>(j) * spacing_; };
    const auto bulk = static_cast<std::size_t>(below_);
    double known = end_below(distribution_, at(above_ + 1), spacing_, aim());
    ends_.back() = known;
    for (std::int64_t j = above_; j >= 1; --j) ends_[bulk + static_cast<std::size_t>(j)] = known = other_end(known, at(j));
    if (below_ == 0) return;
    known = end_below(distribution_, at(-below_), spacing_, aim());
    ends_.front() = known;
    for (std::int64_t j = -below_; j <= -1; ++j) ends_[bulk + static_cast<std::size_t>(j + 1)] = known = other_end(known, at(j));
  }
  // The other end of a cell with its mean on a grid point, a little above it: a root of E_Q[e^L - e^grid point], by secants.
  [[nodiscard]] double other_end(double known, double point) const {
    const Edge edge = distribution_.edge(known);
    const auto excess = [&](double end) {
      const Edge other = distribution_.edge(end);
      const Edge& from = end < known ? other : edge;
      const Edge& to = end < known ? edge : other;
      const LossDistribution::Mass p = distribution_.mass_p(from, to);
      const LossDistribution::Mass q = distribution_.mass_q(from, to);
      return mean_of(p, q) - point - aim();
    };
    // no farther than the bulk
    const double limit = known < point && bulk_ == 0 ? just_below_zero : bulk_;
    const auto allowed = [&](double end) {
      return known > point ? std::clamp(end, std::max(limit, point - spacing_), point) : std::clamp(end, point, std::min(limit, point + spacing_));
    };
    double x0 = allowed(2 * point - known);
    double y0 = excess(x0);
    double x1 = allowed(x0 - 2 * y0);
    for (int turn = 0; turn < 12; ++turn) {
      const double y1 = excess(x1);
      if (std::abs(y1) <= 1e-13 * spacing_ || x1 == x0 || y1 == y0) break;
      const double next = allowed(x1 - y1 * (x1 - x0) / (y1 - y0));
      x0 = x1;
      y0 = y1;
      if (std::isnan(next)) break;
      x1 = next;
    }
    return x1;
  }
  // The mean of the loss about the bulk, from below.
  [[nodiscard]] double mean() {
    const auto bulk = static_cast<std::size_t>(below_);
    const Edge to = distribution_.edge(ends_[bulk + 1]);
    const Edge centre = distribution_.edge(std::max(bulk_, distribution_.least()));
    const LossDistribution::Mass up = distribution_.bulk_excess(below_ == 0 ? distribution_.edge(-infinity) : centre, to);
    const LossDistribution::Mass right = distribution_.mass_q(to, distribution_.edge(infinity));
    double rise = up.at(0) * std::max(0.0, 1 - up.error_bound - 16 * unit);
    double least = right.at(0) * std::max(0.0, 1 - right.error_bound - 16 * unit);
    rest_ = right.at(0) * (1 + right.error_bound + 16 * unit) + underflow;
    if (below_ > 0) {
      const Edge from = distribution_.edge(ends_[bulk]);
      const LossDistribution::Mass down = distribution_.bulk_excess(from, distribution_.edge(just_below_zero));
      const LossDistribution::Mass left = distribution_.mass_q(distribution_.edge(-infinity), from);
      rise -= down.at(0) * (1 + down.error_bound + 16 * unit);
      rest_ += left.at(0) * (1 + left.error_bound + 16 * unit);
      least += left.at(0) * std::max(0.0, 1 - left.error_bound - 16 * unit);
    }
    return bulk_ + std::log1p(rise / (1 - (rise > 0 ? least : rest_))) - 16 * unit * std::abs(rise);
  }

  const LossDistribution& distribution_;
  double bulk_, spacing_, margin_, start_;
  std::int64_t above_ = 0, below_ = 0;
  std::vector<double> ends_;
  double rest_ = 1;
  bool found_ = false;
};

}  // namespace

std::optional<GridDistribution> optimistic_bulk(const LossDistribution& distribution, double bulk, const GridRange& range) {
  const OptimisticBulk about(distribution, bulk, range);
  if (!about.found() || !(about.rest() < 0.5)) return std::nullopt;
  const double spacing = range.spacing;
  const std::int64_t last = point_at(about.start(), spacing, range.high) + (std::isinf(distribution.most()) ? -1 : 2);
  const std::int64_t first = about.below() == 0 ? 0 : std::min(-about.below(), point_at(about.start(), spacing, range.low)) - 1;
  if (last < 1) return std::nullopt;
  GridDistribution grid{about.start(), spacing, first, {}, std::nullopt, 0, 0};
  const auto end_of = [&](std::int64_t j) {  // below grid point j
    if (j > about.above() + 1 || j < -about.below()) {
      // the slope changes from cell to cell, and the mean with it
      const double end = grid.at(j) - spacing / 2;
      const Edge from = distribution.edge(end - spacing);
      const Edge to = distribution.edge(end + spacing);
      const Slopes slopes = distribution.slopes(from, to);
      const double change = slopes.most - slopes.least;
      return end_below(distribution, grid.at(j), spacing, std::min(0.01 * spacing, about.aim() + change * spacing * spacing / 12));
    }
    return about.ends()[static_cast<std::size_t>(j + about.below())];
  };
  // both sides settle, the bulk stays
  MeanPreservingMerge above(spacing, range.tilt, 1, last);
  MeanPreservingMerge below(spacing, range.tilt, first, -1);
  double high = end_of(grid.first + 1);
  Edge edge = distribution.edge(high);
  for (std::int64_t j = grid.first + 1; j <= last; ++j) {
    const double low = high;
    high = end_of(j + 1);
    const Edge next = distribution.edge(high);
    if (j != 0 && high > low) {
      const CellMean one = cell_mean(Cell(distribution, low, edge, high, next), low, high, grid.at(j));
      (j > 0 ? above : below).add(j, {one.weight, one.mean - about.margin()});
    }
    edge = next;
  }
  grid.weights = below.weights();
  grid.weights.resize(static_cast<std::size_t>(1 - first), 0.0);
  const std::vector<double> right = above.weights();
  grid.weights.insert(grid.weights.end(), right.begin(), right.end());
  grid.bulk = {grid.start + std::log1p(-about.rest()), 8 * unit * (std::abs(grid.start) + about.rest())};
  grid.end = high;
  grid.off = 2 * distribution.off(bulk) + 4 * unit * std::abs(grid.start);
  return grid;
}

}  // namespace sotto::pld_detail
