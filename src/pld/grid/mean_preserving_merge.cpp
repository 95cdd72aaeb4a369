#include "pld/grid/mean_preserving_merge.hpp"

#include <cmath>

namespace sotto::pld_detail {

MeanPreservingMerge::One& MeanPreservingMerge::One::operator+=(const One& other) {
  weight += other.weight;
  gain += other.gain;
  terms += other.terms + 1;
  return *this;
}

void MeanPreservingMerge::add(std::int64_t j, const CellMean& cell_mean) {
  const std::int64_t point = std::min(j, first_ + static_cast<std::int64_t>(all_.size()) - 1);
  if (point < first_ || !(cell_mean.weight > 0)) return;
  const double down = static_cast<double>(j - point) * spacing_;
  const double weight = cell_mean.weight * std::exp(-down) * (1 - 8 * unit);
  const double gain = weight * std::expm1(cell_mean.mean + down);
  const auto at = static_cast<std::size_t>(point - first_);
  (gain < 0 ? low_ : all_)[at] += {weight, gain - 16 * unit * (1 + down) * std::abs(gain)};
}

// Sums of gains are rounded, too: n terms of at most a mass times a grid point's height, within n grid points, to a unit of their span, which losses
// are off by in any case.
std::vector<double> MeanPreservingMerge::weights() {
  lift_lowest();
  for (std::size_t j = all_.size(); j-- > 0;) {
    One& low = low_[j];
    if (low.gain + all_[j].gain < 0 && worth_taking(j)) {
      for (std::size_t from = above(j); low.gain < 0 && from < all_.size(); from = above(j)) take(j, low, from);
    }
    if (low.gain + all_[j].gain >= 0) {
      all_[j] += low;
    } else if (j > 0) {  // there is no other way but down
      const double weight = low.weight * std::exp(-spacing_) * (1 - 8 * unit);
      const double up = weight * std::expm1(spacing_);
      const double gain = up + low.gain - 16 * unit * (up + std::abs(low.gain));
      (gain < 0 ? low_ : all_)[j - 1] += {weight, gain, low.terms};
    }
  }
  for (std::size_t j = 1; j < all_.size(); ++j) {
    for (std::size_t from = below(j); all_[j].gain > 0 && from < j; from = below(j)) take(j, all_[j], from);
  }
  std::vector<double> weights;
  for (const One& one : all_) weights.push_back(one.weight * (1 - (16 + 2 * one.terms) * unit));
  return weights;
}

// What is taken from above would count for more up there; all that is low here may go a grid point down instead.
bool MeanPreservingMerge::worth_taking(std::size_t j) {
  const One& low = low_[j];
  const double down = -low.weight * std::expm1(-(1 + tilt_) * spacing_);
  double wanted = -low.gain;
  double cost = 0;
  for (std::size_t from = above(j); from < all_.size(); from = above(from)) {
    const double apart = static_cast<double>(from - j) * spacing_;
    const double all = all_[from].weight * std::exp(-apart);
    const double rise = std::expm1(apart);
    const double taken = std::min(all, wanted / rise);
    cost += taken * std::expm1((1 + tilt_) * apart);
    if (!(cost < down)) return false;
    wanted -= taken * rise;
    if (taken < all) return true;
  }
  return false;
}

// The lowest grid point has none to take from: where that would waste much, its outcomes rather take from above.
void MeanPreservingMerge::lift_lowest() {
  std::size_t j = 0;
  while (j + 1 < all_.size() && !(all_[j].weight + low_[j].weight > 0)) ++j;
  if (j + 1 >= all_.size()) return;
  One one = all_[j];
  one += low_[j];
  const double rise = std::expm1(spacing_);
  if (!(one.gain > 1e-3 * rise * one.weight)) return;
  const double down = one.weight * rise;
  const double gain = one.gain - down - 16 * unit * (one.gain + down);
  (gain < 0 ? low_ : all_)[j + 1] += {one.weight * std::exp(spacing_) * (1 - 8 * unit), gain, one.terms};
  all_[j] = {};
  low_[j] = {};
}

// The next grid point that has something; the last and one more, or j, where there is none.
std::size_t MeanPreservingMerge::above(std::size_t j) {
  std::size_t& none = all_[j].none_above;
  while (j + 1 + none < all_.size() && !(all_[j + 1 + none].weight > 0)) none += 1 + all_[j + 1 + none].none_above;
  return j + 1 + none;
}

std::size_t MeanPreservingMerge::below(std::size_t j) {
  std::size_t& none = all_[j].none_below;
  while (none < j && !(all_[j - 1 - none].weight > 0)) none += 1 + all_[j - 1 - none].none_below;
  return none < j ? j - 1 - none : j;
}

// As much of another grid point as brings the mean to grid point j, or all of it.
void MeanPreservingMerge::take(std::size_t j, One& one, std::size_t from) {
  One& other = all_[from];
  const double apart = (static_cast<double>(from) - static_cast<double>(j)) * spacing_;
  const double all = other.weight * std::exp(-apart);
  if (!(all > underflow)) {
    other.weight = other.gain = 0;
    return;
  }
  // what a unit of its mass, times e^grid point of this one, gives: from above with what its own mean is above its grid point
  const double rise = std::expm1(apart) + (apart > 0 ? other.gain / all * (1 - 16 * unit) : 0);
  const double wanted = std::abs(one.gain / rise) * (1 + (one.gain < 0 ? 64 : -64) * unit);
  const double taken = std::min(wanted, all);
  one.weight += taken * (1 - 16 * unit);
  ++one.terms;
  one.gain = taken < all ? 0 : one.gain + taken * rise - 32 * unit * std::abs(taken * rise);
  const double left = taken < all ? (1 - taken / all) * (1 - 16 * unit) : 0;  // of the other
  other.weight *= left;
  other.gain *= left;
}

}  // namespace sotto::pld_detail
