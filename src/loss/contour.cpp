// Where to put the contour, and what to read off it.
#include "sotto/loss/contour.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "by_ladder.hpp"
#include "by_split.hpp"
#include "exact.hpp"
#include "integral.hpp"
#include "law.hpp"
#include "merged.hpp"
#include "rare.hpp"
#include "saddle.hpp"
#include "sotto/core/contradiction.hpp"
#include "sotto/core/work.hpp"

namespace sotto {
namespace {

using loss_detail::about_log_delta;
using loss_detail::best_at;
using loss_detail::bounded_at;
using loss_detail::chernoff_factor;
using loss_detail::Contour;
using loss_detail::crossing_of;
using loss_detail::cumulant;
using loss_detail::cumulant_above;
using loss_detail::infinity;
using loss_detail::is_narrow;
using loss_detail::pi;
using loss_detail::pole_of;
using loss_detail::Profile;
using loss_detail::Rare;
using loss_detail::saddle_at;
using loss_detail::unit;
using loss_detail::worst_of;

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

// A line's integral: over one period where the losses are on a lattice.
Way way_of(const std::vector<LossStep>& steps) { return steps.size() == 1 && steps.front().loss->lattice() ? Way::lattice : Way::contour; }

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
  bool below = false;
  attempted(0.3, [&] {
    const double c = bounded_at(steps, saddle_at(steps, epsilon));
    below = chernoff_delta_at(steps, c, epsilon) <= delta;
    if (below) return;
    const Contour few(steps, c, epsilon, std::log(delta), 3e-3, 0, 3e5);
    if (!few.failed()) {
      below = few.delta(epsilon).upper <= delta;
      return;
    }
    const auto plan = loss_detail::rare_plan(steps);
    below = plan && Rare(*plan, epsilon, std::log(delta), 0.02).delta(epsilon).upper <= delta;
  });
  return below;
}

namespace {

struct ExactProfile {
  Profile delta;
  Way way;
};

std::optional<ExactProfile> exact_profile(const std::vector<LossStep>& steps) {
  if (auto single = loss_detail::single_profile(steps)) return ExactProfile{*single, Way::law};
  if (auto counted = loss_detail::counted_profile(steps)) return ExactProfile{*counted, Way::outcomes};
  if (auto convolved = loss_detail::convolved_profile(steps)) return ExactProfile{*convolved, Way::noise_sum};
  return std::nullopt;
}

// Narrows what is known. Contradiction if nothing is left.
void meet(Bracket& known, Bound other, Way way) {
  (void)bracket(std::max(known.lower, other.lower), std::min(known.upper, other.upper), "a value of the composed losses");
  if (other.upper < known.upper) {
    known.upper = other.upper;
    known.above = way;
    known.lower = std::min(known.lower, known.upper);
  }
  if (const double lower = std::min(other.lower, known.upper); lower > known.lower) {
    known.lower = lower;
    known.below = way;
  }
}

// Many kinds of steps as few, from above and from below: more of them where there is work for it.
constexpr std::size_t fewest_kinds = 6;
constexpr std::size_t few_kinds = 12;
constexpr std::size_t many_kinds = 256;  // so many are first taken as few

// What the integral of all of them may take of the work that is left.
double plain_share(const std::vector<LossStep>& steps) { return steps.size() > few_kinds ? 0.15 : 0.6; }

template <class Compose>
void merge(Bracket& known, const std::vector<LossStep>& steps, double share, Compose compose) {
  if (steps.size() <= few_kinds) return;
  attempted(share, [&] {
    for (const std::size_t kinds : {fewest_kinds, few_kinds}) {
      attempted(kinds == few_kinds ? 1 : 0.9, [&] {
        const auto few = loss_detail::merged(steps, kinds);
        if (!few) return;
        double upper = known.upper;
        attempted(0.5, [&] { upper = compose(few->dearer).upper; });
        meet(known, {0, upper}, Way::merged);
        meet(known, {compose(few->cheaper).lower, infinity}, Way::merged);
      });
    }
  });
}

// The same by a way that narrows a bracket itself.
template <class Narrow>
void narrow_by(Way way, Bracket& known, double share, Narrow narrow) {
  Bound own = known;
  attempted(share, [&] { narrow(own); });
  meet(known, own, way);
}

// What is known of δ, narrowed way by way. A way may take a share of what work is left, and what it had proved by then is kept.
Bracket delta_by_lines(const std::vector<LossStep>& steps, Bound range, const Precision& precision) {
  const double epsilon = range.lower;
  if (epsilon >= worst_of(steps)) return {{0, 0}};
  Bracket best{{0, 1}};
  const auto narrow = [&] { return best.upper > 0 && best.upper - best.lower <= std::max(1e-14, 10 * precision.smooth) * best.upper; };
  const auto merge_kinds = [&](double share) {
    merge(best, steps, share, [&](const std::vector<LossStep>& kinds) { return composed_delta(kinds, range, precision); });
  };
  if (steps.size() > many_kinds) merge_kinds(0.6);
  attempted(0.5, [&] {
    if (const auto exact = exact_profile(steps)) meet(best, {exact->delta(range.upper).lower, exact->delta(epsilon).upper}, exact->way);
  });
  if (narrow()) return best;
  constexpr double least = std::numeric_limits<double>::denorm_min();  // δ may be below every double, but is not 0
  double c = 0;
  double log_delta = 0;
  attempted(0.5, [&] {
    const double at = bounded_at(steps, saddle_at(steps, epsilon));
    const auto about = about_log_delta(steps, at, epsilon);
    if (!about) return;
    log_delta = *about;
    meet(best, {0, std::max(chernoff_delta_at(steps, at, epsilon), least)}, Way::chernoff);
    c = at;
  });
  if (c == 0) return best;
  const double above = best.upper;
  const auto read = [&](const Profile& profile, Way way) {
    Bound here = profile(epsilon);
    here.upper = std::max(std::min(here.upper, above), least);
    here.lower = std::min(here.lower, here.upper);
    meet(best, {range.upper == epsilon ? here.lower : std::min(here.upper, profile(range.upper).lower), here.upper}, way);
  };
  const Way plain_way = way_of(steps);
  bool failed = true;
  attempted(plain_share(steps), [&] {
    const Contour contour = plain_contour(steps, c, epsilon, log_delta, precision);
    if (contour.failed()) return;
    read([&](double x) { return contour.delta(x); }, plain_way);
    failed = false;
  });
  if (narrow()) return best;
  if (steps.size() <= many_kinds) merge_kinds(0.8);
  attempted(0.6, [&] {
    const auto plan = loss_detail::rare_plan(steps);
    if (!plan) return;
    for (double about : {epsilon > 0 ? loss_detail::rare_guess(*plan, epsilon) : log_delta, log_delta}) {
      for (int turn = 0; turn < 3 && !narrow(); ++turn) {
        const Rare rare(*plan, epsilon, about, loss_detail::rare_tolerance(precision, 0));
        if (rare.failed()) break;
        read([&](double x) { return rare.delta(x); }, Way::split);
        about = best.lower > 0 ? std::log(best.lower) : about - 20;
      }
    }
  });
  narrow_by(Way::grid, best, 0.7, [&](Bound& own) { loss_detail::ladder_delta(steps, own, range, precision); });
  const auto wide = [&] { return best.upper - best.lower > 2 * precision.atoms * std::max(1.0, c * epsilon) * best.upper; };
  if (failed && wide()) {
    attempted(0.7, [&] {
      with_smoothing(steps, c, epsilon, log_delta, precision, [&](const Contour& smooth) {
        read([&](double x) { return smooth.delta(x); }, Way::smoothed);
        const double open = (best.upper - best.lower) / best.upper / std::max(1.0, c * epsilon);
        return open <= 2 * precision.atoms || open > 300 * precision.atoms;  // enough, or out of reach
      });
    });
  }
  if (!narrow() && wide()) {
    attempted(0.9, [&] {
      if (const auto once = loss_detail::once_profile(steps)) read(*once, Way::sample);
    });
  }
  return best;
}

// The same for ε.
Bracket epsilon_by_lines(const std::vector<LossStep>& steps, Bound range, const Bracket& near_top, const Precision& precision) {
  const double delta = range.lower;
  const double log_delta = std::log(delta);
  Bracket best = near_top;
  const auto merge_kinds = [&](double share) {
    merge(best, steps, share, [&](const std::vector<LossStep>& kinds) { return composed_epsilon(kinds, range, precision); });
  };
  if (steps.size() > many_kinds) merge_kinds(0.6);
  bool exact = false;
  attempted(0.5, [&] {
    if (const auto profile = exact_profile(steps)) {
      const Bound one = loss_detail::inverse_of(profile->delta, range, worst_of(steps));
      exact = is_narrow(one, precision);
      meet(best, one, profile->way);
    }
  });
  if (exact) return best;
  // what Chernoff's bound gives, for certain: Rényi DP's ε
  double c = 0;
  double worst = infinity;
  attempted(0.5, [&] {
    const double at = bounded_at(steps, best_at(steps, log_delta));
    worst = std::min(worst_of(steps), chernoff_epsilon_at(steps, at, log_delta));
    meet(best, {0, worst}, Way::chernoff);
    c = at;
  });
  if (!std::isfinite(worst)) return best;
  const auto read = [&](const Contour& contour) {
    if (contour.failed()) return;
    const Way way = contour.smoothed() ? Way::smoothed : way_of(steps);
    if (contour.delta(0).upper <= delta) return meet(best, {0, 0}, way);
    // a root need not be sharper than the bracket is wide
    const Profile profile = [&](double epsilon) { return contour.delta(epsilon); };
    meet(best, crossing_of(profile, c, worst, range, worst, contour.smoothed() ? 0.01 * precision.atoms : 1e-3 * precision.smooth), way);
  };
  bool failed = true;
  attempted(plain_share(steps), [&] {
    const Contour plain = plain_contour(steps, c, worst, log_delta, precision);
    failed = plain.failed();
    read(plain);
  });
  if (is_narrow(best, precision)) return best;
  if (steps.size() <= many_kinds) merge_kinds(0.8);
  narrow_by(Way::split, best, 0.6, [&](Bound& own) {
    if (const auto plan = loss_detail::rare_plan(steps)) loss_detail::rare_epsilon(*plan, own, range, precision);
  });
  narrow_by(Way::grid, best, 0.7, [&](Bound& own) { loss_detail::ladder_epsilon(steps, own, range, precision); });
  if (failed && best.upper - best.lower > 2 * precision.atoms * best.upper) {
    attempted(0.7, [&] {
      with_smoothing(steps, c, worst, log_delta, precision, [&](const Contour& smooth) {
        read(smooth);
        const double width = (best.upper - best.lower) / best.upper;
        return width <= 1.8 * precision.atoms || width > 300 * precision.atoms;  // enough, or out of reach
      });
    });
  }
  if (best.upper - best.lower > 2 * precision.atoms * best.upper) {
    attempted(0.9, [&] {
      if (const auto once = loss_detail::once_profile(steps)) meet(best, loss_detail::inverse_of(*once, range, best.upper), Way::sample);
    });
  }
  return best;
}

// Where δ(ε) falls in steps, as on a coarse lattice, one line is not the best for all ε nearby: each half has a line of its own.
Bracket halved(const std::vector<LossStep>& steps, Bound delta, Bracket epsilon, const Precision& precision) {
  attempted(0.9, [&] {
    for (int turn = 0; turn < 50 && !is_narrow(epsilon, precision); ++turn) {
      const double middle = epsilon.lower + (epsilon.upper - epsilon.lower) / 2;
      const Bracket here = delta_by_lines(steps, {middle, middle}, precision);
      if (here.upper <= delta.lower) {
        meet(epsilon, {0, middle}, here.above);
      } else if (here.lower > delta.upper) {
        meet(epsilon, {middle, infinity}, here.below);
      } else {
        break;
      }
    }
  });
  return epsilon;
}

}  // namespace

Bracket composed_delta(const std::vector<LossStep>& steps, Bound epsilon, const Precision& precision) {
  Bracket delta = delta_by_lines(steps, epsilon, precision);
  meet(delta, {delta_of_top(steps, epsilon.upper), 1}, Way::largest_loss);
  return delta;
}

Bracket composed_epsilon(const std::vector<LossStep>& steps, Bound delta, const Precision& precision) {
  Bracket near_top{{0, worst_of(steps)}};
  attempted(0.2, [&] { near_top.lower = epsilon_of_top(steps, delta.upper); });
  if (near_top.lower > 0 && is_narrow(near_top, precision)) return near_top;
  const Bracket epsilon = epsilon_by_lines(steps, delta, near_top, precision);
  if (is_narrow(epsilon, precision) || steps.size() != 1 || !steps.front().loss->lattice()) return epsilon;
  return halved(steps, delta, epsilon, precision);
}

}  // namespace sotto
