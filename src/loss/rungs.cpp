#include "rungs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "rung_cells.hpp"

namespace sotto::detail {
namespace {

using Edge = LossLaw::Edge;

// An atom on a rung, or next to none: up to both its neighbours, or down.
void place_atoms(const std::vector<LossLaw::Place>& atoms, Side side, Rungs& rungs) {
  double off = 0;
  for (const LossLaw::Place& atom : atoms) {
    const double room = atom.loss_room + 16 * unit * (std::abs(atom.loss) + std::abs(rungs.start));
    const auto nearest = static_cast<std::int64_t>(std::round((atom.loss - rungs.start) / rungs.height));
    const std::int64_t below = rung_at(rungs.start, rungs.height, atom.loss - room);
    const double sized = side == Side::upper ? atom.mass * (1 + atom.room + 16 * unit) : atom.mass * std::max(0.0, 1 - atom.room - 16 * unit);
    const auto put = [&](std::int64_t rung, double mass) { rungs.add(rung, mass * std::exp(atom.log + rungs.at(rung))); };
    if (std::abs(atom.loss - rungs.at(nearest)) <= 2 * room) {
      off = std::max(off, 4 * room);
      put(nearest, sized);
    } else if (side == Side::lower) {
      put(below, sized);
    } else {
      const double share = std::clamp(std::expm1(atom.loss + room - rungs.at(below)) / std::expm1(rungs.height) * (1 + 16 * unit), 0.0, 1.0);
      put(below, sized * (1 - share));
      put(below + 1, sized * share);
    }
  }
  rungs.off += off;
}

// Down: an atom next to no rung, and so much of the density on one side of it that together they have their mean on the nearest rung. That is of
// order 3/2 in the rungs' height, where the atom alone would go down to the next.
struct Drawn {
  double from, to;  // what is taken of the density
  std::int64_t rung;
  double weight;  // times e^rung
};

std::optional<Drawn> drawn_to(std::int64_t rung, const LossLaw& law, const LossLaw::Place& atom, double start, double height, Bound free) {
  const double margin = 2 * law.off(atom.loss) + atom.loss_room + 16 * unit * (std::abs(atom.loss) + std::abs(start));
  const double place = start + static_cast<double>(rung) * height;
  const double mass = atom.mass * std::max(0.0, 1 - atom.room - 16 * unit);
  const double rise = std::expm1(atom.loss - margin - place) * std::exp(atom.log + place);
  const double lift = rise - std::abs(rise) * unit * (32 + 8 * (std::abs(atom.log) + std::abs(place)));  // of a unit of the atom's, from below
  const bool down = place < atom.loss;
  // E_Q[e^L - e^(rung + margin)] of the cell's density, from below, its mass, and what the atom makes of that
  struct Sum {
    double excess, weight;
  };
  const auto sum_at = [&](double end) {
    const double low = down ? end : atom.loss;
    const double high = down ? atom.loss : end;
    const Cell cell(law, low, law.edge(low), high, law.edge(high));
    const LossLaw::Mass with = cell.with();
    const LossLaw::Mass& without = cell.without();
    const double room = 16 * unit * (1 + std::abs(with.log) + std::abs(without.log) + std::abs(place) + std::abs(atom.log));
    const double most = without.at(place) * (1 + without.room + room);
    const double excess = with.at(0) * (1 - with.room - room) - most * (1 + 2 * margin) + mass * lift;
    return Sum{excess, without.at(place) * std::max(0.0, 1 - without.room - room) + mass * std::exp(atom.log + place) * (1 - room)};
  };
  // the longest cell that still has its mean above the rung, or the shortest that has
  double yes = down ? atom.loss - 1e-6 * height : free.upper;
  double no = down ? free.lower : atom.loss + 1e-6 * height;
  if (!(down ? yes > no : no < yes) || !(sum_at(yes).excess >= 0)) return std::nullopt;
  if (sum_at(no).excess >= 0) return std::nullopt;  // there is too little beside it
  for (int turn = 0; turn < 100 && std::abs(yes - no) > 1e-6 * height; ++turn) {
    const double middle = yes + (no - yes) / 2;
    (sum_at(middle).excess >= 0 ? yes : no) = middle;
  }
  return Drawn{down ? yes : atom.loss, down ? atom.loss : yes, rung, sum_at(yes).weight};
}

// To the nearest rung, or to that on its other side.
std::optional<Drawn> draw(const LossLaw& law, const LossLaw::Place& atom, double start, double height, Bound free) {
  const auto nearest = static_cast<std::int64_t>(std::round((atom.loss - start) / height));
  const double off = atom.loss - start - static_cast<double>(nearest) * height;
  if (std::abs(off) <= 2 * (atom.loss_room + 16 * unit * (std::abs(atom.loss) + std::abs(start)))) return std::nullopt;  // it is on a rung
  const auto one = drawn_to(nearest, law, atom, start, height, free);
  return one ? one : drawn_to(nearest + (off > 0 ? 1 : -1), law, atom, start, height, free);
}

}  // namespace

void Rungs::add(std::int64_t j, double weight) {
  if (!(weight > 0)) return;
  if (j < first) {
    weights.insert(weights.begin(), static_cast<std::size_t>(first - j), 0.0);
    first = j;
  }
  const auto at = static_cast<std::size_t>(j - first);
  if (at >= weights.size()) weights.resize(at + 1, 0.0);
  weights[at] += weight;
}

Rungs raised(const LossLaw& law, const Span& span) {
  const auto atoms = law.atoms();
  const auto heap = law.heap();
  // a rung where there is an atom, or the most mass in one place: at the end of the losses
  const double end_of_losses = std::isfinite(law.least()) ? law.least() : std::isfinite(law.most()) ? law.most() : 0;
  const double start = heap ? *heap : atoms.empty() ? end_of_losses : atoms.front().loss;
  const double height = span.height;
  Rungs rungs{start, height, 0, {}, std::nullopt, 0, 0};
  const bool from_heap = heap && !(law.least() < *heap);
  rungs.first = from_heap ? 0 : rung_at(start, height, span.low) - 1;
  const std::int64_t last = rung_at(start, height, span.high) + (std::isinf(law.most()) ? 0 : 2);
  rungs.weights.assign(static_cast<std::size_t>(last - rungs.first + 1), 0.0);
  rungs.end = rungs.at(last);
  const double lowest = rungs.at(rungs.first);
  Edge edge = law.edge(lowest);
  double left = 0;  // Q of all that is not about the heap, from below
  if (lowest > law.least() && !from_heap) {
    const LossLaw::Mass rest = lowest <= 0 ? law.without(law.edge(-infinity), edge) : LossLaw::Mass{1, 0};
    rungs.add(rungs.first, rest.at(lowest) * (1 + rest.room + 16 * unit) + underflow);
  }
  for (std::int64_t j = rungs.first; j < last; ++j) {
    const double loss = rungs.at(j);
    const double high = rungs.at(j + 1);
    const Edge next = law.edge(high);
    if (heap && j == 0) {  // the cell above the heap: only what it gives the upper end
      const LossLaw::Mass rise = law.beside_heap(from_heap ? law.edge(-infinity) : edge, next);
      const double share = rise.at(0) * (1 + rise.room + 16 * unit) / std::expm1(height) + underflow;
      rungs.add(1, share * std::exp(high) * (1 + 16 * unit));
      left += share;
    } else {
      const bool below_heap = heap && j == -1;
      const Raise one = raise(Cell(law, loss, edge, high, below_heap ? law.edge(just_below) : next), loss, height, heap && std::abs(j) <= near_heap);
      rungs.add(j, (one.mass - one.share) * (1 + 4 * unit));
      if (below_heap) {
        const LossLaw::Mass rest = law.without(law.edge(-infinity), edge);
        left += rest.at(0) * std::max(0.0, 1 - rest.room - 16 * unit) + std::max(0.0, one.least - one.share) * std::exp(-loss) * (1 - 16 * unit);
      } else {
        rungs.add(j + 1, one.share * std::exp(height) * (1 + 4 * unit));
      }
    }
    edge = next;
  }
  if (!heap) {
    place_atoms(atoms, Side::upper, rungs);
    rungs.off += rounded(law, std::max(span.low, law.least()), std::min(span.high, law.most())) + 8 * unit * std::abs(start);
    return rungs;
  }
  const LossLaw::Mass right = law.without(law.edge(rungs.at(1)), law.edge(infinity));
  left += right.at(0) * std::max(0.0, 1 - right.room - 16 * unit);
  // losses beside the heap may be off by more than it: of each a share goes a rung up
  const double share = std::expm1(rounded(law, std::max(span.low, law.least()), span.high)) / std::expm1(height) * (1 + 1e-9);
  for (std::int64_t j = last; j >= rungs.first; --j) {
    double& weight = rungs.weights[static_cast<std::size_t>(j - rungs.first)];
    const double moved = j == 0 ? 0 : share * weight;
    weight -= moved * (1 - 8 * unit);
    if (j == -1) {
      left -= moved * std::exp(-rungs.at(j)) * (1 + 16 * unit);
    } else {
      rungs.add(j + 1, moved * std::exp(height) * (1 + 8 * unit));
    }
  }
  const double log = std::log1p(-std::clamp(left, 0.0, 1.0));
  rungs.heap = {start + log, 8 * unit * (std::abs(start) + std::abs(log))};
  rungs.off = 2 * law.off(start) + 4 * unit * std::abs(start);
  return rungs;
}

// Down: of a cell about a rung only its mass and mean are told. That is a smaller pair. The cells end where their means lie on rungs, all but for
// next to nothing; all rungs are lowered by that, and a cell whose mean is lower goes a rung down.
Rungs lowered(const LossLaw& law, const Span& span) {
  if (const auto heap = law.heap()) {
    if (auto rungs = lowered_about(law, *heap, span)) return *rungs;
  }
  const auto atoms = law.atoms();
  const double end_of_losses = std::isfinite(law.least()) ? law.least() : std::isfinite(law.most()) ? law.most() : 0;
  const double start = atoms.empty() ? end_of_losses : atoms.front().loss;
  const double height = span.height;
  const std::int64_t first = rung_at(start, height, span.low) - 1;
  const std::int64_t last = rung_at(start, height, span.high) + (std::isinf(law.most()) ? -1 : 2);
  const auto at = [&](std::int64_t j) { return start + static_cast<double>(j) * height; };
  struct Tilted {
    Lump lump;
    double share;
  };
  // atoms that draw some of the density to them, none that of another
  std::vector<Drawn> drawn;
  std::vector<LossLaw::Place> alone;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    double below = std::max(law.least(), span.low);
    double above = std::min(law.most(), span.high);
    for (const LossLaw::Place& other : atoms) {
      if (other.loss < atoms[i].loss) below = std::max(below, (other.loss + atoms[i].loss) / 2);
      if (other.loss > atoms[i].loss) above = std::min(above, (other.loss + atoms[i].loss) / 2);
    }
    if (const auto one = draw(law, atoms[i], start, height, {below, above})) {
      drawn.push_back(*one);
    } else {
      alone.push_back(atoms[i]);
    }
  }
  std::vector<Tilted> lumps;
  double high = end_below(law, at(first), height, 0);
  Edge edge = law.edge(high);
  for (std::int64_t j = first; j <= last; ++j) {
    const double low = high;
    high = end_below(law, at(j + 1), height, 0);
    const Edge next = law.edge(high);
    // what the atoms leave of it: one piece, which none of them has
    double from = low;
    double to = high;
    for (const Drawn& other : drawn) {
      if (!(other.from < to && other.to > from)) continue;
      (other.from > from ? to : from) = other.from > from ? other.from : std::min(other.to, to);
    }
    const bool whole = from == low && to == high;
    Lump one{0, 0};
    if (to > from) one = lump(Cell(law, from, whole ? edge : law.edge(from), to, whole ? next : law.edge(to)), from, to, at(j), false);
    one.mean = std::clamp(one.mean, -0.9 * height, 0.9 * height);
    edge = next;
    lumps.push_back({one, one.weight * std::exp(std::min(600.0, span.tilt * at(j) - span.scale))});
  }
  // How much lower: what that costs against what a rung costs for those that are lower still; above their rungs only where there are no
  // atoms. At least one step is beside the heaviest cell, however rarely that is.
  double all = 0;
  double heaviest = 0;
  for (const Tilted& one : lumps) {
    all += one.share;
    heaviest = std::max(heaviest, one.share);
  }
  const double lift = std::max(1.0, 1 / (span.count * std::max(all - heaviest, 1e-300)));
  for (Tilted& one : lumps) one.share *= one.share < heaviest ? lift : 1;
  double best = infinity;
  double by = 0.9 * height;
  const auto consider = [&](double candidate) {
    double below = 0;
    for (const Tilted& one : lumps) below += one.lump.mean < -candidate ? one.share : 0;
    if (const double cost = candidate + height * below; cost < best) {
      best = cost;
      by = candidate;
    }
  };
  for (double candidate = height * 1e-12; candidate < 0.9 * height; candidate *= 4) consider(candidate);
  for (double share = 0.1; share > 1e-20; share *= 0.01) {
    double least = infinity;
    for (const Tilted& one : lumps) least = one.share > share ? std::min(least, one.lump.mean) : least;
    if (std::isfinite(least)) consider(atoms.empty() ? -least : std::max(0.0, -least));
  }
  Rungs rungs{start - by, height, first, std::vector<double>(lumps.size(), 0.0), std::nullopt, high, 0};
  for (std::size_t i = 0; i < lumps.size(); ++i) {
    const double down = std::max(0.0, std::ceil((-by - lumps[i].lump.mean) / height));
    rungs.add(first + static_cast<std::int64_t>(i) - static_cast<std::int64_t>(down),
              lumps[i].lump.weight * std::exp(-by - down * height) * (1 - 8 * unit));
  }
  for (const Drawn& one : drawn) rungs.add(one.rung, one.weight * std::exp(-by) * (1 - 8 * unit));
  place_atoms(alone, Side::lower, rungs);
  rungs.off += rounded(law, std::max(span.low, law.least()), std::min(span.high, law.most())) + 8 * unit * std::abs(start);
  return rungs;
}

}  // namespace sotto::detail
