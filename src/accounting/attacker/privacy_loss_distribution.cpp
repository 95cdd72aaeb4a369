// The tail of the privacy loss: by secants of the hockey-stick divergence of a pair, or by δ(ε) and
// Rényi DP.
#include "accounting/api/privacy_loss_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/api/renyi.hpp"
#include "accounting/attacker/hockey_stick.hpp"
#include "accounting/leaves/leaf.hpp"
#include "core/api/contradiction.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/best_order.hpp"
#include "privacy/api/conversions.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double grid =
    24;  // the number of ε up to reach() at which δ is computed if no attained pair is known

double clamped(double x) { return std::clamp(x, 0.0, 1.0); }

// The tail P(L > ε) of a pair. With a = e^ε it is h(a) + a Q(L > ε), and Q(L > ε) = -h'(a+). Since
// h is convex, the latter lies between the secants (h(a) - h(b))/(b - a) and (h(c) - h(a))/(a - c)
// for all c < a < b.
Bound tail_of(accounting_detail::HockeyStick& stick, double epsilon, double scale) {
  const accounting_detail::HockeyStick::Point here = stick.at(epsilon);
  const Real least = here.value.lower;
  Bound result{here.value.lower, 1};
  for (const double step : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2}) {
    const double above = epsilon + step * scale;
    const double below = epsilon - step * scale;
    if (!(above > epsilon && below < epsilon) || above > 700) continue;
    const accounting_detail::HockeyStick::Point right = stick.at(above);
    const accounting_detail::HockeyStick::Point left = stick.at(below);
    result.lower = std::max(
        result.lower, (least + here.a * (least - right.value.upper) / (right.a - here.a)).lower());
    result.upper = std::min(
        result.upper, ((here.a * left.value.upper - left.a * least) / (here.a - left.a)).upper());
  }
  result.upper = clamped(result.upper);
  return bracket(clamped(result.lower), result.upper, "the tail of the privacy loss");
}

// An ε at which δ is small: the first one in a useful range.
double reach_of(const Plan& plan, const Question& question) {
  for (const double small : {1e-6, 1e-4, 1e-2, 0.1, 0.5}) {
    const WorkLimit limit(0.5 * work_left());
    const double reach = epsilon(plan, Delta(small), question).value.upper;
    if (reach > 0 && reach <= 600) return reach;
  }
  return 1;
}

}  // namespace

struct PrivacyLossDistribution::Pairs {
  accounting_detail::PlanHockeySticks sticks;
  accounting_detail::HalfProfile best_delta;  ///< δ by the best method
  RenyiAccountant renyi;
  bool can_fail;  ///< no Rényi divergence is finite
};

PrivacyLossDistribution::PrivacyLossDistribution(const Plan& plan, std::optional<Relation> relation,
                                                 std::optional<double> seconds)
    : pool_(std::make_shared<SharedAllowance>(allowance_of({.seconds = seconds}))) {
  const Question question{.relation = relation};
  pool_->use(0.2, [&] {
    const Answer at_zero = sotto::delta(plan, Epsilon(0), question);
    relation_ = at_zero.relation;
    notes_ = at_zero.notes;
  });
  pool_->use(0.3, [&] { reach_ = reach_of(plan, question); });
  pairs_ =
      std::make_shared<Pairs>(Pairs{{},
                                    accounting_detail::memoized([plan, question](double epsilon) {
                                      return sotto::delta(plan, Epsilon(epsilon), question).value;
                                    }),
                                    RenyiAccountant(plan, Side::upper),
                                    accounting_detail::can_fail(plan)});
  pool_->use(0.4, [&] { pairs_->sticks = accounting_detail::hockey_sticks_of(plan); });
}

bool PrivacyLossDistribution::of_pair() const { return pairs_->sticks.attained; }

void PrivacyLossDistribution::note_width(Bound value) const {
  constexpr double narrow = 1e-4;  // relative: the secants give no tighter tail
  *cut_ = *cut_ || (pool_->cut() && std::isfinite(value.lower) &&
                    !(value.upper - value.lower <= narrow * value.upper));
}

Bound PrivacyLossDistribution::delta(Epsilon epsilon) const {
  Bound value{-infinity, 1};
  pool_->use(0.2, [&] { value = pairs_->best_delta(epsilon.value()); });
  note_width(value);
  return value;
}

Bound PrivacyLossDistribution::tail(Epsilon epsilon) const {
  Bound value{-infinity, 1};
  pool_->use(0.5, [&] { value = tail_at(epsilon); });
  note_width(value);
  return value;
}

Bound PrivacyLossDistribution::tail_at(Epsilon epsilon) const {
  const Real reading = Real::reading(epsilon.value());
  const double first = std::max(0.0, reading.lower());
  if (of_pair() && reading.upper() < 690) {
    Bound most{0, 0};
    for (const auto& stick : pairs_->sticks.above) {
      const double scale = std::clamp(2 * stick->at(0).value.upper, 1e-300, 1.0);
      most.upper = std::max(most.upper, tail_of(*stick, first, scale).upper);
      most.lower = std::max(most.lower, tail_of(*stick, reading.upper(), scale).lower);
    }
    return bracket(most.lower, most.upper, "the tail of the privacy loss");
  }

  // For every mechanism and every ε' < ε, δ(ε') >= (1 - e^(ε'-ε)) P(L > ε).
  const double step = reach_ / grid;
  const double last = std::ceil(first / step) - 1;
  double upper = 1;
  for (double k = std::max(0.0, last - grid / 2); k <= last; ++k) {
    if (!(k * step < first)) break;
    const WorkLimit limit(0.3 * work_left());
    upper = std::min(
        upper, (Real(pairs_->best_delta(k * step).upper) / -expm1(Real(k * step) - first)).upper());
  }
  // Chernoff's bound for every order α > 1: P(L > ε) <= E[e^((α-1)L)] e^(-(α-1)ε) = e^((α-1)(D_α -
  // ε)). For ρ-zCDP its least value is e^(-(ε-ρ)²/(4ρ)) [Bun2016].
  if (!pairs_->can_fail) {
    finishes_within(0.5, [&] {
      try {
        const auto at = [&](double order) {
          const double divergence = pairs_->renyi.at(order).upper();
          return std::isinf(divergence) ? Real(1)
                                        : delta_from_renyi_classic({order, divergence}, first);
        };
        upper = std::min(upper, best_order(infinity, at).value.upper());
      } catch (const OutsideConditions&) {
        // No Rényi divergence is known: only δ bounds the tail.
      }
    });
  }
  return {-infinity, clamped(upper)};
}

}  // namespace sotto
