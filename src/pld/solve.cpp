// composed_delta and composed_epsilon: one bracket, which one method after the other narrows.
//
// A method may only narrow the bracket, and gets a share of the remaining work. If it runs out of
// work, the bounds that it has proved by then hold. docs/theory/pld/README.md lists the methods.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/api/contradiction.hpp"
#include "core/api/work.hpp"
#include "pld/api/compose.hpp"
#include "pld/crossing.hpp"
#include "pld/grid/bracket.hpp"
#include "pld/saddle_point/abscissa.hpp"
#include "pld/saddle_point/inversion_integral.hpp"
#include "pld/subsampling/merge_kinds.hpp"

namespace sotto {
namespace {

using pld_detail::bounded_abscissa;
using pld_detail::bracket_crossing;
using pld_detail::chernoff_factor;
using pld_detail::cumulant_above;
using pld_detail::infinity;
using pld_detail::InversionIntegral;
using pld_detail::is_narrow;
using pld_detail::max_loss_of;
using pld_detail::Profile;
using pld_detail::renyi_abscissa;
using pld_detail::saddle_point;
using pld_detail::saddle_point_estimate;
using pld_detail::unit;

// Returns the atom at the largest loss of the composition, W = Σ k W_i: all steps have their
// largest loss at once with probability m = Π m_i^k. Both are rounded down; nullopt if some step
// has no atom.
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

// Returns the lower bound δ(ε) >= m (1 - e^(ε - W)), rounded down.
double delta_of_max_loss(const std::vector<LossStep>& steps, double epsilon) {
  const auto atom = max_loss_atom_of(steps);
  const double gap = atom ? atom->loss - epsilon - 4 * unit * atom->loss : 0;
  return gap > 0
             ? std::exp(atom->log_mass) * -std::expm1(-gap) * (1 - 64 * unit * (1 - atom->log_mass))
             : 0;
}

// Returns the lower bound ε(δ) >= W + log(1 - δ/m), rounded down; 0 if δ >= m.
double epsilon_of_max_loss(const std::vector<LossStep>& steps, double delta) {
  const auto atom = max_loss_atom_of(steps);
  if (!atom) return 0;
  const double share =
      std::exp(std::log(delta) - atom->log_mass) * (1 + 64 * unit * (1 - atom->log_mass));
  return share < 1 ? std::max(0.0, atom->loss + std::log1p(-share) * (1 + 64 * unit) -
                                       64 * unit * atom->loss)
                   : 0;
}

// Returns the variant of the inversion integral: over one period if the losses are on a lattice.
ProofMethod integral_method(const std::vector<LossStep>& steps) {
  return steps.size() == 1 && steps.front().loss->lattice() ? ProofMethod::lattice
                                                            : ProofMethod::saddle_point;
}

// Returns the scale of relative widths: ε, or 1e-6 where ε is near 0.
double scale_of(double epsilon) { return std::max(epsilon, 1e-6); }

InversionIntegral plain_integral(const std::vector<LossStep>& steps, double c, double epsilon,
                                 double log_delta, const Precision& precision) {
  const double tolerance = std::clamp(0.05 * precision.smooth * scale_of(epsilon) * c, 1e-14, 0.05);
  return {steps, c, epsilon, log_delta, tolerance, 0, precision.work};
}

// Tries smoothed integrals, for atoms on no common lattice. The parameter μ of the added Gaussian
// step starts where spread-out losses get the precision, and grows until the integral has few
// enough nodes. Next to large atoms the smoothing costs more: then μ shrinks. `is_enough` receives
// each integral, and returns true to end the search.
void try_smoothed_integrals(const std::vector<LossStep>& steps, double c, double epsilon,
                            double log_delta, const Precision& precision,
                            const std::function<bool(const InversionIntegral&)>& is_enough) {
  const double about = scale_of(epsilon);
  const auto smoothed = [&](double smoothing) {
    return InversionIntegral(steps, c, epsilon, log_delta,
                             std::clamp(0.02 * precision.atoms * about * c, 1e-14, 0.05), smoothing,
                             precision.work);
  };
  const double first = std::sqrt(0.5 * precision.atoms * about / (c + 1));
  for (double smoothing = first; smoothing < 0.3 / std::min(1.0, c); smoothing *= 2) {
    if (const InversionIntegral integral = smoothed(smoothing); !integral.failed()) {
      if (is_enough(integral) || smoothing > first) return;
      break;
    }
  }
  for (double smoothing = first / 3; smoothing > first / 300; smoothing /= 3) {
    const InversionIntegral integral = smoothed(smoothing);
    if (integral.failed() || is_enough(integral)) return;
  }
}

// Returns Chernoff's bound on δ(ε) at c, rounded up.
double chernoff_delta_at(const std::vector<LossStep>& steps, double c, double epsilon) {
  const double log = cumulant_above(steps, c) - c * epsilon * (1 - 4 * unit) + chernoff_factor(c);
  return std::isnan(log) ? 1 : std::min(1.0, std::exp(log) * (1 + 64 * unit));
}

// Returns the ε at which Chernoff's bound at c is δ, rounded up: the ε of Rényi DP of order c + 1.
double chernoff_epsilon_at(const std::vector<LossStep>& steps, double c, double log_delta) {
  const double epsilon = (cumulant_above(steps, c) - log_delta + chernoff_factor(c)) / c;
  return std::isnan(epsilon)
             ? infinity
             : std::max(0.0, epsilon + 64 * unit * (std::abs(epsilon) - log_delta / c));
}

}  // namespace

bool surely_below(const std::vector<LossStep>& steps, double epsilon, double delta) {
  if (epsilon >= max_loss_of(steps)) return true;
  bool below = false;
  finishes_within(0.3, [&] {
    const double c = bounded_abscissa(steps, saddle_point(steps, epsilon));
    below = chernoff_delta_at(steps, c, epsilon) <= delta;
    if (below) return;
    const InversionIntegral few(steps, c, epsilon, std::log(delta), 3e-3, 0, 3e5);
    below = !few.failed() && few.delta(epsilon).upper <= delta;
  });
  return below;
}

namespace {

// Intersects a bracket with another one of the same value, which `method` proves. Throws
// Contradiction if they do not meet.
void meet(Bracket& known, Bound other, ProofMethod method) {
  (void)bracket(std::max(known.lower, other.lower), std::min(known.upper, other.upper),
                "a value of the composed losses");
  if (other.upper < known.upper) {
    known.upper = other.upper;
    known.above = method;
    known.lower = std::min(known.lower, known.upper);
  }
  if (const double lower = std::min(other.lower, known.upper); lower > known.lower) {
    known.lower = lower;
    known.below = method;
  }
}

// Merging kinds of steps: a plan of more than few_kinds is merged into fewest_kinds, and then into
// few_kinds. A plan of more than many_kinds is merged before anything else is tried.
constexpr std::size_t fewest_kinds = 6;
constexpr std::size_t few_kinds = 12;
constexpr std::size_t many_kinds = 256;

// Returns the share of the remaining work for the inversion integral of all kinds of steps.
double plain_share(const std::vector<LossStep>& steps) {
  return steps.size() > few_kinds ? 0.15 : 0.6;
}

// Narrows a bracket by merged steps: `compose` brackets the value for them, and the upper end for
// steps that dominate, and the lower end for steps that are dominated, hold for the plan.
template <class Compose>
void meet_merged_kinds(Bracket& known, const std::vector<LossStep>& steps, double share,
                       Compose compose) {
  if (steps.size() <= few_kinds) return;
  finishes_within(share, [&] {
    for (const std::size_t kinds : {fewest_kinds, few_kinds}) {
      finishes_within(kinds == few_kinds ? 1 : 0.9, [&] {
        const auto few = pld_detail::merge_kinds(steps, kinds);
        if (!few) return;
        double upper = known.upper;
        finishes_within(0.5, [&] { upper = compose(few->dominating).upper; });
        meet(known, {0, upper}, ProofMethod::merged);
        meet(known, {compose(few->dominated).lower, infinity}, ProofMethod::merged);
      });
    }
  });
}

// Narrows a bracket by a method that narrows a Bound in place.
template <class Narrow>
void narrow_by(ProofMethod method, Bracket& known, double share, Narrow narrow) {
  Bound own = known;
  finishes_within(share, [&] { narrow(own); });
  meet(known, own, method);
}

// Brackets δ(ε) for all ε of a range: the state that the methods share, and one function a method.
class DeltaSolver {
 public:
  DeltaSolver(const std::vector<LossStep>& steps, Bound range, const Precision& precision)
      : steps_(steps), range_(range), precision_(precision), epsilon_(range.lower) {}

  Bracket solve() {
    if (epsilon_ >= max_loss_of(steps_)) return {{0, 0}};
    if (steps_.size() > many_kinds) merge_kinds(0.6);
    apply_chernoff();
    if (c_ == 0) return best_;
    chernoff_upper_ = best_.upper;

    const bool failed = !integrate();
    if (is_narrow_enough()) return best_;
    if (steps_.size() <= many_kinds) merge_kinds(0.8);
    narrow_by(ProofMethod::grid, best_, 0.7,
              [&](Bound& own) { pld_detail::grid_delta(steps_, own, range_, precision_); });
    if (failed && is_wide()) integrate_smoothed();
    return best_;
  }

 private:
  static constexpr double min_delta =
      std::numeric_limits<double>::denorm_min();  // δ may underflow, but is not 0

  [[nodiscard]] bool is_narrow_enough() const {
    return best_.upper > 0 &&
           best_.upper - best_.lower <= std::max(1e-14, 10 * precision_.smooth) * best_.upper;
  }
  [[nodiscard]] bool is_wide() const {
    return best_.upper - best_.lower >
           2 * precision_.atoms * std::max(1.0, c_ * epsilon_) * best_.upper;
  }

  void merge_kinds(double share) {
    meet_merged_kinds(best_, steps_, share, [&](const std::vector<LossStep>& kinds) {
      return composed_delta(kinds, range_, precision_);
    });
  }

  // Sets the abscissa c and an estimate of log δ, and applies Chernoff's bound at c. c stays 0 if
  // the moment generating function could not be evaluated.
  void apply_chernoff() {
    finishes_within(0.5, [&] {
      const double at = bounded_abscissa(steps_, saddle_point(steps_, epsilon_));
      const auto about = saddle_point_estimate(steps_, at, epsilon_);
      if (!about) return;
      log_delta_ = *about;
      meet(best_, {0, std::max(chernoff_delta_at(steps_, at, epsilon_), min_delta)},
           ProofMethod::chernoff);
      c_ = at;
    });
  }

  // Intersects the bracket with a profile that is bounded at both ends of the range.
  void meet_profile(const Profile& profile, ProofMethod method) {
    Bound here = profile(epsilon_);
    here.upper = std::max(std::min(here.upper, chernoff_upper_), min_delta);
    here.lower = std::min(here.lower, here.upper);
    meet(best_,
         {range_.upper == epsilon_ ? here.lower : std::min(here.upper, profile(range_.upper).lower),
          here.upper},
         method);
  }

  // Returns false if the integral failed, or ran out of work.
  bool integrate() {
    const ProofMethod method = integral_method(steps_);
    bool done = false;
    finishes_within(plain_share(steps_), [&] {
      const InversionIntegral integral =
          plain_integral(steps_, c_, epsilon_, log_delta_, precision_);
      if (integral.failed()) return;
      meet_profile([&](double x) { return integral.delta(x); }, method);
      done = true;
    });
    return done;
  }

  void integrate_smoothed() {
    finishes_within(0.7, [&] {
      try_smoothed_integrals(
          steps_, c_, epsilon_, log_delta_, precision_, [&](const InversionIntegral& smooth) {
            meet_profile([&](double x) { return smooth.delta(x); }, ProofMethod::smoothed);
            const double open =
                (best_.upper - best_.lower) / best_.upper / std::max(1.0, c_ * epsilon_);
            return open <= 2 * precision_.atoms ||
                   open > 300 * precision_.atoms;  // narrow enough, or hopeless
          });
    });
  }

  const std::vector<LossStep>& steps_;
  Bound range_;
  const Precision& precision_;
  double epsilon_;  // the lower end of the range
  Bracket best_{{0, 1}};
  double c_ = 0;               // the abscissa of the integrals
  double log_delta_ = 0;       // an estimate
  double chernoff_upper_ = 1;  // the upper bound before any integral
};

// Brackets ε(δ) for all δ of a range, like DeltaSolver. It starts from the bracket by largest
// losses.
class EpsilonSolver {
 public:
  EpsilonSolver(const std::vector<LossStep>& steps, Bound range, const Bracket& by_max_loss,
                const Precision& precision)
      : steps_(steps),
        range_(range),
        precision_(precision),
        delta_(range.lower),
        log_delta_(std::log(range.lower)),
        best_(by_max_loss) {}

  Bracket solve() {
    if (steps_.size() > many_kinds) merge_kinds(0.6);
    apply_chernoff();
    if (!std::isfinite(chernoff_epsilon_)) return best_;

    const bool failed = !integrate();
    if (is_narrow(best_, precision_)) return best_;
    if (steps_.size() <= many_kinds) merge_kinds(0.8);
    narrow_by(ProofMethod::grid, best_, 0.7,
              [&](Bound& own) { pld_detail::grid_epsilon(steps_, own, range_, precision_); });
    if (failed && best_.upper - best_.lower > 2 * precision_.atoms * best_.upper)
      integrate_smoothed();
    return best_;
  }

 private:
  void merge_kinds(double share) {
    meet_merged_kinds(best_, steps_, share, [&](const std::vector<LossStep>& kinds) {
      return composed_epsilon(kinds, range_, precision_);
    });
  }

  // Sets the abscissa c and the ε of Chernoff's bound there, and applies it.
  void apply_chernoff() {
    finishes_within(0.5, [&] {
      const double at = bounded_abscissa(steps_, renyi_abscissa(steps_, log_delta_));
      chernoff_epsilon_ =
          std::min(max_loss_of(steps_), chernoff_epsilon_at(steps_, at, log_delta_));
      meet(best_, {0, chernoff_epsilon_}, ProofMethod::chernoff);
      c_ = at;
    });
  }

  // Intersects the bracket with the ε at which an integral's profile crosses δ.
  void meet_crossing(const InversionIntegral& integral) {
    if (integral.failed()) return;
    const ProofMethod method =
        integral.smoothed() ? ProofMethod::smoothed : integral_method(steps_);
    if (integral.delta(0).upper <= delta_) return meet(best_, {0, 0}, method);
    // the root need not be sharper than the bracket is wide
    const double fine = integral.smoothed() ? 0.01 * precision_.atoms : 1e-3 * precision_.smooth;
    const Profile profile = [&](double epsilon) { return integral.delta(epsilon); };
    meet(best_, bracket_crossing(profile, c_, chernoff_epsilon_, range_, chernoff_epsilon_, fine),
         method);
  }

  // Returns false if no integral could be made with the work allowed.
  bool integrate() {
    bool failed = true;
    finishes_within(plain_share(steps_), [&] {
      const InversionIntegral plain =
          plain_integral(steps_, c_, chernoff_epsilon_, log_delta_, precision_);
      failed = plain.failed();
      meet_crossing(plain);
    });
    return !failed;
  }

  void integrate_smoothed() {
    finishes_within(0.7, [&] {
      try_smoothed_integrals(steps_, c_, chernoff_epsilon_, log_delta_, precision_,
                             [&](const InversionIntegral& smooth) {
                               meet_crossing(smooth);
                               const double width = (best_.upper - best_.lower) / best_.upper;
                               return width <= 1.8 * precision_.atoms ||
                                      width > 300 * precision_.atoms;  // narrow enough, or hopeless
                             });
    });
  }

  const std::vector<LossStep>& steps_;
  Bound range_;
  const Precision& precision_;
  double delta_;  // the lower end of the range
  double log_delta_;
  Bracket best_;
  double c_ = 0;                        // the abscissa of the integrals
  double chernoff_epsilon_ = infinity;  // Rényi DP's ε, at most the largest loss
};

// Narrows ε(δ) by bisection, with one δ(ε) each. On a coarse lattice δ(ε) falls in steps, so no
// single abscissa suits all ε nearby; here each ε gets its own.
Bracket bisect_epsilon(const std::vector<LossStep>& steps, Bound delta, Bracket epsilon,
                       const Precision& precision) {
  finishes_within(0.9, [&] {
    for (int turn = 0; turn < 50 && !is_narrow(epsilon, precision); ++turn) {
      const double middle = epsilon.lower + (epsilon.upper - epsilon.lower) / 2;
      const Bracket here = DeltaSolver(steps, {middle, middle}, precision).solve();
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

Bracket composed_delta(const std::vector<LossStep>& steps, Bound epsilon,
                       const Precision& precision) {
  Bracket delta = DeltaSolver(steps, epsilon, precision).solve();
  meet(delta, {delta_of_max_loss(steps, epsilon.upper), 1}, ProofMethod::max_loss);
  return delta;
}

Bracket composed_epsilon(const std::vector<LossStep>& steps, Bound delta,
                         const Precision& precision) {
  Bracket by_max_loss{{0, max_loss_of(steps)}};
  finishes_within(0.2, [&] { by_max_loss.lower = epsilon_of_max_loss(steps, delta.upper); });
  if (by_max_loss.lower > 0 && is_narrow(by_max_loss, precision)) return by_max_loss;
  const Bracket epsilon = EpsilonSolver(steps, delta, by_max_loss, precision).solve();
  if (is_narrow(epsilon, precision) || steps.size() != 1 || !steps.front().loss->lattice())
    return epsilon;
  return bisect_epsilon(steps, delta, epsilon, precision);
}

}  // namespace sotto
