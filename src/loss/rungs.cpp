#include "rungs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sotto::detail {
namespace {

constexpr double steepest = 0.3;  // slope times height of a cell in which the density is taken by its slopes

constexpr double just_below = -0x1p-1000;  // 0 as seen from below
constexpr std::int64_t near_heap = 4096;   // rungs next to a heap, whose cells are cut exactly

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
      without_ = sum(law.without(from, law.edge(just_below)), law.without(law.edge(0), to));
    } else {
      without_ = law.without(from, to);
    }
  }
  [[nodiscard]] const LossLaw::Mass& without() const { return without_; }
  [[nodiscard]] LossLaw::Mass with() const {
    if (!(low_ < 0 && high_ > 0)) return law_.with(from_, to_);
    return sum(law_.with(from_, law_.edge(just_below)), law_.with(law_.edge(0), to_));
  }
  // Nothing is known where a density has a kink.
  [[nodiscard]] Slopes slopes() const {
    if ((low_ < 0 && high_ > 0) || low_ < law_.least() || high_ > law_.most()) return {-infinity, infinity};
    const Slopes slopes = law_.slopes(from_, to_);
    const double room = 1e-9;  // cells are a little longer or shorter than they are written down
    return {slopes.least - room * (1 + std::abs(slopes.least)), slopes.most + room * (1 + std::abs(slopes.most))};
  }

 private:
  static LossLaw::Mass sum(const LossLaw::Mass& a, const LossLaw::Mass& b) {  // of small losses
    return {a.at(0) + b.at(0), std::max(a.room, b.room) + 8 * unit * (1 + std::abs(a.log) + std::abs(b.log))};
  }

  const LossLaw& law_;
  double low_, high_;
  Edge from_, to_;
  LossLaw::Mass without_{};
};

std::int64_t rung_at(double start, double height, double loss) { return static_cast<std::int64_t>(std::floor((loss - start) / height)); }

// How far off losses may be: the most at the ends, or nearly so.
double rounded(const LossLaw& law, double low, double high) {
  return 2 * std::max({law.off(low), law.off(high), law.off(0), law.off((low + high) / 2)}) + 8 * unit * (std::abs(low) + std::abs(high));
}

// An atom on a rung, or next to none: up to both its neighbours, or down.
void place_atoms(const LossLaw& law, Side side, Rungs& rungs) {
  double off = 0;
  for (const LossLaw::Place& atom : law.atoms()) {
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

// What a cell between two rungs gives them, times e^loss of the lower: its mass, and of that the share of the upper one so that P keeps its mass.
// Bounds from above on both make a larger pair.
struct Raise {
  double mass, share;
  double least;  // the mass, from below
};

Raise raise(const Cell& cell, double loss, double height, bool exactly) {
  const double rise = std::expm1(height);
  const LossLaw::Mass& without = cell.without();
  const double room = 16 * unit + 4 * unit * (std::abs(loss) + std::abs(without.log));
  const double mass = without.at(loss) * (1 + without.room + room) + underflow;
  double share;
  if (const Slopes slopes = exactly ? Slopes{-infinity, infinity} : cell.slopes(); (std::abs(slopes.most) + 1) * height < steepest) {
    // of all densities whose logarithm is nowhere steeper, e^(sℓ) has the largest share at the upper end
    share = mass * std::expm1(mean_in(slopes.most, height) + mean_room(slopes.most, height) + height / 2) / rise * (1 + 8 * unit);
  } else {
    const LossLaw::Mass with = cell.with();
    share = (with.at(0) * (1 + with.room + 16 * unit + 4 * unit * std::abs(with.log)) - without.at(loss) * std::max(0.0, 1 - without.room - room)) /
            rise * (1 + 8 * unit);
  }
  return {mass, std::clamp(share, 0.0, mass), without.at(loss) * std::max(0.0, 1 - without.room - room)};
}

struct Lump {
  double weight, mean;  // its mass times e^rung, and the mean of its loss from the rung; from below
};

// log of E_Q[e^L] over Q's mass, from below.
double mean_of(const LossLaw::Mass& with, const LossLaw::Mass& without) {
  const double log = std::log(with.value / without.value) + (with.log - without.log);
  return log - with.room - without.room - 16 * unit * (1 + std::abs(with.log) + std::abs(without.log));
}

// What a cell about a rung tells. Exactly by its masses, where it is cut by them.
Lump lump(const Cell& cell, double low, double high, double rung, bool exactly) {
  const LossLaw::Mass& without = cell.without();
  const double room = without.room + 16 * unit + 4 * unit * (std::abs(rung) + std::abs(without.log));
  const double weight = without.at(rung) * std::max(0.0, 1 - room);
  double mean = low - rung;
  if (const Slopes slopes = exactly ? Slopes{-infinity, infinity} : cell.slopes(); (std::abs(slopes.least) + 1) * (high - low) < steepest) {
    // of all densities whose logarithm is nowhere less steep, e^(sℓ) has the lowest mean
    mean = low - rung + (high - low) / 2 + mean_in(slopes.least, high - low) - mean_room(slopes.least, high - low);
  } else if (weight > 0) {
    mean = std::max(mean, mean_of(cell.with(), without) - rung);
  }
  return {weight, mean};
}

// Where cells about rungs are to end for their means to lie on the rungs, by the density's slope there.
double end_below(const LossLaw& law, double rung, double height, double margin) {
  const double end = rung - height / 2;
  const Edge edge = law.edge(end);
  const Slopes slopes = end <= law.least() || end >= law.most() ? Slopes{-infinity, infinity} : law.slopes(edge, edge);
  return (std::abs(slopes.least) + 1) * height < steepest ? end - mean_in(slopes.least, height) + margin : end;
}

// Down, next to a heap: what is about it goes to its mean, and there the ladder starts. The cells of the nearest rungs end exactly where their means
// lie on rungs, the farther ones first: the nearer, the more steeply the density falls.
class AboutHeap {
 public:
  AboutHeap(const LossLaw& law, double heap, const Span& span)
      : law_(law), heap_(heap), height_(span.height), margin_(rounded(law, std::max(span.low, law.least()), span.high)), start_(heap) {
    above_ = std::max<std::int64_t>(1, std::min(near_heap, rung_at(heap, height_, span.high) - 1));
    below_ = law.least() < heap ? std::max<std::int64_t>(1, std::min(near_heap, -rung_at(heap, height_, span.low) - 1)) : 0;
    for (int turn = 0; turn < 20; ++turn) {
      cut();
      const double next = mean();
      if (!(std::abs(next - heap_) < 0.3 * height_)) return;
      found_ = std::abs(next - start_) <= 1e-9 * height_;  // other cells have their means that much higher
      start_ = next;
      if (found_) return;
    }
  }
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] double start() const { return start_; }
  /// By how much losses may be off, and by how much means lie above the rungs.
  [[nodiscard]] double margin() const { return margin_; }
  [[nodiscard]] double aim() const { return margin_ + 2e-9 * height_; }
  /// Where the cells of rungs -below … above end, from the left; those of the heap's are ends()[below()] and the next.
  [[nodiscard]] const std::vector<double>& ends() const { return ends_; }
  [[nodiscard]] std::int64_t below() const { return below_; }
  [[nodiscard]] std::int64_t above() const { return above_; }
  /// Q of all that is not about the heap, from above.
  [[nodiscard]] double rest() const { return rest_; }

 private:
  void cut() {
    ends_.assign(static_cast<std::size_t>(below_ + above_ + 2), -infinity);
    const auto at = [&](std::int64_t j) { return start_ + static_cast<double>(j) * height_; };
    const auto heap = static_cast<std::size_t>(below_);
    double known = end_below(law_, at(above_ + 1), height_, aim());
    ends_.back() = known;
    for (std::int64_t j = above_; j >= 1; --j) ends_[heap + static_cast<std::size_t>(j)] = known = other_end(known, at(j));
    if (below_ == 0) return;
    known = end_below(law_, at(-below_), height_, aim());
    ends_.front() = known;
    for (std::int64_t j = -below_; j <= -1; ++j) ends_[heap + static_cast<std::size_t>(j + 1)] = known = other_end(known, at(j));
  }
  // The other end of a cell with its mean on a rung, a little above it: a root of E_Q[e^L - e^rung], by secants.
  [[nodiscard]] double other_end(double known, double rung) const {
    const Edge edge = law_.edge(known);
    const auto excess = [&](double end) {
      const Edge other = law_.edge(end);
      const Edge& from = end < known ? other : edge;
      const Edge& to = end < known ? edge : other;
      const LossLaw::Mass p = law_.with(from, to);
      const LossLaw::Mass q = law_.without(from, to);
      return mean_of(p, q) - rung - aim();
    };
    // no farther than the heap
    const double limit = known < rung && heap_ == 0 ? just_below : heap_;
    const auto allowed = [&](double end) {
      return known > rung ? std::clamp(end, std::max(limit, rung - height_), rung) : std::clamp(end, rung, std::min(limit, rung + height_));
    };
    double x0 = allowed(2 * rung - known);
    double y0 = excess(x0);
    double x1 = allowed(x0 - 2 * y0);
    for (int turn = 0; turn < 12; ++turn) {
      const double y1 = excess(x1);
      if (std::abs(y1) <= 1e-13 * height_ || x1 == x0 || y1 == y0) break;
      const double next = allowed(x1 - y1 * (x1 - x0) / (y1 - y0));
      x0 = x1;
      y0 = y1;
      if (std::isnan(next)) break;
      x1 = next;
    }
    return x1;
  }
  // The mean of the loss about the heap, from below.
  [[nodiscard]] double mean() {
    const auto heap = static_cast<std::size_t>(below_);
    const Edge to = law_.edge(ends_[heap + 1]);
    const Edge centre = law_.edge(std::max(heap_, law_.least()));
    const LossLaw::Mass up = law_.beside_heap(below_ == 0 ? law_.edge(-infinity) : centre, to);
    const LossLaw::Mass right = law_.without(to, law_.edge(infinity));
    double rise = up.at(0) * std::max(0.0, 1 - up.room - 16 * unit);
    double least = right.at(0) * std::max(0.0, 1 - right.room - 16 * unit);
    rest_ = right.at(0) * (1 + right.room + 16 * unit) + underflow;
    if (below_ > 0) {
      const Edge from = law_.edge(ends_[heap]);
      const LossLaw::Mass down = law_.beside_heap(from, law_.edge(just_below));
      const LossLaw::Mass left = law_.without(law_.edge(-infinity), from);
      rise -= down.at(0) * (1 + down.room + 16 * unit);
      rest_ += left.at(0) * (1 + left.room + 16 * unit);
      least += left.at(0) * std::max(0.0, 1 - left.room - 16 * unit);
    }
    return heap_ + std::log1p(rise / (1 - (rise > 0 ? least : rest_))) - 16 * unit * std::abs(rise);
  }

  const LossLaw& law_;
  double heap_, height_, margin_, start_;
  std::int64_t above_ = 0, below_ = 0;
  std::vector<double> ends_;
  double rest_ = 1;
  bool found_ = false;
};

std::optional<Rungs> lowered_about(const LossLaw& law, double heap, const Span& span) {
  const AboutHeap about(law, heap, span);
  if (!about.found() || !(about.rest() < 0.5)) return std::nullopt;
  const double height = span.height;
  Rungs rungs{about.start(), height, 0, {}, std::nullopt, 0, 0};
  const std::int64_t last = rung_at(rungs.start, height, span.high) + (std::isinf(law.most()) ? -1 : 2);
  rungs.first = about.below() == 0 ? 0 : std::min(-about.below(), rung_at(rungs.start, height, span.low)) - 1;
  rungs.weights.assign(static_cast<std::size_t>(last - rungs.first + 1), 0.0);
  const auto end_of = [&](std::int64_t j) {  // below rung j
    if (j > about.above() + 1 || j < -about.below()) {
      // the slope changes from cell to cell, and the mean with it
      const double end = rungs.at(j) - height / 2;
      const Edge from = law.edge(end - height);
      const Edge to = law.edge(end + height);
      const Slopes slopes = law.slopes(from, to);
      const double change = slopes.most - slopes.least;
      return end_below(law, rungs.at(j), height, std::min(0.01 * height, about.aim() + change * height * height / 12));
    }
    return about.ends()[static_cast<std::size_t>(j + about.below())];
  };
  double high = end_of(rungs.first + 1);
  Edge edge = law.edge(high);
  for (std::int64_t j = rungs.first + 1; j <= last; ++j) {
    const double low = high;
    high = end_of(j + 1);
    const Edge next = law.edge(high);
    if (j != 0 && high > low) {
      const Lump one = lump(Cell(law, low, edge, high, next), low, high, rungs.at(j), j >= -about.below() && j <= about.above());
      const double down = std::max(0.0, std::ceil((about.margin() - one.mean) / height));
      const std::int64_t rung = j - static_cast<std::int64_t>(down);
      if (rung != 0) rungs.add(rung, one.weight * std::exp(-down * height) * (1 - 8 * unit));
    }
    edge = next;
  }
  rungs.heap = {rungs.start + std::log1p(-about.rest()), 8 * unit * (std::abs(rungs.start) + about.rest())};
  rungs.end = high;
  rungs.off = 2 * law.off(heap) + 4 * unit * std::abs(rungs.start);
  return rungs;
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
    place_atoms(law, Side::upper, rungs);
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
  std::vector<Tilted> lumps;
  double high = end_below(law, at(first), height, 0);
  Edge edge = law.edge(high);
  for (std::int64_t j = first; j <= last; ++j) {
    const double low = high;
    high = end_below(law, at(j + 1), height, 0);
    const Edge next = law.edge(high);
    Lump one = lump(Cell(law, low, edge, high, next), low, high, at(j), false);
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
  place_atoms(law, Side::lower, rungs);
  rungs.off += rounded(law, std::max(span.low, law.least()), std::min(span.high, law.most())) + 8 * unit * std::abs(start);
  return rungs;
}

}  // namespace sotto::detail
