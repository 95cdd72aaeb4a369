#include "by_ladder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "ladder.hpp"

namespace sotto::detail {
namespace {

constexpr int fewest = 12;  // rungs, as powers of two: for searches
constexpr int first_bits = 14;
constexpr int most_bits = 21;
constexpr int telling = 16;  // from which on one sees how the bracket narrows
constexpr double least_epsilon = 1e-12;
constexpr double most_epsilon = 1500;  // beyond, a bracket may be wide
constexpr double no_epsilon = 1e5;     // beyond, logarithms of masses are too large

// Few steps, or all nearly always on one rung. Those on a lattice of their own need no other.
std::optional<std::vector<KnownStep>> few_known(const std::vector<LossStep>& steps) {
  constexpr double most_steps = 1e5;
  if (steps.size() == 1 && steps.front().loss->lattice()) return std::nullopt;
  auto known = known_steps(steps);
  if (!known) return known;
  double count = 0;
  for (const KnownStep& step : *known) count += step.law->heap() ? 0 : step.step.count;
  return count > most_steps ? std::nullopt : known;
}

double wanted_of(const std::vector<KnownStep>& steps, const Precision& precision) {
  return has_atoms(steps) ? 1.8 * precision.atoms : 40 * precision.smooth;
}

// Fewer for many laws, each of which has all rungs; lines suit those better.
int most_bits_of(const std::vector<KnownStep>& steps, double epsilon) {
  return epsilon > most_epsilon || steps.size() > 3 ? telling : steps.size() > 1 ? most_bits - 1 : most_bits;
}

// Both sides, on so many rungs.
struct Ladders {
  Ladder up, down;
  Ladders(const std::vector<KnownStep>& steps, const Scaffold& scaffold, int bits)
      : up(steps, scaffold, Side::upper, std::size_t{1} << bits), down(steps, scaffold, Side::lower, std::size_t{1} << bits) {}
  // By how much log δ falls when ε grows by as much as it is.
  [[nodiscard]] double slope(double epsilon) const {
    constexpr double by = 1e-3;
    const double slope = std::log(up.delta(epsilon * (1 - by)) / up.delta(epsilon)) / by;
    return std::isfinite(slope) ? std::max(slope, 0.1) : 1;
  }
};

// How many rungs it takes, when those leave this open: rungs twice as close make a bracket four times as narrow.
int more_bits(int bits, int most, double open, double wanted) {
  return std::min(most, bits + std::clamp(static_cast<int>(std::ceil(0.5 * std::log2(std::clamp(1.5 * open / wanted, 1.0, 1e9)))), 1, 4));
}

}  // namespace

// ε of few steps by a ladder of losses, finer until the bracket is narrow.
Bound ladder_epsilon(const std::vector<LossStep>& steps, Bound best, Bound range, const Precision& precision) {
  const auto known = few_known(steps);
  if (!known || !(best.upper > least_epsilon && best.upper < no_epsilon)) return best;
  const double log_delta = std::log(range.lower);
  const double wanted = wanted_of(*known, precision);
  if (best.upper - best.lower <= wanted * best.upper) return best;
  // about where, by few rungs: from far off they tell little
  constexpr double near = 6;
  double below = std::max(best.lower, 1e-9 * best.upper);
  double at = best.upper;
  for (int turn = 0; turn < 40 && below < (1 - 1e-9) * best.upper; ++turn) {
    if (below < 0.7 * best.upper) at = std::sqrt(below * best.upper);
    const Scaffold scaffold(*known, at, log_delta);
    double delta = 1;
    for (const int some : {fewest, telling}) {
      if (!scaffold.failed() && delta >= 1) delta = Ladder(*known, scaffold, Side::upper, std::size_t{1} << some).delta(at);
    }
    if (delta <= range.lower) {
      best.upper = at;
    } else if (at < best.upper) {  // there it is known to hold, whatever a ladder says
      below = at;
    }
    if (at == best.upper && std::abs(std::log(delta) - log_delta) < near && below > 0.7 * best.upper) break;
    at = below + (best.upper - below) / 2;
  }
  const int most = most_bits_of(*known, below);
  int bits = first_bits;
  double before = infinity;
  for (int turn = 0; turn < 6 && best.upper - best.lower > wanted * best.upper; ++turn) {
    const Scaffold scaffold(*known, best.upper, log_delta);
    if (scaffold.failed()) break;
    const Ladders ladders(*known, scaffold, bits);
    const auto halve = [&](const std::function<bool(double)>& holds, double yes, double no) {
      for (int half = 0; half < 100 && std::abs(yes - no) > 1e-3 * precision.smooth * std::max(yes, no); ++half) {
        const double middle = yes + (no - yes) / 2;
        (holds(middle) ? yes : no) = middle;
      }
      return yes;
    };
    const auto suffices = [&](double epsilon) { return ladders.up.delta(epsilon) <= range.lower; };
    const auto falls_short = [&](double epsilon) { return ladders.down.delta(epsilon) > range.upper; };
    if (suffices(best.upper)) best.upper = halve(suffices, best.upper, best.lower);
    // ε far below is outside its window: from the first place that is not
    for (double move = 1e-11; move < 1; move *= 4) {
      const double start = best.upper * (1 - move);
      if (start <= best.lower) break;
      if (!falls_short(start)) continue;
      best.lower = halve(falls_short, start, best.upper);
      break;
    }
    if (bits == most) break;
    const double open = (ladders.up.delta(best.upper) - ladders.down.delta(best.upper)) / (range.lower * ladders.slope(best.upper));
    // no use, where even the most rungs would not narrow it, or more of them have not
    if (bits >= telling && std::ldexp(open, -2 * (most - bits)) > 0.3 * (best.upper - best.lower) / best.upper) break;
    if (bits > telling + 2 && open > 0.9 * before) break;
    before = open;
    bits = more_bits(bits, most, open, wanted);
  }
  return best;
}

Bound ladder_delta(const std::vector<LossStep>& steps, Bound best, Bound range, const Precision& precision) {
  const auto known = few_known(steps);
  if (!known || !(range.lower > least_epsilon && range.lower < no_epsilon) || !(best.upper > 0)) return best;
  const double wanted = wanted_of(*known, precision);
  const auto wide = [&](double slope) { return best.upper - best.lower > wanted * std::max(1.0, slope) * best.upper; };
  if (!wide(1)) return best;
  const int most = most_bits_of(*known, range.lower);
  double log_delta = std::log(best.lower > 0 ? std::sqrt(best.lower) * std::sqrt(best.upper) : best.upper);
  int bits = first_bits;
  double before = infinity;
  for (int turn = 0; turn < 6; ++turn) {
    const Scaffold scaffold(*known, range.lower, log_delta);
    if (scaffold.failed()) break;
    const Ladders ladders(*known, scaffold, bits);
    const Bound here{ladders.down.delta(range.upper), ladders.up.delta(range.lower)};
    best = {std::max(best.lower, here.lower), std::min(best.upper, here.upper)};
    const double slope = ladders.slope(range.lower);
    if (!wide(slope) || bits == most) break;
    const double expected = log_delta;
    log_delta = std::log(best.upper);
    if (expected - log_delta > 1) continue;  // elsewhere: once more with as many
    const double open = (here.upper - here.lower) / best.upper / slope;
    if (bits >= telling && std::ldexp(open, -2 * (most - bits)) > 0.3 * (best.upper - best.lower) / best.upper / slope) break;
    if (bits > telling + 2 && open > 0.9 * before) break;
    before = open;
    bits = more_bits(bits, most, open, wanted);
  }
  return best;
}

}  // namespace sotto::detail
