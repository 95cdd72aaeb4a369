#include "tail_split/bracket.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/contradiction.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double most_epsilon = 1500;  // beyond, a bracket may be wide

}  // namespace

// Of δ: relative to ε it is smaller by the slope, which is about log δ over ε or steeper.
double rare_tolerance(const Precision& precision, double log_delta) {
  return std::clamp(1.5 * precision.smooth * std::max(1.0, -0.3 * log_delta), 1e-11, 0.02);
}

bool is_narrow(Bound epsilon, const Precision& precision) {
  const double width = epsilon.upper - epsilon.lower;
  return width <= std::max(1e-12, 10 * precision.smooth * epsilon.upper);
}

Bound crossing_of(const Profile& profile, double c, double worst, Bound range, double from, double fine) {
  const double delta = range.lower;
  const double log_delta = std::log(delta);
  // Secants on log δ, then outward until the bound is seen to hold.
  const auto log_at = [&](double epsilon, Side side) {
    const Bound here = profile(epsilon);
    const double value = side == Side::upper ? here.upper : here.lower;
    return value > 0 ? std::log(value) - log_delta : -infinity;
  };
  const auto crossing = [&](Side side, double start) {
    double x = start;
    double y = log_at(x, side);
    double slope = -c;
    for (int turn = 0; turn < 12 && std::isfinite(y) && y != 0; ++turn) {
      const double next = std::clamp(x - y / slope, 0.0, worst);
      if (next == x) break;
      const double there = log_at(next, side);
      const double secant = (there - y) / (next - x);
      if (std::isfinite(secant) && secant < 0) slope = secant;
      const double moved = std::abs(next - x);
      x = next;
      y = there;
      if (moved <= fine * x) break;
    }
    return x;
  };
  const auto certain = [&](Side side, double start) {
    const double sign = side == Side::upper ? 1 : -1;
    double move = fine * start;
    for (int turn = 0; turn < 80; ++turn) {
      const double x = turn == 0 ? start : start + sign * move;
      if (side == Side::lower && x <= 0) return 0.0;
      if (side == Side::upper && x >= worst) return worst;
      const Bound here = profile(std::max(0.0, x));
      if (side == Side::upper ? here.upper <= delta : here.lower > range.upper) return std::max(0.0, x);
      if (turn > 0) move = std::max(move * 3, 1e-300);
    }
    return side == Side::upper ? worst : 0.0;
  };
  const double upper = certain(Side::upper, crossing(Side::upper, from));
  const double lower = certain(Side::lower, crossing(Side::lower, upper));
  return bracket(lower, upper, "epsilon of split losses");
}

void rare_epsilon(const RarePlan& plan, Bound& known, Bound range, const Precision& precision) {
  const double worst = known.upper;
  const double log_delta = std::log(range.lower);
  double fine = rare_tolerance(precision, log_delta);
  const auto meet = [&](Bound other) { known = {std::max(known.lower, std::min(other.lower, known.upper)), std::min(known.upper, other.upper)}; };
  if (rare_variation(plan) <= range.lower) return meet({0, 0});
  const std::vector<double> starts = rare_starts(plan, range.lower);
  if (starts.front() > most_epsilon) return;
  constexpr double costly = 100;  // ε from which on it is first looked for roughly
  const double most_work = starts.front() > costly ? 1e9 : 1e8;
  Bound best{0, worst};
  for (const double start : starts) {
    double at = std::min(worst, start);
    double work = 0;
    int turn = -7;  // the first ones only look for a start
    while (turn < 4 && work < most_work && !is_narrow(best, precision)) {
      const Rare rare(plan, at, log_delta, turn <= 0 && at > costly ? std::max(fine, 1e-3) : fine);
      work += rare.work();
      if (rare.failed()) {
        if (start != starts.front() || ++turn > 0) break;
        at *= 0.93;  // too large an ε leaves nothing to integrate
        continue;
      }
      turn = std::max(0, turn);
      const Profile profile = [&](double epsilon) { return rare.delta(epsilon); };
      if (profile(0).upper <= range.lower) return meet({0, 0});
      const double slope = std::log(profile(at).upper / profile(at * 1.002).upper) / (0.002 * at);
      const Bound here = crossing_of(profile, std::max(slope, 1 / at), worst, range, at, 1e-3 * precision.smooth);
      const bool lower = here.upper < std::min(best.upper, 0.999 * at);  // than was supposed
      best = {std::max(best.lower, here.lower), std::min(best.upper, here.upper)};
      if (profile(at).lower > range.upper) best.lower = std::max(best.lower, std::min(at, best.upper));
      meet(best);
      double about = lower || best.lower > 0.5 * best.upper ? best.upper : std::sqrt(std::max(best.lower, at / 4) * best.upper);
      if (best.upper - best.lower > 0.01 * best.upper && !lower) {  // by the tangent of log δ
        const double guess = at + (std::log(profile(at).upper) - log_delta) / std::max(slope, 1 / at);
        if (guess > best.lower && guess < best.upper) about = guess;
      }
      const double next = std::clamp(about, at / 2, at * 2);
      if (std::abs(next - at) < 1e-4 * at && (turn > 0 || at <= costly)) {
        // no other lines from there; where δ falls less steeply than was supposed, sharper
        const double sharper = 0.3 * fine * 10 * precision.smooth * best.upper / (best.upper - best.lower);
        if (!(best.lower > 0.999 * best.upper) || !(sharper > 1e-11)) break;
        fine = std::min(fine, sharper);
      }
      at = next;
      ++turn;
    }
    if (is_narrow(best, precision)) break;
  }
}

}  // namespace sotto::pld_detail
