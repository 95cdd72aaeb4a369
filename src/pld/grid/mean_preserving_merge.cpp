// Mean-preserving merging. Every sum is rounded down by its own error bound.
#include "pld/grid/mean_preserving_merge.hpp"

#include <cmath>

namespace sotto::pld_detail {

MeanPreservingMerge::Group& MeanPreservingMerge::Group::operator+=(const Group& other) {
  weight += other.weight;
  excess += other.excess;
  additions += other.additions + 1;
  return *this;
}

void MeanPreservingMerge::add(std::int64_t j, const CellMean& cell_mean) {
  // outcomes above the last point go down to it
  const std::int64_t point =
      std::min(j, first_ + static_cast<std::int64_t>(at_or_above_.size()) - 1);
  if (point < first_ || !(cell_mean.weight > 0)) return;
  const double down = static_cast<double>(j - point) * spacing_;
  const double weight = cell_mean.weight * std::exp(-down) * (1 - 8 * unit);
  const double excess = weight * std::expm1(cell_mean.mean + down);
  const auto at = static_cast<std::size_t>(point - first_);
  (excess < 0 ? below_ : at_or_above_)[at] +=
      {weight, excess - 16 * unit * (1 + down) * std::abs(excess)};
}

// Sums of excesses are rounded, too. Their n terms are at most a mass times the spacing, and within
// n grid points, so the rounding is at most a unit of the grid's length, which the losses' error
// covers.
std::vector<double> MeanPreservingMerge::weights() {
  lift_lowest();

  // from the top down: groups below their point merge with outcomes above, or move one point down
  for (std::size_t j = at_or_above_.size(); j-- > 0;) {
    Group& low = below_[j];
    if (low.excess + at_or_above_[j].excess < 0 && merge_up_is_cheaper(j)) {
      for (std::size_t from = next_above(j); low.excess < 0 && from < at_or_above_.size();
           from = next_above(j))
        merge_from(from, j, low);
    }
    if (low.excess + at_or_above_[j].excess >= 0) {
      at_or_above_[j] += low;
    } else if (j > 0) {
      const double weight = low.weight * std::exp(-spacing_) * (1 - 8 * unit);
      const double up = weight * std::expm1(spacing_);
      const double excess = up + low.excess - 16 * unit * (up + std::abs(low.excess));
      (excess < 0 ? below_ : at_or_above_)[j - 1] += {weight, excess, low.additions};
    }
  }

  // from the bottom up: groups above their point merge with outcomes below
  for (std::size_t j = 1; j < at_or_above_.size(); ++j) {
    for (std::size_t from = next_below(j); at_or_above_[j].excess > 0 && from < j;
         from = next_below(j))
      merge_from(from, j, at_or_above_[j]);
  }

  std::vector<double> weights;
  for (const Group& group : at_or_above_)
    weights.push_back(group.weight * (1 - (16 + 2 * group.additions) * unit));
  return weights;
}

// Compares the tilted mass that is lost by merging below_[j] with outcomes above it, and by moving
// it one point down.
bool MeanPreservingMerge::merge_up_is_cheaper(std::size_t j) {
  const Group& low = below_[j];
  const double down_cost = -low.weight * std::expm1(-(1 + tilt_) * spacing_);
  double wanted = -low.excess;
  double cost = 0;
  for (std::size_t from = next_above(j); from < at_or_above_.size(); from = next_above(from)) {
    const double apart = static_cast<double>(from - j) * spacing_;
    const double all = at_or_above_[from].weight * std::exp(-apart);
    const double rise = std::expm1(apart);
    const double amount = std::min(all, wanted / rise);
    cost += amount * std::expm1((1 + tilt_) * apart);
    if (!(cost < down_cost)) return false;
    wanted -= amount * rise;
    if (amount < all) return true;
  }
  return false;
}

// The lowest group has no outcomes below to merge with. If its mean is well above its point, it
// goes one point up instead, and merges with outcomes from above.
void MeanPreservingMerge::lift_lowest() {
  std::size_t j = 0;
  while (j + 1 < at_or_above_.size() && !(at_or_above_[j].weight + below_[j].weight > 0)) ++j;
  if (j + 1 >= at_or_above_.size()) return;
  Group lowest = at_or_above_[j];
  lowest += below_[j];
  const double rise = std::expm1(spacing_);
  if (!(lowest.excess > 1e-3 * rise * lowest.weight)) return;
  const double down = lowest.weight * rise;
  const double excess = lowest.excess - down - 16 * unit * (lowest.excess + down);
  (excess < 0 ? below_ : at_or_above_)[j + 1] +=
      {lowest.weight * std::exp(spacing_) * (1 - 8 * unit), excess, lowest.additions};
  at_or_above_[j] = {};
  below_[j] = {};
}

// Returns the next point above j that is not empty; the number of points if there is none.
std::size_t MeanPreservingMerge::next_above(std::size_t j) {
  std::size_t& empty = at_or_above_[j].empty_above;
  while (j + 1 + empty < at_or_above_.size() && !(at_or_above_[j + 1 + empty].weight > 0))
    empty += 1 + at_or_above_[j + 1 + empty].empty_above;
  return j + 1 + empty;
}

// Returns the next point below j that is not empty; j if there is none.
std::size_t MeanPreservingMerge::next_below(std::size_t j) {
  std::size_t& empty = at_or_above_[j].empty_below;
  while (empty < j && !(at_or_above_[j - 1 - empty].weight > 0))
    empty += 1 + at_or_above_[j - 1 - empty].empty_below;
  return empty < j ? j - 1 - empty : j;
}

// Merges as much of the point `from` into a group at point j as brings its mean to j, or all of it.
void MeanPreservingMerge::merge_from(std::size_t from, std::size_t j, Group& group) {
  Group& other = at_or_above_[from];
  const double apart = (static_cast<double>(from) - static_cast<double>(j)) * spacing_;
  const double all = other.weight * std::exp(-apart);
  if (!(all > underflow)) {
    other.weight = other.excess = 0;
    return;
  }
  // the excess that a unit of the other's mass adds, including the other's own excess if it is
  // above
  const double rise = std::expm1(apart) + (apart > 0 ? other.excess / all * (1 - 16 * unit) : 0);
  const double wanted = std::abs(group.excess / rise) * (1 + (group.excess < 0 ? 64 : -64) * unit);
  const double amount = std::min(wanted, all);
  group.weight += amount * (1 - 16 * unit);
  ++group.additions;
  group.excess =
      amount < all ? 0 : group.excess + amount * rise - 32 * unit * std::abs(amount * rise);
  const double remaining = amount < all ? (1 - amount / all) * (1 - 16 * unit) : 0;
  other.weight *= remaining;
  other.excess *= remaining;
}

}  // namespace sotto::pld_detail
