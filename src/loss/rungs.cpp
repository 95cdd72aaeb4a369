#include "rungs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "rung_cells.hpp"
#include "settled.hpp"
#include "sotto/core/work.hpp"

namespace sotto::loss_detail {
namespace {

using Edge = LossLaw::Edge;

constexpr double few_rungs = 64;  // between the least and the largest loss: several starts are tried

// Up: an atom on a rung, or next to none: to both its neighbours; from below the first rung to that.
void place_atoms(const std::vector<LossLaw::Place>& atoms, Rungs& rungs) {
  double off = 0;
  for (const LossLaw::Place& atom : atoms) {
    const double room = atom.loss_room + 16 * unit * (std::abs(atom.loss) + std::abs(rungs.start));
    const auto nearest = static_cast<std::int64_t>(std::round((atom.loss - rungs.start) / rungs.height));
    const std::int64_t below = rung_at(rungs.start, rungs.height, atom.loss - room);
    // exponents and sums of all atoms are rounded
    const double rounding = 4 * unit * (4 + std::abs(atom.log) + std::abs(atom.loss) + rungs.height + static_cast<double>(atoms.size()));
    spend(100);
    const double sized = atom.mass * (1 + atom.room + rounding);
    const auto put = [&](std::int64_t rung, double mass) { rungs.add(rung, mass * std::exp(atom.log + rungs.at(rung))); };
    if (below < rungs.first) {
      put(rungs.first, sized);
    } else if (std::abs(atom.loss - rungs.at(nearest)) <= 2 * room) {
      off = std::max(off, 4 * room);
      put(nearest, sized);
    } else {
      const double share = std::clamp(std::expm1(atom.loss + room - rungs.at(below)) / std::expm1(rungs.height) * (1 + 16 * unit), 0.0, 1.0);
      put(below, sized * (1 - share));
      put(below + 1, sized * share);
    }
  }
  rungs.off += off;
}

// Where the rungs of a law begin whose losses do: so that the mean of the first cell is on the first one, or just above.
double first_mean(const LossLaw& law, double height) {
  const double least = law.least();
  const auto mean_at = [&](double start) {
    const double end = end_below(law, start + height, height, 0);
    double with = 0;
    double without = 0;
    if (end > least) {
      const Cell cell(law, least, law.edge(-infinity), end, law.edge(end));
      const LossLaw::Mass p = cell.with();
      const LossLaw::Mass& q = cell.without();
      with = p.at(0) * (1 - p.room - 64 * unit);
      without = q.at(0) * (1 + q.room + 64 * unit);
    }
    for (const LossLaw::Place& atom : law.atoms()) {
      if (!(atom.loss < end)) continue;
      with += atom.mass * std::exp(atom.log + atom.loss) * (1 - atom.room - atom.loss_room - 64 * unit);
      without += atom.mass * std::exp(atom.log) * (1 + atom.room + 64 * unit);
    }
    return without > 0 && with > 0 ? std::log(with / without) : least;
  };
  double low = least;
  double high = least + height;
  for (int turn = 0; turn < 60; ++turn) {
    const double middle = low + (high - low) / 2;
    (mean_at(middle) >= middle ? low : high) = middle;
  }
  return low - 1e-9 * height;
}

// Where there is a rung for certain: at the heaviest atom, tilted, or at the end of the losses.
double anchor_of(const LossLaw& law, const Span& span) {
  double best = -infinity;
  double anchor = std::isfinite(law.least()) ? law.least() : std::isfinite(law.most()) ? law.most() : 0;
  for (const LossLaw::Place& atom : law.atoms()) {
    const double log = std::log(atom.mass) + atom.log + (1 + span.tilt) * atom.loss;
    if (!(log > best)) continue;
    best = log;
    anchor = atom.loss;
  }
  return anchor;
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
  const double start = heap ? *heap : anchor_of(law, span);
  const double height = span.height;
  Rungs rungs{start, height, 0, {}, std::nullopt, 0, 0};
  const bool from_heap = heap && !(law.least() < *heap);
  rungs.first = from_heap ? 0 : rung_at(start, height, span.low) - 1;
  const std::int64_t last = rung_at(start, height, span.high) + (std::isinf(law.most()) ? 0 : 2);
  rungs.weights.assign(static_cast<std::size_t>(last - rungs.first + 1), 0.0);
  rungs.end = rungs.at(last);
  if (law.only_atoms()) {
    place_atoms(atoms, rungs);
    rungs.off += rounded(law, std::max(span.low, law.least()), std::min(span.high, law.most())) + 8 * unit * std::abs(start);
    return rungs;
  }
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
    spend(300);
    if (heap && j == 0) {  // the cell above the heap: only what it gives the upper end
      const LossLaw::Mass rise = law.beside_heap(from_heap ? law.edge(-infinity) : edge, next);
      const double share = rise.at(0) * (1 + rise.room + 16 * unit) / std::expm1(height) + underflow;
      rungs.add(1, share * std::exp(high) * (1 + 16 * unit));
      left += share;
    } else {
      const bool below_heap = heap && j == -1;
      const Raise one = raise(Cell(law, loss, edge, high, below_heap ? law.edge(just_below) : next), loss, height);
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
    place_atoms(atoms, rungs);
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

namespace {

// Down, with a rung at `start`, the first one if the losses begin there.
Rungs lowered_from(double start, bool begins, const LossLaw& law, const Span& span) {
  const double height = span.height;
  const double lowest = std::max(span.low, law.least());
  const std::int64_t first = begins ? std::max<std::int64_t>(0, rung_at(start, height, lowest) - 1) : rung_at(start, height, lowest) - 1;
  const std::int64_t last = std::max(first, rung_at(start, height, span.high) + (std::isinf(law.most()) ? -1 : 1));
  const auto at = [&](std::int64_t j) { return start + static_cast<double>(j) * height; };
  Settled settled(height, span.tilt, first, last);
  const bool all = begins && first == 0;
  double high = all ? law.least() : end_below(law, at(first), height, 0);
  Edge edge = law.edge(all ? -infinity : high);
  if (law.only_atoms()) high = at(last + 1);
  for (std::int64_t j = first; j <= last && !law.only_atoms(); ++j) {
    spend(500);
    const double low = high;
    high = end_below(law, at(j + 1), height, 0);
    const Edge next = law.edge(high);
    if (high > low) settled.add(j, lump(Cell(law, low, edge, high, next), low, high, at(j)));
    edge = next;
  }
  double off = 0;
  for (const LossLaw::Place& atom : law.atoms()) {
    if (atom.loss < lowest || atom.loss > high) continue;
    const auto nearest = static_cast<std::int64_t>(std::round((atom.loss - start) / height));
    const double room = atom.loss_room + 16 * unit * (std::abs(atom.loss) + std::abs(start));
    const double sized =
        atom.mass * std::exp(atom.log + at(nearest)) * std::max(0.0, 1 - atom.room - 16 * unit * (1 + std::abs(atom.log) + std::abs(at(nearest))));
    spend(100);
    const double mean = atom.loss - at(nearest);
    if (std::abs(mean) <= 2 * room) off = std::max(off, 4 * room);
    settled.add(nearest, {sized, std::abs(mean) <= 2 * room ? 0 : mean - room});
  }
  Rungs rungs{start, height, first, settled.weights(), std::nullopt, high, 0};
  rungs.off = off + rounded(law, lowest, std::min(span.high, law.most())) + 8 * unit * std::abs(start);
  return rungs;
}

}  // namespace

// Down: of a cell about a rung only its mass and mean are told. The cells end about where their means lie on rungs, and settle the rest.
Rungs lowered(const LossLaw& law, const Span& span) {
  if (const auto heap = law.heap()) {
    if (auto rungs = lowered_about(law, *heap, span)) return *rungs;
  }
  const auto atoms = law.atoms();
  const bool begins = std::isfinite(law.least());
  if (atoms.empty() && begins) return lowered_from(first_mean(law, span.height), true, law, span);
  Rungs best = lowered_from(anchor_of(law, span), false, law, span);
  if (!begins) return best;
  const auto worth = [&](const Rungs& rungs) {
    spend(10 * static_cast<double>(rungs.weights.size()));
    double sum = 0;
    for (std::int64_t j = rungs.first; j <= rungs.last(); ++j) {
      sum += rungs.weights[static_cast<std::size_t>(j - rungs.first)] * std::exp(span.tilt * rungs.at(j));
    }
    return sum;
  };
  const auto consider = [&](double start, bool first) {
    Rungs other = lowered_from(start, first, law, span);
    if (worth(other) > worth(best)) best = std::move(other);
  };
  // the mean of the lowest losses may be the better start, as next to a heap; and where there are few rungs, one of the atoms, or all in one place
  const bool few = law.most() - law.least() < few_rungs * span.height;
  if (few || !law.only_atoms()) consider(first_mean(law, span.height), true);
  if (!few) return best;
  consider(-1e-9 * span.height, false);
  for (const LossLaw::Place& atom : atoms) consider(atom.loss, false);
  return best;
}

}  // namespace sotto::loss_detail
