#include "rung_cells.hpp"

#include <algorithm>

namespace sotto::loss_detail {
namespace {

constexpr double steepest = 0.3;  // slope times height of a cell in which the density is taken by its slopes

using Edge = LossLaw::Edge;
using Slopes = LossLaw::Slopes;

// log of the mean of e^ℓ, less the middle, under the density ∝ e^(sℓ) on a cell of this height: log of shc((s+1)h/2)/shc(sh/2), shc x = sinh x/x.
double mean_in(double slope, double height) {
  const auto log_shc = [](double x) {
    const double y = x * x;
    if (y > 0.1) return std::abs(x) + std::log(-std::expm1(-2 * std::abs(x)) / (2 * std::abs(x)));
    return y / 6 * (1 - y / 30 * (1 - 4 * y / 63 * (1 - 3 * y / 40)));  // the next term is x^10/467775
  };
  return log_shc((slope + 1) * height / 2) - log_shc(slope * height / 2);
}

// How far off that may be, where |slope| + 1 times height is at most `steepest`: both series end alternating.
double mean_room(double slope, double height) {
  const double x = (std::abs(slope) + 1) * height / 2;
  const double y = x * x;
  return y * y * y * y * y / 200000 + 16 * unit;
}

// Whether they tell the mean as well as masses would, whose rounding is about that.
bool well_known(const Slopes& slopes, double height) { return (slopes.most - slopes.least) * height * height / 12 < 1e-13; }

}  // namespace

double rounded(const LossLaw& law, double low, double high) {
  return 2 * std::max({law.off(low), law.off(high), law.off(0), law.off((low + high) / 2)}) + 8 * unit * (std::abs(low) + std::abs(high));
}

Raise raise(const Cell& cell, double loss, double height) {
  const double rise = std::expm1(height);
  const LossLaw::Mass& without = cell.without();
  const double room = 16 * unit + 4 * unit * (std::abs(loss) + std::abs(without.log));
  const double mass = without.at(loss) * (1 + without.room + room) + underflow;
  double share = mass;
  const Slopes slopes = cell.slopes();
  if ((std::abs(slopes.most) + 1) * height < steepest) {
    // of all densities whose logarithm is nowhere steeper, e^(sℓ) has the largest share at the upper end
    share = mass * std::expm1(mean_in(slopes.most, height) + mean_room(slopes.most, height) + height / 2) / rise * (1 + 8 * unit);
  }
  if (!well_known(slopes, height)) {
    const LossLaw::Mass with = cell.with();
    const double by_masses =
        with.at(0) * (1 + with.room + 16 * unit + 4 * unit * std::abs(with.log)) - without.at(loss) * std::max(0.0, 1 - without.room - room);
    share = std::min(share, by_masses / rise * (1 + 8 * unit));
  }
  return {mass, std::clamp(share, 0.0, mass), without.at(loss) * std::max(0.0, 1 - without.room - room)};
}

double mean_of(const LossLaw::Mass& with, const LossLaw::Mass& without) {
  const double log = std::log(with.value / without.value) + (with.log - without.log);
  return log - with.room - without.room - 16 * unit * (1 + std::abs(with.log) + std::abs(without.log));
}

Lump lump(const Cell& cell, double low, double high, double rung) {
  const LossLaw::Mass& without = cell.without();
  const double room = without.room + 16 * unit + 4 * unit * (std::abs(rung) + std::abs(without.log));
  const double weight = without.at(rung) * std::max(0.0, 1 - room);
  double mean = low - rung;
  const Slopes slopes = cell.slopes();
  if ((std::abs(slopes.least) + 1) * (high - low) < steepest) {
    // of all densities whose logarithm is nowhere less steep, e^(sℓ) has the lowest mean
    mean = low - rung + (high - low) / 2 + mean_in(slopes.least, high - low) - mean_room(slopes.least, high - low);
  }
  if (weight > 0 && !well_known(slopes, high - low)) mean = std::max(mean, mean_of(cell.with(), without) - rung);
  return {weight, mean};
}

double end_below(const LossLaw& law, double rung, double height, double margin) {
  const double end = rung - height / 2;
  const Edge edge = law.edge(end);
  const Slopes slopes = end <= law.least() || end >= law.most() ? Slopes{-infinity, infinity} : law.slopes(edge, edge);
  return std::abs(slopes.least) * height < 1e6 ? end - mean_in(slopes.least, height) + margin : end;
}

}  // namespace sotto::loss_detail
