// δ(ε) and ε(δ) of composed privacy losses: the ways that narrow a bracket, one after the other.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "crossing.hpp"
#include "grid/bracket.hpp"
#include "merge_kinds.hpp"
#include "saddle_point/abscissa.hpp"
#include "saddle_point/inversion_integral.hpp"
#include "sotto/core/contradiction.hpp"
#include "sotto/core/work.hpp"
#include "sotto/pld/compose.hpp"

namespace sotto {
namespace {

using pld_detail::bounded_abscissa;
using pld_detail::chernoff_factor;
using pld_detail::crossing_of;
using pld_detail::cumulant;
using pld_detail::cumulant_above;
using pld_detail::infinity;
using pld_detail::InversionIntegral;
using pld_detail::is_narrow;
using pld_detail::max_loss_of;
using pld_detail::pi;
using pld_detail::pole_of;
using pld_detail::Profile;
using pld_detail::renyi_abscissa;
using pld_detail::saddle_point;
using pld_detail::saddle_point_estimate;
using pld_detail::unit;

// All steps at their largest loss W together have a mass m: δ(ε) >= m (1 - e^(ε - W)), and ε(δ) >= W + log(1 - δ/m).
std::optional<PrivacyLoss::MaxLossAtom> max_loss_atom_of(const std::vector<LossStep>& steps) {
  PrivacyLoss::MaxLossAtom sum{0, 0};
  for (const LossStep& step : steps) {
    const auto one = step.loss->max_loss_atom();
    if (!one) return std::nullopt;
    sum = {sum.loss + step.count * one->loss, sum.log_mass + step.count * one->log_mass};
  }
  const double error = 4 * unit * static_cast<double>(steps.size());
  return PrivacyLoss::MaxLossAtom{sum.loss * (1 - error), sum.log_mass * (1 + error)};
}

double delta_of_max_loss(const std::vector<LossStep>& steps, double epsilon) {
  const auto atom = max_loss_atom_of(steps);
  const double gap = atom ? atom->loss - epsilon - 4 * unit * atom->loss : 0;
  return gap > 0 ? std::exp(atom->log_mass) * -std::expm1(-gap) * (1 - 64 * unit * (1 - atom->log_mass)) : 0;
}

double epsilon_of_max_loss(const std::vector<LossStep>& steps, double delta) {
  const auto atom = max_loss_atom_of(steps);
  if (!atom) return 0;
  const double share = std::exp(std::log(delta) - atom->log_mass) * (1 + 64 * unit * (1 - atom->log_mass));
  return share < 1 ? std::max(0.0, atom->loss + std::log1p(-share) * (1 + 64 * unit) - 64 * unit * atom->loss) : 0;
}

// The inversion integral, over one period where the losses are on a lattice.
ProofMethod way_of(const std::vector<LossStep>& steps) { return steps.size() == 1 && steps.front().loss->lattice() ? ProofMethod::lattice : ProofMethod::saddle_point; }

double scale_of(double epsilon) { return std::max(epsilon, 1e-6); }

InversionIntegral plain_integral(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, const Precision& precision) {
  const double tolerance = std::clamp(0.05 * precision.smooth * scale_of(epsilon) * c, 1e-14, 0.05);
  return {steps, c, epsilon, log_delta, tolerance, 0, precision.work};
}

// Smoothed just enough for the precision, where losses are spread out; where that needs too many nodes, more. What a smoothed contour gives is
// handed to `take`, which says whether it is enough: next to large atoms the smoothing counts for more, and is made less.
void with_smoothing(const std::vector<LossStep>& steps, double c, double epsilon, double log_delta, const Precision& precision,
                    const std::function<bool(const InversionIntegral&)>& take) {
  const double about = scale_of(epsilon);
  const auto smoothed = [&](double smoothing) {
    return InversionIntegral(steps, c, epsilon, log_delta, std::clamp(0.02 * precision.atoms * about * c, 1e-14, 0.05), smoothing, precision.work);
  };
  const double first = std::sqrt(0.5 * precision.atoms * about / (c + 1));
  for (double smoothing = first; smoothing < 0.3 / std::min(1.0, c); smoothing *= 2) {
    if (const InversionIntegral integral = smoothed(smoothing); !integral.failed()) {
      if (take(integral) || smoothing > first) return;
      break;
    }
  }
  for (double smoothing = first / 3; smoothing > first / 300; smoothing /= 3) {
    const InversionIntegral integral = smoothed(smoothing);
    if (integral.failed() || take(integral)) return;
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
  if (epsilon >= max_loss_of(steps)) return true;
  bool below = false;
  attempted(0.3, [&] {
    const double c = bounded_abscissa(steps, saddle_point(steps, epsilon));
    below = chernoff_delta_at(steps, c, epsilon) <= delta;
    if (below) return;
    const InversionIntegral few(steps, c, epsilon, std::log(delta), 3e-3, 0, 3e5);
    below = !few.failed() && few.delta(epsilon).upper <= delta;
  });
  return below;
}

namespace {

// Narrows what is known. Contradiction if nothing is left.
void meet(Bracket& known, Bound other, ProofMethod way) {
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
        const auto few = pld_detail::merged(steps, kinds);
        if (!few) return;
        double upper = known.upper;
        attempted(0.5, [&] { upper = compose(few->above).upper; });
        meet(known, {0, upper}, ProofMethod::merged);
        meet(known, {compose(few->below).lower, infinity}, ProofMethod::merged);
      });
    }
  });
}

// The same by a way that narrows a bracket itself.
template <class Narrow>
void narrow_by(ProofMethod way, Bracket& known, double share, Narrow narrow) {
  Bound own = known;
  attempted(share, [&] { narrow(own); });
  meet(known, own, way);
}

// What is known of δ, narrowed way by way. A way may take a share of what work is left, and what it had proved by then is kept.
Bracket delta_by_lines(const std::vector<LossStep>& steps, Bound range, const Precision& precision) {
  const double epsilon = range.lower;
  if (epsilon >= max_loss_of(steps)) return {{0, 0}};
  Bracket best{{0, 1}};
  const auto narrow = [&] { return best.upper > 0 && best.upper - best.lower <= std::max(1e-14, 10 * precision.smooth) * best.upper; };
  const auto merge_kinds = [&](double share) {
    merge(best, steps, share, [&](const std::vector<LossStep>& kinds) { return composed_delta(kinds, range, precision); });
  };
  if (steps.size() > many_kinds) merge_kinds(0.6);
  constexpr double least = std::numeric_limits<double>::denorm_min();  // δ may be below every double, but is not 0
  double c = 0;
  double log_delta = 0;
  attempted(0.5, [&] {
    const double at = bounded_abscissa(steps, saddle_point(steps, epsilon));
    const auto about = saddle_point_estimate(steps, at, epsilon);
    if (!about) return;
    log_delta = *about;
    meet(best, {0, std::max(chernoff_delta_at(steps, at, epsilon), least)}, ProofMethod::chernoff);
    c = at;
  });
  if (c == 0) return best;
  const double above = best.upper;
  const auto read = [&](const Profile& profile, ProofMethod way) {
    Bound here = profile(epsilon);
    here.upper = std::max(std::min(here.upper, above), least);
    here.lower = std::min(here.lower, here.upper);
    meet(best, {range.upper == epsilon ? here.lower : std::min(here.upper, profile(range.upper).lower), here.upper}, way);
  };
  const ProofMethod plain_way = way_of(steps);
  bool failed = true;
  attempted(plain_share(steps), [&] {
    const InversionIntegral integral = plain_integral(steps, c, epsilon, log_delta, precision);
    if (integral.failed()) return;
    read([&](double x) { return integral.delta(x); }, plain_way);
    failed = false;
  });
  if (narrow()) return best;
  if (steps.size() <= many_kinds) merge_kinds(0.8);
  narrow_by(ProofMethod::grid, best, 0.7, [&](Bound& own) { pld_detail::grid_delta(steps, own, range, precision); });
  const auto wide = [&] { return best.upper - best.lower > 2 * precision.atoms * std::max(1.0, c * epsilon) * best.upper; };
  if (failed && wide()) {
    attempted(0.7, [&] {
      with_smoothing(steps, c, epsilon, log_delta, precision, [&](const InversionIntegral& smooth) {
        read([&](double x) { return smooth.delta(x); }, ProofMethod::smoothed);
        const double open = (best.upper - best.lower) / best.upper / std::max(1.0, c * epsilon);
        return open <= 2 * precision.atoms || open > 300 * precision.atoms;  // enough, or out of reach
      });
    });
  }
  return best;
}

// The same for ε.
Bracket epsilon_by_lines(const std::vector<LossStep>& steps, Bound range, const Bracket& by_max_loss, const Precision& precision) {
  const double delta = range.lower;
  const double log_delta = std::log(delta);
  Bracket best = by_max_loss;
  const auto merge_kinds = [&](double share) {
    merge(best, steps, share, [&](const std::vector<LossStep>& kinds) { return composed_epsilon(kinds, range, precision); });
  };
  if (steps.size() > many_kinds) merge_kinds(0.6);
  // what Chernoff's bound gives, for certain: Rényi DP's ε
  double c = 0;
  double worst = infinity;
  attempted(0.5, [&] {
    const double at = bounded_abscissa(steps, renyi_abscissa(steps, log_delta));
    worst = std::min(max_loss_of(steps), chernoff_epsilon_at(steps, at, log_delta));
    meet(best, {0, worst}, ProofMethod::chernoff);
    c = at;
  });
  if (!std::isfinite(worst)) return best;
  const auto read = [&](const InversionIntegral& integral) {
    if (integral.failed()) return;
    const ProofMethod way = integral.smoothed() ? ProofMethod::smoothed : way_of(steps);
    if (integral.delta(0).upper <= delta) return meet(best, {0, 0}, way);
    // a root need not be sharper than the bracket is wide
    const Profile profile = [&](double epsilon) { return integral.delta(epsilon); };
    meet(best, crossing_of(profile, c, worst, range, worst, integral.smoothed() ? 0.01 * precision.atoms : 1e-3 * precision.smooth), way);
  };
  bool failed = true;
  attempted(plain_share(steps), [&] {
    const InversionIntegral plain = plain_integral(steps, c, worst, log_delta, precision);
    failed = plain.failed();
    read(plain);
  });
  if (is_narrow(best, precision)) return best;
  if (steps.size() <= many_kinds) merge_kinds(0.8);
  narrow_by(ProofMethod::grid, best, 0.7, [&](Bound& own) { pld_detail::grid_epsilon(steps, own, range, precision); });
  if (failed && best.upper - best.lower > 2 * precision.atoms * best.upper) {
    attempted(0.7, [&] {
      with_smoothing(steps, c, worst, log_delta, precision, [&](const InversionIntegral& smooth) {
        read(smooth);
        const double width = (best.upper - best.lower) / best.upper;
        return width <= 1.8 * precision.atoms || width > 300 * precision.atoms;  // enough, or out of reach
      });
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
  meet(delta, {delta_of_max_loss(steps, epsilon.upper), 1}, ProofMethod::max_loss);
  return delta;
}

Bracket composed_epsilon(const std::vector<LossStep>& steps, Bound delta, const Precision& precision) {
  Bracket by_max_loss{{0, max_loss_of(steps)}};
  attempted(0.2, [&] { by_max_loss.lower = epsilon_of_max_loss(steps, delta.upper); });
  if (by_max_loss.lower > 0 && is_narrow(by_max_loss, precision)) return by_max_loss;
  const Bracket epsilon = epsilon_by_lines(steps, delta, by_max_loss, precision);
  if (is_narrow(epsilon, precision) || steps.size() != 1 || !steps.front().loss->lattice()) return epsilon;
  return halved(steps, delta, epsilon, precision);
}

}  // namespace sotto
