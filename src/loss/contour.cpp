// Where to put the contour, and what to read off it.
#include "sotto/loss/contour.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "by_ladder.hpp"
#include "exact.hpp"
#include "integral.hpp"
#include "law.hpp"
#include "rare.hpp"

namespace sotto {
namespace {

using loss_detail::chernoff_factor;
using loss_detail::Contour;
using loss_detail::cumulant;
using loss_detail::cumulant_above;
using loss_detail::infinity;
using loss_detail::pi;
using loss_detail::pole_of;
using loss_detail::Rare;
using loss_detail::RarePlan;
using loss_detail::unit;

// A c near which f is least, from a start, within a part in 20: enough for a contour.
double roughly_least(double start, const std::function<double(double)>& f) {
  double x = start;
  double value = f(x);
  for (int turn = 0; turn < 60 && !std::isfinite(value); ++turn) {  // too far out
    x /= 3;
    value = f(x);
  }
  for (double factor : {3.0, 1.5}) {
    for (int turn = 0; turn < 60; ++turn) {
      const double up = f(x * factor);
      if (up < value) {
        x *= factor;
        value = up;
        continue;
      }
      const double down = f(x / factor);
      if (down < value) {
        x /= factor;
        value = down;
        continue;
      }
      // the parabola through the three, in log x
      const double move = 0.5 * (down - up) / (down - 2 * value + up);
      if (factor < 2 && std::abs(move) < 1) {
        const double there = x * std::pow(factor, move);
        if (f(there) < value) x = there;
      }
      break;
    }
  }
  return x;
}

double spread_of(const std::vector<LossStep>& steps) {
  double square = 0;
  for (const LossStep& step : steps) square += step.count * step.loss->spread() * step.loss->spread();
  return std::sqrt(square);
}

double worst_of(const std::vector<LossStep>& steps) {
  double sum = 0;
  for (const LossStep& step : steps) sum += step.count * step.loss->worst();
  return sum * (1 + 4 * unit * static_cast<double>(steps.size()));
}

// All steps at their largest loss W together have a mass m: δ(ε) >= m (1 - e^(ε - W)), and ε(δ) >= W + log(1 - δ/m). Or all within a share of it,
// where their laws are known.
std::optional<Loss::Top> top_of(const std::vector<LossStep>& steps, double share = 0) {
  Loss::Top sum{0, 0};
  for (const LossStep& step : steps) {
    std::optional<Loss::Top> one = step.loss->top();
    if (share > 0) {
      const auto* known = dynamic_cast<const loss_detail::KnownLoss*>(step.loss.get());
      const loss_detail::LawPtr law = known == nullptr ? nullptr : known->law();
      one = law == nullptr ? std::nullopt : loss_detail::next_to_largest(*law, share);
    }
    if (!one) return std::nullopt;
    sum = {sum.loss + step.count * one->loss, sum.log_mass + step.count * one->log_mass};
  }
  const double room = 4 * unit * static_cast<double>(steps.size());
  return Loss::Top{sum.loss * (1 - room), sum.log_mass * (1 + room)};
}

double delta_of_top(const std::vector<LossStep>& steps, double epsilon) {
  const auto top = top_of(steps);
  const double gap = top ? top->loss - epsilon - 4 * unit * top->loss : 0;
  return gap > 0 ? std::exp(top->log_mass) * -std::expm1(-gap) * (1 - 64 * unit * (1 - top->log_mass)) : 0;
}

double epsilon_of_top(const std::vector<LossStep>& steps, double delta) {
  const auto at = [&](const std::optional<Loss::Top>& top) {
    if (!top) return 0.0;
    const double share = std::exp(std::log(delta) - top->log_mass) * (1 + 64 * unit * (1 - top->log_mass));
    return share < 1 ? std::max(0.0, top->loss + std::log1p(-share) * (1 + 64 * unit) - 64 * unit * top->loss) : 0;
  };
  double best = at(top_of(steps));
  if (best > 0 || std::isinf(worst_of(steps))) return best;
  for (double share = 1e-15; share < 1e-5; share *= 2) best = std::max(best, at(top_of(steps, share)));
  return best;
}

double scale_of(double epsilon) { return std::max(epsilon, 1e-6); }

Contour plain_contour(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, const Precision& precision) {
  const double tolerance = std::clamp(0.05 * precision.smooth * scale_of(epsilon) * c, 1e-14, 0.05);
  return {steps, c, epsilon, log_delta, tolerance, 0, precision.work};
}

// Smoothed just enough for the precision, where losses are spread out; where that needs too many nodes, more. What a smoothed contour gives is
// handed to `take`, which says whether it is enough: next to large atoms the smoothing counts for more, and is made less.
void with_smoothing(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, const Precision& precision,
                    const std::function<bool(const Contour&)>& take) {
  const double about = scale_of(epsilon);
  const auto smoothed = [&](double smoothing) {
    return Contour(steps, c, epsilon, log_delta, std::clamp(0.02 * precision.atoms * about * c, 1e-14, 0.05), smoothing, precision.work);
  };
  const double first = std::sqrt(0.5 * precision.atoms * about / (c + 1));
  for (double smoothing = first; smoothing < 0.3 / std::min(1.0, c); smoothing *= 2) {
    if (const Contour contour = smoothed(smoothing); !contour.failed()) {
      if (take(contour) || smoothing > first) return;
      break;
    }
  }
  for (double smoothing = first / 3; smoothing > first / 300; smoothing /= 3) {
    const Contour contour = smoothed(smoothing);
    if (contour.failed() || take(contour)) return;
  }
}

// Of δ: relative to ε it is smaller by the slope, which is about log δ over ε or steeper.
double rare_tolerance(const Precision& precision, double log_delta) {
  return std::clamp(1.5 * precision.smooth * std::max(1.0, -0.3 * log_delta), 1e-11, 0.02);
}

bool is_narrow(Bound epsilon, const Precision& precision) {
  const double width = epsilon.upper - epsilon.lower;
  return width <= std::max(1e-12, 10 * precision.smooth * epsilon.upper);
}

constexpr double most_epsilon = 1500;  // beyond, a bracket may be wide
constexpr double least_c = 1e-6;
constexpr double most_c = 1e12;

// The same c, or one below it at which the transforms can be bounded and not only estimated.
double bounded_at(const std::vector<LossStep>& steps, double c) {
  for (int turn = 0; turn < 40 && c > least_c && !std::isfinite(cumulant_above(steps, c)); ++turn) c /= 2;
  return c;
}

// The c at which the integrand is least high at ε, with room below the pole.
double saddle_at(const std::vector<LossStep>& steps, double epsilon) {
  const double pole = 0.9 * pole_of(steps);
  const double spread = spread_of(steps);
  const double start = std::clamp(epsilon / std::max(1e-300, spread * spread), 0.1, 1e11);
  return roughly_least(std::min(start, pole / 2), [&](double c) {
    if (c >= pole || c > most_c || c < least_c) return infinity;
    return cumulant(steps, c) - c * epsilon - std::log(c) - std::log1p(c);
  });
}

// The c at which Rényi DP's ε is least at δ.
double best_at(const std::vector<LossStep>& steps, double log_delta) {
  const double pole = 0.9 * pole_of(steps);
  const double start = std::clamp(std::sqrt(1 - 2 * log_delta) / std::max(spread_of(steps), 1e-300), 1e-5, std::min(1e11, pole / 2));
  return roughly_least(start, [&](double c) {
    if (c >= pole || c > most_c || c < least_c) return infinity;
    return (cumulant(steps, c) - log_delta + chernoff_factor(c)) / c;
  });
}

double chernoff_delta_at(const std::vector<LossStep>& steps, double c, double epsilon) {
  const double log = cumulant_above(steps, c) - c * epsilon * (1 - 4 * unit) + chernoff_factor(c);
  return std::isnan(log) ? 1 : std::min(1.0, std::exp(log) * (1 + 64 * unit));
}

double chernoff_epsilon_at(const std::vector<LossStep>& steps, double c, double log_delta) {
  const double epsilon = (cumulant_above(steps, c) - log_delta + chernoff_factor(c)) / c;
  return std::isnan(epsilon) ? infinity : std::max(0.0, epsilon + 64 * unit * (std::abs(epsilon) - log_delta / c));
}

}  // namespace

bool surely_below(const std::vector<LossStep>& steps, double epsilon, double delta) {
  if (epsilon >= worst_of(steps)) return true;
  const double c = bounded_at(steps, saddle_at(steps, epsilon));
  if (chernoff_delta_at(steps, c, epsilon) <= delta) return true;
  const Contour few(steps, c, epsilon, std::log(delta), 3e-3, 0, 3e5);
  if (!few.failed()) return few.delta(epsilon).upper <= delta;
  const auto plan = loss_detail::rare_plan(steps);
  return plan && Rare(*plan, epsilon, std::log(delta), 0.02).delta(epsilon).upper <= delta;
}

namespace {

using loss_detail::Profile;

// Where a profile that falls like e^(-cε) at first crosses δ, from both sides, within [0, worst]; a root need not be sharper than
// `fine`.
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
  return {std::min(lower, upper), upper};
}

// ε by splitting the losses, again where it turned out to be elsewhere.
Bound rare_epsilon(const RarePlan& plan, double worst, Bound range, const Precision& precision) {
  const double log_delta = std::log(range.lower);
  double fine = rare_tolerance(precision, log_delta);
  if (loss_detail::rare_variation(plan) <= range.lower) return {0, 0};
  const std::vector<double> starts = loss_detail::rare_starts(plan, range.lower);
  if (starts.front() > most_epsilon) return {0, worst};
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
      if (profile(0).upper <= range.lower) return {0, 0};
      const double slope = std::log(profile(at).upper / profile(at * 1.002).upper) / (0.002 * at);
      const Bound here = crossing_of(profile, std::max(slope, 1 / at), worst, range, at, 1e-3 * precision.smooth);
      const bool lower = here.upper < std::min(best.upper, 0.999 * at);  // than was supposed
      best = {std::max(best.lower, here.lower), std::min(best.upper, here.upper)};
      if (profile(at).lower > range.upper) best.lower = std::max(best.lower, std::min(at, best.upper));
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
  return best;
}

std::optional<Profile> exact_profile(const std::vector<LossStep>& steps) {
  if (auto single = loss_detail::single_profile(steps)) return single;
  if (auto counted = loss_detail::counted_profile(steps)) return counted;
  return loss_detail::convolved_profile(steps);
}

Bound delta_by_lines(const std::vector<LossStep>& steps, Bound range, const Precision& precision) {
  const double epsilon = range.lower;
  if (epsilon >= worst_of(steps)) return {0, 0};
  Bound one{0, 1};
  if (const auto exact = exact_profile(steps)) {
    one = {(*exact)(range.upper).lower, (*exact)(epsilon).upper};
    if (one.upper > 0 && one.upper - one.lower <= std::max(1e-14, 10 * precision.smooth) * one.upper) return one;
  }
  const double c = bounded_at(steps, saddle_at(steps, epsilon));
  const auto height = [&](double x) { return cumulant(steps, x) - x * epsilon - std::log(x) - std::log1p(x); };
  const double top = height(c);
  if (!std::isfinite(top)) return {0, 1};
  const double d = 0.1 * c;
  const double width = (height(c + d) + height(c - d) - 2 * top) / (d * d);
  const double log_delta = std::min(-0.1, top - 0.5 * std::log(2 * pi * std::max(width, 1e-300)));
  constexpr double least = std::numeric_limits<double>::denorm_min();  // δ may be below every double, but is not 0
  const double above = std::max(chernoff_delta_at(steps, c, epsilon), least);
  const auto read = [&](const Profile& profile) {
    Bound here = profile(epsilon);
    here.upper = std::max(std::min(here.upper, above), least);
    here.lower = std::min(here.lower, here.upper);
    return Bound{range.upper == epsilon ? here.lower : std::min(here.upper, profile(range.upper).lower), here.upper};
  };
  const auto meet = [](Bound a, Bound b) { return Bound{std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; };
  const auto narrow = [&](Bound delta) { return delta.upper - delta.lower <= std::max(1e-14, 10 * precision.smooth) * delta.upper; };
  const Contour contour = plain_contour(steps, c, epsilon, log_delta, precision);
  Bound best{0, above};
  if (!contour.failed()) best = read([&](double x) { return contour.delta(x); });
  best = meet(best, one);
  if (narrow(best)) return best;
  if (const auto plan = loss_detail::rare_plan(steps)) {
    for (double about : {epsilon > 0 ? loss_detail::rare_guess(*plan, epsilon) : log_delta, log_delta}) {
      for (int turn = 0; turn < 3 && !narrow(best); ++turn) {
        const Rare rare(*plan, epsilon, about, rare_tolerance(precision, 0));
        if (rare.failed()) break;
        best = meet(best, read([&](double x) { return rare.delta(x); }));
        about = best.lower > 0 ? std::log(best.lower) : about - 20;
      }
    }
  }
  best = loss_detail::ladder_delta(steps, best, range, precision);
  if (contour.failed() && best.upper - best.lower > 2 * precision.atoms * std::max(1.0, c * epsilon) * best.upper) {
    with_smoothing(steps, c, epsilon, log_delta, precision, [&](const Contour& smooth) {
      best = meet(best, read([&](double x) { return smooth.delta(x); }));
      const double open = (best.upper - best.lower) / best.upper / std::max(1.0, c * epsilon);
      return open <= 2 * precision.atoms || open > 300 * precision.atoms;  // enough, or out of reach
    });
  }
  if (!narrow(best) && best.upper - best.lower > 2 * precision.atoms * std::max(1.0, c * epsilon) * best.upper) {
    if (const auto once = loss_detail::once_profile(steps)) best = meet(best, read(*once));
  }
  return best;
}

Bound epsilon_by_lines(const std::vector<LossStep>& steps, Bound range, Bound near_top, const Precision& precision) {
  const double delta = range.lower;
  const double log_delta = std::log(delta);
  const auto exact = exact_profile(steps);
  const Bound one = exact ? loss_detail::inverse_of(*exact, range, worst_of(steps)) : Bound{0, infinity};
  if (exact && is_narrow(one, precision)) return one;
  const double c = bounded_at(steps, best_at(steps, log_delta));
  // what Chernoff's bound gives, for certain: Rényi DP's ε
  const double worst = std::min(worst_of(steps), chernoff_epsilon_at(steps, c, log_delta));
  if (!std::isfinite(worst)) return {0, worst};
  const auto read = [&](const Contour& contour) {
    if (contour.failed()) return Bound{0, worst};
    if (contour.delta(0).upper <= delta) return Bound{0, 0};
    // a root need not be sharper than the bracket is wide
    const Profile profile = [&](double epsilon) { return contour.delta(epsilon); };
    return crossing_of(profile, c, worst, range, worst, contour.smoothed() ? 0.01 * precision.atoms : 1e-3 * precision.smooth);
  };
  const Contour plain = plain_contour(steps, c, worst, log_delta, precision);
  Bound best = read(plain);
  const auto meet = [&](Bound other) { best = {std::max(best.lower, std::min(other.lower, best.upper)), std::min(best.upper, other.upper)}; };
  meet(near_top);
  if (exact) meet(one);
  if (is_narrow(best, precision)) return best;
  if (const auto plan = loss_detail::rare_plan(steps)) meet(rare_epsilon(*plan, best.upper, range, precision));
  best = loss_detail::ladder_epsilon(steps, best, range, precision);
  if (plain.failed() && best.upper - best.lower > 2 * precision.atoms * best.upper) {
    with_smoothing(steps, c, worst, log_delta, precision, [&](const Contour& smooth) {
      meet(read(smooth));
      const double width = (best.upper - best.lower) / best.upper;
      return width <= 1.8 * precision.atoms || width > 300 * precision.atoms;  // enough, or out of reach
    });
  }
  if (best.upper - best.lower > 2 * precision.atoms * best.upper) {
    if (const auto once = loss_detail::once_profile(steps)) meet(loss_detail::inverse_of(*once, range, best.upper));
  }
  return best;
}

// Where δ(ε) falls in steps, as on a coarse lattice, one line is not the best for all ε nearby: each half has a line of its own.
Bound halved(const std::vector<LossStep>& steps, Bound delta, Bound epsilon, const Precision& precision) {
  for (int turn = 0; turn < 50 && !is_narrow(epsilon, precision); ++turn) {
    const double middle = epsilon.lower + (epsilon.upper - epsilon.lower) / 2;
    const Bound here = delta_by_lines(steps, {middle, middle}, precision);
    if (here.upper <= delta.lower) {
      epsilon.upper = middle;
    } else if (here.lower > delta.upper) {
      epsilon.lower = middle;
    } else {
      break;
    }
  }
  return epsilon;
}

}  // namespace

Bound composed_delta(const std::vector<LossStep>& steps, Bound epsilon, const Precision& precision) {
  const Bound delta = delta_by_lines(steps, epsilon, precision);
  return {std::min(delta.upper, std::max(delta.lower, delta_of_top(steps, epsilon.upper))), delta.upper};
}

Bound composed_epsilon(const std::vector<LossStep>& steps, Bound delta, const Precision& precision) {
  const Bound near_top{epsilon_of_top(steps, delta.upper), worst_of(steps)};
  if (near_top.lower > 0 && is_narrow(near_top, precision)) return near_top;
  const Bound epsilon = epsilon_by_lines(steps, delta, near_top, precision);
  if (is_narrow(epsilon, precision) || steps.size() != 1 || !steps.front().loss->lattice()) return epsilon;
  return halved(steps, delta, epsilon, precision);
}

}  // namespace sotto
