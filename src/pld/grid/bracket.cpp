#include "pld/grid/bracket.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "pld/grid/fft_compose.hpp"
#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr int fewest = 12;  // grid points, as powers of two: for searches
constexpr int first_bits = 14;
constexpr int most_bits = 21;
constexpr int telling = 16;  // from which on one sees how the bracket narrows
constexpr double least_epsilon = 1e-12;
constexpr double most_epsilon = 1500;  // beyond, a bracket may be wide
constexpr double no_epsilon = 1e5;     // beyond, logarithms of masses are too large

// Few steps, or all nearly always on one grid point. Those on a lattice of their own need no other.
std::optional<std::vector<DistributedStep>> few_known(const std::vector<LossStep>& steps) {
  constexpr double most_steps = 1e5;
  if (steps.size() == 1 && steps.front().loss->lattice()) return std::nullopt;
  auto known = with_distributions(steps);
  if (!known) return known;
  double count = 0;
  for (const DistributedStep& step : *known) count += step.distribution->bulk() ? 0 : step.step.count;
  return count > most_steps ? std::nullopt : known;
}

double wanted_of(const std::vector<DistributedStep>& steps, const Precision& precision) {
  return has_atoms(steps) ? 1.8 * precision.atoms : 40 * precision.smooth;
}

// Fewer for many distributions, each of which has all grid points; lines suit those better. And no more than the work and the memory that are left
// are good for, of which a grid from above and one from below take this much a grid point.
int most_bits_of(const std::vector<DistributedStep>& steps, double epsilon) {
  const int most = epsilon > most_epsilon || steps.size() > 3 ? telling : steps.size() > 2 ? most_bits - 1 : most_bits;
  const auto distributions = static_cast<double>(steps.size());
  const double grid = std::min(work_left() / (1500 * distributions + 200), bytes_allowed() / (48 * distributions + 32));
  const int affordable = static_cast<int>(std::log2(std::clamp(grid, 1.0, 0x1p40)));
  return std::min(most, affordable);
}

// -log of what each thing that is left out may be of δ, where log δ falls by `slope` when ε grows by as much as it is.
double depth_for(double wanted, double slope) { return std::clamp(-std::log(0.02 * wanted * std::max(1.0, slope)), 9.0, 25.0); }

// By how much log δ falls when ε grows by as much as it is.
double slope_of(const FftComposition& composition, double epsilon) {
  constexpr double by = 1e-6;
  const double slope = std::log(composition.delta(epsilon * (1 - by)) / composition.delta(epsilon)) / by;
  return std::isfinite(slope) ? std::max(slope, 0.1) : 1;
}

// How many grid points it takes, when those leave this open: grid points twice as close make a bracket four times as narrow.
int more_bits(int bits, int most, double open, double wanted) {
  return std::min(most, bits + std::clamp(static_cast<int>(std::ceil(0.5 * std::log2(std::clamp(1.5 * open / wanted, 1.0, 1e9)))), 1, 4));
}

// Where a condition that holds at one end ceases to.
double halve(const std::function<bool(double)>& holds, double yes, double no, double fine) {
  for (int half = 0; half < 100 && std::abs(yes - no) > fine * std::max(yes, no); ++half) {
    const double middle = yes + (no - yes) / 2;
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace

// ε of few steps by a grid of losses, finer until the bracket is narrow.
void grid_epsilon(const std::vector<LossStep>& steps, Bound& best, Bound range, const Precision& precision) {
  const auto known = few_known(steps);
  if (!known || !(best.upper > least_epsilon && best.upper < no_epsilon)) return;
  const double log_delta = std::log(range.lower);
  const double wanted = wanted_of(*known, precision);
  const auto narrow = [&] { return best.upper - best.lower <= wanted * best.upper; };
  if (narrow()) return;
  const double fine = 1e-3 * precision.smooth;
  const auto suffices = [&](const FftComposition& composition, double epsilon) { return composition.delta(epsilon) <= range.lower; };
  // about where, by few grid points: from far off they tell little
  double low = std::max(best.lower, 1e-9 * best.upper);  // above, as far as one sees
  double at = best.upper;
  double slope = 1;
  double down_by = 0.02;
  for (int turn = 0; turn < 60 && low < (1 - 1e-9) * best.upper; ++turn) {
    const GridChoice choice(*known, at, log_delta, depth_for(wanted, slope));
    double seen = 1;
    double guess = 0;
    for (const int some : {fewest, telling}) {
      if (choice.failed() || seen < 1) break;
      const FftComposition composition(*known, choice, Side::upper, std::size_t{1} << some);
      seen = composition.delta(at);
      if (!(seen < 1) || composition.only_bounds()) continue;
      slope = slope_of(composition, at);
      const double rise = (std::log(seen) - log_delta) / slope;
      guess = at * (rise < 0 ? std::exp(rise) : 1 + rise);  // by the tangent of log δ, which for small ε is one over log ε
    }
    if (seen <= range.lower) {
      best.upper = std::min(best.upper, at);
    } else if (at < best.upper) {  // there it is known to hold, whatever a grid says
      low = std::max(low, at);
    }
    if (std::abs(std::log(seen) - log_delta) < 1) break;
    down_by = std::min(0.7, 3 * down_by);
    at = guess > low && guess < best.upper ? guess : std::max(low + (best.upper - low) / 2, best.upper * (1 - down_by));
  }
  int most = most_bits_of(*known, low);
  int bits = std::min(first_bits, most);
  double before = infinity;
  double reach = infinity;
  for (int turn = 0; turn < 30 && !narrow(); ++turn) {
    most = std::min(most, most_bits_of(*known, low));
    if (bits > most || bits < fewest) break;
    const GridChoice choice(*known, at, log_delta, depth_for(wanted, slope), reach);
    if (choice.failed()) break;
    const auto size = std::size_t{1} << bits;
    const FftComposition up(*known, choice, Side::upper, size);
    if (up.failed()) {
      if (bits == most) break;
      bits = std::min(most, bits + 2);
      continue;
    }
    const Bound window{std::max(up.window().lower, best.lower), std::min(up.window().upper, best.upper)};
    const auto enough = [&](double epsilon) { return suffices(up, epsilon); };
    if (up.only_bounds()) {  // ε is smaller
      if (!enough(best.upper)) break;
      at = best.upper = halve(enough, best.upper, best.lower, fine);
      continue;
    }
    if (!(window.lower < window.upper)) break;
    if (up.delta(at) < 1) slope = slope_of(up, at);
    // elsewhere: once more with as many
    if (enough(window.lower)) {
      best.upper = std::min(best.upper, window.lower);
      const double move = std::min(0.7, (log_delta - std::log(up.delta(window.lower))) / slope);
      at = std::max(best.upper * std::exp(-move), best.lower + (best.upper - best.lower) / 64);
      reach = infinity;
      continue;
    }
    // above the ε that it was made for, a grid may say nothing
    const bool blind = at > window.lower && at < window.upper && !(up.delta(window.upper) < up.delta(at));
    const double top = blind ? at : window.upper;
    if (!enough(top) && top < best.upper) {
      const double rise = 1.02 * std::clamp((std::log(up.delta(at)) - log_delta) / slope, 1e-9, 2.0);
      at = blind ? std::min(best.upper, at * (1 + rise)) : top;
      continue;
    }
    if (enough(top)) best.upper = halve(enough, top, window.lower, fine);
    const double off = std::log(up.delta(at)) - log_delta;
    at = best.upper;
    if (off < -1 && turn < 12) continue;
    const FftComposition down(*known, choice, Side::lower, size);
    const auto falls_short = [&](double epsilon) { return down.delta(epsilon) > range.upper; };
    for (double move = 1e-11; move < 1; move *= 4) {
      const double start = best.upper * (1 - move);
      if (start <= best.lower) break;
      if (!falls_short(start)) continue;
      best.lower = halve(falls_short, start, best.upper, fine);
      break;
    }
    if (bits == most) {
      if (most < most_bits && !narrow()) note_cut();
      break;
    }
    const double open = (up.delta(best.upper) - down.delta(best.upper)) / (range.lower * slope);
    // no use, where even the most grid points would not narrow it, or more of them have not
    if (bits >= telling && std::ldexp(open, -2 * (most - bits)) > 0.3 * (best.upper - best.lower) / best.upper) break;
    if (bits > telling + 2 && open > 0.9 * before) break;
    before = open;
    bits = more_bits(bits, most, open, wanted);
    reach = 8 * open * best.upper + std::ldexp(choice.length(), 3 - bits);  // some grid points, too
  }
  // where δ jumps it is much larger just below: a grid made for that
  for (const double rise : {12.0, 40.0, 120.0}) {
    const double below = best.upper * (1 - 0.5 * wanted);
    if (narrow() || !(below > best.lower)) break;
    const GridChoice choice(*known, below, std::min(-0.1, log_delta + rise));
    if (!choice.failed() && FftComposition(*known, choice, Side::lower, std::size_t{1} << telling).delta(below) > range.upper) best.lower = below;
  }
}

std::optional<FftComposition> pessimistic_composition(const std::vector<LossStep>& steps, double epsilon, double log_delta) {
  constexpr int bits = first_bits - 1;
  const auto known = few_known(steps);
  if (!known || !(epsilon > least_epsilon && epsilon < no_epsilon)) return std::nullopt;
  for (int turn = 0; turn < 4; ++turn) {
    const GridChoice choice(*known, epsilon, log_delta, depth_for(1e-5, 1));
    if (choice.failed() || most_bits_of(*known, epsilon) < bits) return std::nullopt;
    FftComposition composition(*known, choice, Side::upper, std::size_t{1} << bits);
    if (composition.failed() || composition.only_bounds()) return std::nullopt;
    const double expected = log_delta;
    log_delta = std::log(composition.delta(epsilon));
    if (std::abs(expected - log_delta) < 2) return composition;
  }
  return std::nullopt;
}

void grid_delta(const std::vector<LossStep>& steps, Bound& best, Bound range, const Precision& precision) {
  const auto known = few_known(steps);
  if (!known || !(range.lower > least_epsilon && range.lower < no_epsilon) || !(best.upper > 0)) return;
  const double wanted = wanted_of(*known, precision);
  const auto wide = [&](double slope) { return best.upper - best.lower > wanted * std::max(1.0, slope) * best.upper; };
  if (!wide(1)) return;
  int most = most_bits_of(*known, range.lower);
  double log_delta = std::log(best.lower > 0 ? std::sqrt(best.lower) * std::sqrt(best.upper) : best.upper);
  int bits = std::min(first_bits, most);
  double before = infinity;
  double slope = 1;
  for (int turn = 0; turn < 6; ++turn) {
    most = std::min(most, most_bits_of(*known, range.lower));
    if (bits > most || bits < fewest) break;
    const GridChoice choice(*known, range.lower, log_delta, depth_for(wanted, slope), 1e-5 * range.lower);
    if (choice.failed()) break;
    const auto size = std::size_t{1} << bits;
    const FftComposition up(*known, choice, Side::upper, size);
    const FftComposition down(*known, choice, Side::lower, size);
    const Bound here{down.delta(range.upper), up.delta(range.lower)};
    best = {std::max(best.lower, here.lower), std::min(best.upper, here.upper)};
    slope = slope_of(up, range.lower);
    if (wide(slope) && bits == most && most < most_bits) note_cut();
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
}

}  // namespace sotto::pld_detail
