// The search for narrow brackets of δ and ε by grids: locate ε on coarse grids, then refine the
// grid until the bracket is narrow, the grid points are used up, or more of them would not help.
#include "pld/grid/bracket.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/api/work.hpp"
#include "pld/grid/fft_compose.hpp"

namespace sotto::pld_detail {
namespace {

// Numbers of grid points, as powers of two.
constexpr int search_bits = 12;  // to locate ε
constexpr int first_bits = 14;   // of the first bracket
constexpr int trend_bits = 16;   // from here on a bracket shows how fast it narrows
constexpr int max_bits = 21;

constexpr double min_epsilon = 1e-12;
constexpr double large_epsilon = 1500;  // above it fewer grid points are used
constexpr double max_epsilon = 1e5;     // above it logarithms of masses are too large

// Returns the steps with their distributions if they suit a grid: there are few of them, or nearly
// all their mass is on one grid point. A single step on a lattice needs no grid.
std::optional<std::vector<DistributedStep>> steps_for_grid(const std::vector<LossStep>& steps) {
  constexpr double max_steps = 1e5;
  if (steps.size() == 1 && steps.front().loss->lattice()) return std::nullopt;
  auto known = with_distributions(steps);
  if (!known) return known;
  double count = 0;
  for (const DistributedStep& step : *known)
    count += step.distribution->bulk() ? 0 : step.step.count;
  return count > max_steps ? std::nullopt : known;
}

// Returns the relative width of a bracket at which the search stops.
double wanted_width(const std::vector<DistributedStep>& steps, const Precision& precision) {
  return has_atoms(steps) ? 1.8 * precision.atoms : 40 * precision.smooth;
}

// Returns the largest size of a grid: smaller for many distributions, each of which has all grid
// points, and no larger than the remaining work and memory allow for one pessimistic and one
// optimistic grid.
int max_bits_for(const std::vector<DistributedStep>& steps, double epsilon) {
  const int largest = epsilon > large_epsilon || steps.size() > 3 ? trend_bits
                      : steps.size() > 2                          ? max_bits - 1
                                                                  : max_bits;
  const auto distributions = static_cast<double>(steps.size());
  const double points = std::min(work_left() / (1500 * distributions + 200),
                                 bytes_allowed() / (48 * distributions + 32));
  const int affordable = static_cast<int>(std::log2(std::clamp(points, 1.0, 0x1p40)));
  return std::min(largest, affordable);
}

// Returns -log of the share of δ that each truncation may cost. `slope` is -d log δ/d log ε.
double depth_for(double wanted, double slope) {
  return std::clamp(-std::log(0.02 * wanted * std::max(1.0, slope)), 9.0, 25.0);
}

// Returns -d log δ/d log ε of a composition, at least 0.1.
double slope_of(const FftComposition& composition, double epsilon) {
  constexpr double by = 1e-6;
  const double slope =
      std::log(composition.delta(epsilon * (1 - by)) / composition.delta(epsilon)) / by;
  return std::isfinite(slope) ? std::max(slope, 0.1) : 1;
}

// Returns the size that makes a bracket of relative width `open` as narrow as wanted: half the
// spacing makes it four times as narrow.
int next_bits(int bits, int largest, double open, double wanted) {
  return std::min(
      largest, bits + std::clamp(static_cast<int>(std::ceil(
                                     0.5 * std::log2(std::clamp(1.5 * open / wanted, 1.0, 1e9)))),
                                 1, 4));
}

// Returns, by bisection, about the last point from `yes` towards `no` at which a condition holds.
double last_where(const std::function<bool(double)>& holds, double yes, double no, double fine) {
  for (int half = 0; half < 100 && std::abs(yes - no) > fine * std::max(yes, no); ++half) {
    const double middle = yes + (no - yes) / 2;
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

// The search for ε(δ): the bracket, and the state of the search that proves nothing.
class GridEpsilonSearch {
 public:
  GridEpsilonSearch(const std::vector<DistributedStep>& steps, Bound& best, Bound delta,
                    const Precision& precision)
      : steps_(steps),
        best_(best),
        delta_(delta),
        log_delta_(std::log(delta.lower)),
        wanted_(wanted_width(steps, precision)),
        fine_(1e-3 * precision.smooth) {}

  void run() {
    if (is_narrow()) return;
    locate();
    max_bits_ = max_bits_for(steps_, low_);
    bits_ = std::min(first_bits, max_bits_);
    for (int turn = 0; turn < 30 && !is_narrow(); ++turn) {
      if (!refine(turn)) break;
    }
    raise_below_jump();
  }

 private:
  [[nodiscard]] bool is_narrow() const {
    return best_.upper - best_.lower <= wanted_ * best_.upper;
  }
  // Returns true if a pessimistic composition proves that ε suffices.
  [[nodiscard]] bool suffices(const FftComposition& up, double epsilon) const {
    return up.delta(epsilon) <= delta_.lower;
  }

  // Locates ε roughly, from above, with coarse grids. Each is made for one ε, says little about
  // others far away, and proposes the next by the tangent of log δ.
  void locate() {
    low_ = std::max(best_.lower, 1e-9 * best_.upper);
    at_ = best_.upper;
    double down_by = 0.02;
    for (int turn = 0; turn < 60 && low_ < (1 - 1e-9) * best_.upper; ++turn) {
      const GridChoice choice(steps_, at_, log_delta_, depth_for(wanted_, slope_));
      double seen = 1;
      double guess = 0;
      for (const int bits : {search_bits, trend_bits}) {
        if (choice.failed() || seen < 1) break;
        const FftComposition composition(steps_, choice, Side::upper, std::size_t{1} << bits);
        seen = composition.delta(at_);
        if (!(seen < 1) || composition.only_bounds()) continue;
        slope_ = slope_of(composition, at_);
        const double rise = (std::log(seen) - log_delta_) / slope_;
        guess =
            at_ * (rise < 0
                       ? std::exp(rise)
                       : 1 + rise);  // the tangent over log ε on the way down, over ε on the way up
      }
      if (seen <= delta_.lower) {
        best_.upper = std::min(best_.upper, at_);
      } else if (at_ <
                 best_.upper) {  // at best_.upper ε is known to suffice, whatever this grid shows
        low_ = std::max(low_, at_);
      }
      if (std::abs(std::log(seen) - log_delta_) < 1) break;
      down_by = std::min(0.7, 3 * down_by);
      at_ = guess > low_ && guess < best_.upper
                ? guess
                : std::max(low_ + (best_.upper - low_) / 2, best_.upper * (1 - down_by));
    }
  }

  // Makes one pair of grids, and narrows the bracket. Returns false if another pair would not help.
  bool refine(int turn) {
    max_bits_ = std::min(max_bits_, max_bits_for(steps_, low_));
    if (bits_ > max_bits_ || bits_ < search_bits) return false;
    const GridChoice choice(steps_, at_, log_delta_, depth_for(wanted_, slope_), reach_);
    if (choice.failed()) return false;
    const auto size = std::size_t{1} << bits_;
    const FftComposition up(steps_, choice, Side::upper, size);
    if (up.failed()) {
      if (bits_ == max_bits_) return false;
      bits_ = std::min(max_bits_, bits_ + 2);
      return true;
    }
    if (up.only_bounds()) return lower_upper_end_by_chernoff(up);

    // the upper end, if ε is within the window
    const Bound window{std::max(up.window().lower, best_.lower),
                       std::min(up.window().upper, best_.upper)};
    if (!(window.lower < window.upper)) return false;
    if (up.delta(at_) < 1) slope_ = slope_of(up, at_);
    if (!lower_upper_end(up, window)) return true;
    const double off = std::log(up.delta(at_)) - log_delta_;
    at_ = best_.upper;
    if (off < -1 && turn < 12) return true;

    // the lower end
    const FftComposition down(steps_, choice, Side::lower, size);
    raise_lower_end(down);
    return refine_grid(up, down, choice);
  }

  // If all outcomes are likely below at_, ε is smaller: lowers the upper end as far as Chernoff's
  // bound does.
  bool lower_upper_end_by_chernoff(const FftComposition& up) {
    const auto enough = [&](double epsilon) { return suffices(up, epsilon); };
    if (!enough(best_.upper)) return false;
    at_ = best_.upper = last_where(enough, best_.upper, best_.lower, fine_);
    return true;
  }

  // Lowers the upper end to the ε at which the pessimistic δ crosses δ. Returns false if that ε is
  // outside the window; then at_ has moved towards it, for another grid of the same size.
  bool lower_upper_end(const FftComposition& up, Bound window) {
    const auto enough = [&](double epsilon) { return suffices(up, epsilon); };
    if (enough(window.lower)) {
      best_.upper = std::min(best_.upper, window.lower);
      const double move = std::min(0.7, (log_delta_ - std::log(up.delta(window.lower))) / slope_);
      at_ = std::max(best_.upper * std::exp(-move), best_.lower + (best_.upper - best_.lower) / 64);
      reach_ = infinity;
      return false;
    }
    // a grid that truncates losses may have a constant bound above the ε that it was made for
    const bool flat =
        at_ > window.lower && at_ < window.upper && !(up.delta(window.upper) < up.delta(at_));
    const double top = flat ? at_ : window.upper;
    if (!enough(top) && top < best_.upper) {
      const double rise =
          1.02 * std::clamp((std::log(up.delta(at_)) - log_delta_) / slope_, 1e-9, 2.0);
      at_ = flat ? std::min(best_.upper, at_ * (1 + rise)) : top;
      return false;
    }
    if (enough(top)) best_.upper = last_where(enough, top, window.lower, fine_);
    return true;
  }

  // Raises the lower end to the ε at which the optimistic δ crosses δ.
  void raise_lower_end(const FftComposition& down) {
    const auto falls_short = [&](double epsilon) { return down.delta(epsilon) > delta_.upper; };
    for (double move = 1e-11; move < 1; move *= 4) {
      const double start = best_.upper * (1 - move);
      if (start <= best_.lower) break;
      if (!falls_short(start)) continue;
      best_.lower = last_where(falls_short, start, best_.upper, fine_);
      break;
    }
  }

  // Chooses the next size. Returns false if it is used up, or if a larger one would not narrow the
  // bracket.
  bool refine_grid(const FftComposition& up, const FftComposition& down, const GridChoice& choice) {
    if (bits_ == max_bits_) {
      if (max_bits_ < max_bits && !is_narrow()) note_cut();
      return false;
    }
    const double open = (up.delta(best_.upper) - down.delta(best_.upper)) / (delta_.lower * slope_);
    if (bits_ >= trend_bits && std::ldexp(open, -2 * (max_bits_ - bits_)) >
                                   0.3 * (best_.upper - best_.lower) / best_.upper)
      return false;
    if (bits_ > trend_bits + 2 && open > 0.9 * previous_open_) return false;
    previous_open_ = open;
    bits_ = next_bits(bits_, max_bits_, open, wanted_);
    reach_ =
        8 * open * best_.upper + std::ldexp(choice.length(), 3 - bits_);  // and some grid points
    return true;
  }

  // Where δ(ε) jumps at ε, it is much larger just below: a grid made for a larger δ proves the
  // lower end.
  void raise_below_jump() {
    for (const double rise : {12.0, 40.0, 120.0}) {
      const double below = best_.upper * (1 - 0.5 * wanted_);
      if (is_narrow() || !(below > best_.lower)) break;
      const GridChoice choice(steps_, below, std::min(-0.1, log_delta_ + rise));
      if (choice.failed()) continue;
      const FftComposition down(steps_, choice, Side::lower, std::size_t{1} << trend_bits);
      if (down.delta(below) > delta_.upper) best_.lower = below;
    }
  }

  const std::vector<DistributedStep>& steps_;
  Bound& best_;
  Bound delta_;
  double log_delta_;
  double wanted_;   // relative width
  double fine_;     // relative width of a bisection
  double low_ = 0;  // ε is likely above it
  double at_ = 0;   // the ε that the next grid is made for
  double slope_ = 1;
  int max_bits_ = 0, bits_ = 0;
  double previous_open_ = infinity;  // relative width of δ on the previous grid
  double reach_ = infinity;          // of the next grid, below at_
};

}  // namespace

void grid_epsilon(const std::vector<LossStep>& steps, Bound& best, Bound range,
                  const Precision& precision) {
  const auto known = steps_for_grid(steps);
  if (!known || !(best.upper > min_epsilon && best.upper < max_epsilon)) return;
  GridEpsilonSearch(*known, best, range, precision).run();
}

std::optional<FftComposition> pessimistic_composition(const std::vector<LossStep>& steps,
                                                      double epsilon, double log_delta) {
  constexpr int bits = first_bits - 1;
  const auto known = steps_for_grid(steps);
  if (!known || !(epsilon > min_epsilon && epsilon < max_epsilon)) return std::nullopt;
  // until the estimate of log δ is close to the bound
  for (int turn = 0; turn < 4; ++turn) {
    const GridChoice choice(*known, epsilon, log_delta, depth_for(1e-5, 1));
    if (choice.failed() || max_bits_for(*known, epsilon) < bits) return std::nullopt;
    FftComposition composition(*known, choice, Side::upper, std::size_t{1} << bits);
    if (composition.failed() || composition.only_bounds()) return std::nullopt;
    const double expected = log_delta;
    log_delta = std::log(composition.delta(epsilon));
    if (std::abs(expected - log_delta) < 2) return composition;
  }
  return std::nullopt;
}

void grid_delta(const std::vector<LossStep>& steps, Bound& best, Bound range,
                const Precision& precision) {
  const auto known = steps_for_grid(steps);
  if (!known || !(range.lower > min_epsilon && range.lower < max_epsilon) || !(best.upper > 0))
    return;
  const double wanted = wanted_width(*known, precision);
  const auto is_wide = [&](double slope) {
    return best.upper - best.lower > wanted * std::max(1.0, slope) * best.upper;
  };
  if (!is_wide(1)) return;
  int largest = max_bits_for(*known, range.lower);
  double log_delta =
      std::log(best.lower > 0 ? std::sqrt(best.lower) * std::sqrt(best.upper) : best.upper);
  int bits = std::min(first_bits, largest);
  double previous_open = infinity;
  double slope = 1;
  for (int turn = 0; turn < 6; ++turn) {
    largest = std::min(largest, max_bits_for(*known, range.lower));
    if (bits > largest || bits < search_bits) break;
    const GridChoice choice(*known, range.lower, log_delta, depth_for(wanted, slope),
                            1e-5 * range.lower);
    if (choice.failed()) break;
    const auto size = std::size_t{1} << bits;
    const FftComposition up(*known, choice, Side::upper, size);
    const FftComposition down(*known, choice, Side::lower, size);
    const Bound here{down.delta(range.upper), up.delta(range.lower)};
    best = {std::max(best.lower, here.lower), std::min(best.upper, here.upper)};
    slope = slope_of(up, range.lower);
    if (is_wide(slope) && bits == largest && largest < max_bits) note_cut();
    if (!is_wide(slope) || bits == largest) break;

    // the estimate of δ was far off: another grid of the same size; otherwise a finer one, if it
    // would help
    const double expected = log_delta;
    log_delta = std::log(best.upper);
    if (expected - log_delta > 1) continue;
    const double open = (here.upper - here.lower) / best.upper / slope;
    if (bits >= trend_bits && std::ldexp(open, -2 * (largest - bits)) >
                                  0.3 * (best.upper - best.lower) / best.upper / slope)
      break;
    if (bits > trend_bits + 2 && open > 0.9 * previous_open) break;
    previous_open = open;
    bits = next_bits(bits, largest, open, wanted);
  }
}

}  // namespace sotto::pld_detail
