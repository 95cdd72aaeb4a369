#include "rungs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto::detail {
namespace {

constexpr double steepest = 0.3;  // slope times height of a cell in which the density is taken by its slopes

using Edge = LossLaw::Edge;
using Slopes = LossLaw::Slopes;

// log of the mean of e^ℓ, less the middle, under the density ∝ e^(sℓ) on a cell of this height: log of shc((s+1)h/2)/shc(sh/2), shc x = sinh x/x.
double mean_in(double slope, double height) {
  const auto log_shc = [](double x) {
    const double y = x * x;
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

// A cell of losses: its ends, masses and slopes.
class Cell {
 public:
  Cell(const LossLaw& law, double low, const Edge& from, double high, const Edge& to) : law_(law), low_(low), high_(high), from_(from), to_(to) {
    if (low < 0 && high > 0) {
      const Edge zero = law.edge(0);
      const Edge below = law.edge(-0x1p-1000);  // 0 as seen from below
      const LossLaw::Mass a = law.without(from, below);
      const LossLaw::Mass b = law.without(zero, to);
      without_ = {a.value + b.value, std::max(a.room, b.room) + 2 * unit};
    } else {
      without_ = law.without(from, to);
    }
  }
  [[nodiscard]] const LossLaw::Mass& without() const { return without_; }
  [[nodiscard]] LossLaw::Mass with() const {
    if (!(low_ < 0 && high_ > 0)) return law_.with(from_, to_);
    const LossLaw::Mass a = law_.with(from_, law_.edge(-0x1p-1000));
    const LossLaw::Mass b = law_.with(law_.edge(0), to_);
    return {a.value + b.value, std::max(a.room, b.room) + 2 * unit};
  }
  // Nothing is known where a density has a kink.
  [[nodiscard]] Slopes slopes() const {
    if ((low_ < 0 && high_ > 0) || low_ < law_.least() || high_ > law_.most()) return {-infinity, infinity};
    const Slopes slopes = law_.slopes(from_, to_);
    const double room = 1e-9;  // cells are a little longer or shorter than they are written down
    return {slopes.least - room * (1 + std::abs(slopes.least)), slopes.most + room * (1 + std::abs(slopes.most))};
  }

 private:
  const LossLaw& law_;
  double low_, high_;
  Edge from_, to_;
  LossLaw::Mass without_{};
};

}  // namespace

// An atom on a rung, or next to none: up to both its neighbours, or down. Returns how far off those are that are put on rungs.
double place_atoms(const LossLaw& law, Side side, const Rungs& rungs, const Drop& drop) {
  double off = 0;
  for (const LossLaw::Place& atom : law.atoms()) {
    const double room = atom.loss_room + 16 * unit * (std::abs(atom.loss) + std::abs(rungs.start));
    const auto nearest = static_cast<std::int64_t>(std::round((atom.loss - rungs.start) / rungs.height));
    const auto below = static_cast<std::int64_t>(std::floor((atom.loss - room - rungs.start) / rungs.height));
    if (std::abs(atom.loss - rungs.at(nearest)) <= 2 * room) {
      off = std::max(off, 4 * room);
      drop(nearest, rungs.at(nearest), atom.mass * (side == Side::upper ? 1 + atom.room : std::max(0.0, 1 - atom.room)));
    } else if (side == Side::lower) {
      drop(below, rungs.at(below), atom.mass * std::max(0.0, 1 - atom.room));
    } else {
      const double share = std::clamp(std::expm1(atom.loss + room - rungs.at(below)) / std::expm1(rungs.height) * (1 + 16 * unit), 0.0, 1.0);
      const double mass = atom.mass * (1 + atom.room + 8 * unit);
      drop(below, rungs.at(below), mass * (1 - share));
      drop(below + 1, rungs.at(below + 1), mass * share);
    }
  }
  return off;
}

// Up: a cell's mass goes to its two ends, so that its P-mass stays what it is. That is a larger pair. What is below the first rung goes there.
void raise_cells(const LossLaw& law, const Rungs& rungs, const Drop& drop) {
  const double lowest = rungs.at(rungs.first);
  Edge edge = law.edge(lowest);
  if (lowest > law.least()) {
    const LossLaw::Mass rest = lowest <= 0 ? law.without(law.edge(-infinity), edge) : LossLaw::Mass{1, 0};
    drop(rungs.first, lowest, rest.value * (1 + rest.room + 4 * unit) + underflow);
  }
  const double rise = std::expm1(rungs.height);
  double carried = 0;  // to the next rung
  for (std::int64_t j = rungs.first; j < rungs.last; ++j) {
    const double loss = rungs.at(j);
    const double high = rungs.at(j + 1);
    const Edge next = law.edge(high);
    const Cell cell(law, loss, edge, high, next);
    const double mass = cell.without().value * (1 + cell.without().room) + underflow;
    double share;
    if (const Slopes slopes = cell.slopes(); (std::abs(slopes.most) + 1) * rungs.height < steepest) {
      // of all densities whose logarithm is nowhere steeper, e^(sℓ) has the largest share at the upper end
      share = mass * std::expm1(mean_in(slopes.most, rungs.height) + mean_room(slopes.most, rungs.height) + rungs.height / 2) / rise * (1 + 8 * unit);
    } else {
      const LossLaw::Mass with = cell.with();
      share = (with.value * (1 + with.room) * std::exp(-loss) * (1 + 16 * unit + 4 * unit * std::abs(loss)) -
               cell.without().value * std::max(0.0, 1 - cell.without().room)) /
              rise * (1 + 8 * unit);
    }
    share = std::clamp(share, 0.0, mass);
    drop(j, loss, carried + (mass - share) * (1 + 4 * unit));
    carried = share;
    edge = next;
  }
  drop(rungs.last, rungs.at(rungs.last), carried);
}

// Down: of a cell about a rung only its mass and mean are told. That is a smaller pair. The cells end where their means lie on rungs, all but for
// next to nothing; all rungs are lowered by that, and a cell whose mean is lower goes a rung down. Returns by how much they are lowered, and where
// the last cell ends.
Lowered lower_cells(const LossLaw& law, const Rungs& rungs, double tilt, double scale, double count, const Drop& drop) {
  struct Lump {
    double mass, mean, share;  // mean: of its loss, from the rung; share: tilted
  };
  const double height = rungs.height;
  const auto end_below = [&](std::int64_t j) {
    const double end = rungs.start + (static_cast<double>(j) - 0.5) * height;
    const Edge edge = law.edge(end);
    const Slopes slopes = end <= law.least() || end >= law.most() ? Slopes{-infinity, infinity} : law.slopes(edge, edge);
    return (std::abs(slopes.least) + 1) * height < steepest ? end - mean_in(slopes.least, height) : end;
  };
  std::vector<Lump> lumps;
  double high = end_below(rungs.first);
  Edge edge = law.edge(high);
  for (std::int64_t j = rungs.first; j <= rungs.last; ++j) {
    const double rung = rungs.at(j);
    const double low = high;
    high = end_below(j + 1);
    const Edge next = law.edge(high);
    const Cell cell(law, low, edge, high, next);
    edge = next;
    const LossLaw::Mass& without = cell.without();
    const double mass = without.value * std::max(0.0, 1 - without.room);
    double mean = low - rung;
    if (const Slopes slopes = cell.slopes(); (std::abs(slopes.least) + 1) * (high - low) < steepest) {
      // of all densities whose logarithm is nowhere less steep, e^(sℓ) has the lowest mean
      mean = low - rung + (high - low) / 2 + mean_in(slopes.least, high - low) - mean_room(slopes.least, high - low);
    } else if (mass > 0) {
      const LossLaw::Mass with = cell.with();
      const double rise =
          with.value * (1 - with.room) * std::exp(-rung) * (1 - 16 * unit - 4 * unit * std::abs(rung)) / (without.value * (1 + without.room)) - 1;
      if (rise > mean) mean = std::log1p(rise) - 4 * unit;
    }
    lumps.push_back({mass, std::clamp(mean, -0.9 * height, 0.9 * height), mass * std::exp(std::min(600.0, (tilt + 1) * rung - scale))});
  }
  // How much lower: what that costs against what a rung costs for those that are lower still; above their rungs only where there are no
  // atoms. At least one step is beside the heaviest cell, however rarely that is.
  double all = 0;
  double heaviest = 0;
  for (const Lump& lump : lumps) {
    all += lump.share;
    heaviest = std::max(heaviest, lump.share);
  }
  const double lift = std::max(1.0, 1 / (count * std::max(all - heaviest, 1e-300)));
  for (Lump& lump : lumps) lump.share *= lump.share < heaviest ? lift : 1;
  double best = infinity;
  double by = 0.9 * height;
  const auto consider = [&](double candidate) {
    double below = 0;
    for (const Lump& lump : lumps) below += lump.mean < -candidate ? lump.share : 0;
    if (const double cost = candidate + height * below; cost < best) {
      best = cost;
      by = candidate;
    }
  };
  const bool atoms = !law.atoms().empty();
  for (double candidate = height * 1e-12; candidate < 0.9 * height; candidate *= 4) consider(candidate);
  for (double share = 0.1; share > 1e-20; share *= 0.01) {
    double least = infinity;
    for (const Lump& lump : lumps) least = lump.share > share ? std::min(least, lump.mean) : least;
    if (std::isfinite(least)) consider(atoms ? std::max(0.0, -least) : -least);
  }
  for (std::size_t i = 0; i < lumps.size(); ++i) {
    const double down = std::max(0.0, std::ceil((-by - lumps[i].mean) / height));
    const std::int64_t rung = rungs.first + static_cast<std::int64_t>(i) - static_cast<std::int64_t>(down);
    drop(rung, rungs.at(rung) - by, lumps[i].mass);
  }
  return {by, high};
}

}  // namespace sotto::detail
