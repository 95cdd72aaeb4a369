// Down, of a law whose losses are nearly all in one place (rung_cells.hpp).
#include <algorithm>
#include <vector>

#include "rung_cells.hpp"
#include "settled.hpp"

namespace sotto::loss_detail {
namespace {

using Edge = LossLaw::Edge;
using Slopes = LossLaw::Slopes;

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

}  // namespace

std::optional<Rungs> lowered_about(const LossLaw& law, double heap, const Span& span) {
  const AboutHeap about(law, heap, span);
  if (!about.found() || !(about.rest() < 0.5)) return std::nullopt;
  const double height = span.height;
  const std::int64_t last = rung_at(about.start(), height, span.high) + (std::isinf(law.most()) ? -1 : 2);
  const std::int64_t first = about.below() == 0 ? 0 : std::min(-about.below(), rung_at(about.start(), height, span.low)) - 1;
  if (last < 1) return std::nullopt;
  Rungs rungs{about.start(), height, first, {}, std::nullopt, 0, 0};
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
  // both sides settle, the heap stays
  Settled above(height, span.tilt, 1, last);
  Settled below(height, span.tilt, first, -1);
  double high = end_of(rungs.first + 1);
  Edge edge = law.edge(high);
  for (std::int64_t j = rungs.first + 1; j <= last; ++j) {
    const double low = high;
    high = end_of(j + 1);
    const Edge next = law.edge(high);
    if (j != 0 && high > low) {
      const Lump one = lump(Cell(law, low, edge, high, next), low, high, rungs.at(j));
      (j > 0 ? above : below).add(j, {one.weight, one.mean - about.margin()});
    }
    edge = next;
  }
  rungs.weights = below.weights();
  rungs.weights.resize(static_cast<std::size_t>(1 - first), 0.0);
  const std::vector<double> right = above.weights();
  rungs.weights.insert(rungs.weights.end(), right.begin(), right.end());
  rungs.heap = {rungs.start + std::log1p(-about.rest()), 8 * unit * (std::abs(rungs.start) + about.rest())};
  rungs.end = high;
  rungs.off = 2 * law.off(heap) + 4 * unit * std::abs(rungs.start);
  return rungs;
}

}  // namespace sotto::loss_detail
