#include "accounting/attacker/hockey_stick.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "accounting/events/dominating_part.hpp"
#include "accounting/events/events.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/api/exact.hpp"
#include "accounting/api/pld.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/curve.hpp"

namespace sotto::accounting_detail {
namespace {

Bound within(const Bound& bound, double least) { return {std::clamp(bound.lower, least, 1.0), std::clamp(bound.upper, least, 1.0)}; }

std::shared_ptr<HockeyStick> stick(HalfProfile forward, HalfProfile backward, double worst, double floor) {
  return std::make_shared<HockeyStick>(std::move(forward), std::move(backward), worst, floor);
}

double worst_of(const std::vector<LossStep>& steps) {
  double sum = 0;
  for (const LossStep& step : steps) sum += step.count * step.loss->max_loss();
  return sum;
}

// The composed losses in one order.
HalfProfile composed(const PlanLoss& loss, const std::vector<LossStep>& steps) {
  PlanLoss one;
  one.removed = steps;
  one.failure = loss.failure;
  Precision precision;
  precision.atoms = 1e-5;  // of a point on a curve, of which many are asked
  // the nodes of one inversion integral serve many points
  const auto curve = std::make_shared<ComposedCurve>(steps, 1e-10);
  return remembering([one, precision, curve](double epsilon) -> Bound {
    const WorkLimit limit(0.1 * work_left());
    if (const auto near = curve->by_integral(epsilon)) {
      return {std::max(0.0, either(one.failure, near->lower).lower()), std::min(1.0, either(one.failure, near->upper).upper())};
    }
    return composed_delta(one, Bound{epsilon, epsilon}, precision);
  });
}

Sticks of_loss(const PlanLoss& loss) {
  const double floor = std::max(0.0, loss.failure.lower());
  const HalfProfile removed = composed(loss, loss.removed);
  if (loss.added.empty()) return {stick(removed, removed, worst_of(loss.removed), floor)};
  const HalfProfile added = composed(loss, loss.added);
  return {stick(removed, added, worst_of(loss.removed), floor), stick(added, removed, worst_of(loss.added), floor)};
}

// A closed form that is the same in both orders, above from one profile and below from the other.
Sticks of_profiles(const Profile& above, const Profile& below) {
  const HalfProfile both = remembering([above, below](double epsilon) { return Bound{below.delta(epsilon).lower(), above.delta(epsilon).upper()}; });
  return {stick(both, both, below.worst_loss, std::max(0.0, below.failure.lower()))};
}

std::optional<PlanLoss> pair_above(const Plan& plan) {
  try {
    return loss_of(plan, Side::upper);
  } catch (const OutsideConditions&) {
    return std::nullopt;
  }
}

// s times a pair's δ at log(1 + (e^ε - 1)/s): (1-s)Q + sP against Q.
Bound sampled_removed(HockeyStick& base, const Real& rate, double epsilon) {
  const Real inner = log1p(expm1(Real(epsilon)) / rate);
  if (!(inner.upper() < 700)) return {0, inner.lower() < 700 ? (rate * base.at(std::max(0.0, inner.lower())).value.upper).upper() : 0};
  return {(rate * base.at(std::max(0.0, inner.upper())).value.lower).lower(), (rate * base.at(std::max(0.0, inner.lower())).value.upper).upper()};
}

// Q against (1-s)Q + sP, for a pair that is the same in both orders: with a = e^ε and b = 1 - a(1-s), b times its δ at
// log(as/b), and 0 from b = 0 on.
Bound sampled_added(HockeyStick& base, const Real& rate, double epsilon) {
  const Real left = rate - expm1(Real(epsilon)) * (1 - rate);  // b, without cancelling
  if (left.upper() <= 0) return {0, 0};
  if (left.lower() <= 0) return {0, left.upper()};
  const Real inner = Real(epsilon) + log(rate / left);
  if (!(inner.upper() < 700)) return {0, left.upper()};
  return {(left * base.at(std::max(0.0, inner.upper())).value.lower).lower(), (left * base.at(std::max(0.0, inner.lower())).value.upper).upper()};
}

// One use on a Poisson sample of something whose pair is the same in both orders and has a closed form.
std::optional<Sticks> one_sampled(const Plan& plan) {
  const auto sampling = sampling_of(plan);
  if (!sampling || !sampling->poisson || sampling->rate.upper() >= 1) return std::nullopt;
  if (!exact_profile(sampling->body, Side::upper) || !exact_profile(sampling->body, Side::lower)) return std::nullopt;
  const PlanSticks body = sticks_of(sampling->body);
  const auto pair = pair_above(plan);
  if (!body.attained || body.above.size() != 1 || !pair || !pair->attained) return std::nullopt;
  const auto base = body.above.front();
  const Real rate = sampling->rate;
  const HalfProfile removed = remembering([base, rate](double epsilon) { return sampled_removed(*base, rate, epsilon); });
  const HalfProfile added = remembering([base, rate](double epsilon) { return sampled_added(*base, rate, epsilon); });
  return Sticks{stick(removed, added, worst_of(pair->removed), 0), stick(added, removed, worst_of(pair->added), 0)};
}

// Pairs that are reached: the plan's parts for which one is known, composed, since leaving parts out tells no more; and of
// parts in parallel each by itself.
Sticks reached(const Plan& plan) {
  Sticks result;
  for (const Event& event : events_of(plan)) {
    if (const auto* parallel = event.parallel()) {
      for (const Plan& part : parallel->parts) {
        const Sticks of_part = sticks_of(part).below;
        result.insert(result.end(), of_part.begin(), of_part.end());
      }
    }
  }
  for (std::size_t part = 0; part < undecided_parts(plan); ++part) {  // a record in one part throughout
    const PlanLoss loss = loss_of(plan, Side::lower, part);
    if (loss.removed.empty() && loss.failure.upper() == 0) continue;
    const Sticks composed_parts = of_loss(loss);
    result.insert(result.end(), composed_parts.begin(), composed_parts.end());
  }
  return result;
}

}  // namespace

HalfProfile remembering(HalfProfile profile) {
  auto known = std::make_shared<std::map<double, Bound>>();
  return [profile = std::move(profile), known](double epsilon) {
    const auto found = known->find(epsilon);
    return found != known->end() ? found->second : known->emplace(epsilon, profile(epsilon)).first->second;
  };
}

HockeyStick::HockeyStick(HalfProfile forward, HalfProfile backward, double worst, double floor)
    : forward_(std::move(forward)), backward_(std::move(backward)), worst_(worst), floor_(floor) {}

const HockeyStick::Point& HockeyStick::at(double u) {
  if (const auto found = points_.find(u); found != points_.end()) return found->second;
  const Real a = exp(Real(u));
  if (u >= 0) return points_.emplace(u, Point{a, within(forward_(u), 0)}).first->second;
  const Bound reverse = within(backward_(-u), 0);
  const Real left = -expm1(Real(u));  // 1 - a
  const Bound value{(left + a * reverse.lower).lower(), (left + a * reverse.upper).upper()};
  return points_.emplace(u, Point{a, within(value, std::max(0.0, left.lower()))}).first->second;
}

PlanSticks sticks_of(const Plan& plan) {
  if (const auto sampled = one_sampled(plan)) return {*sampled, *sampled, true};
  const auto above = pair_above(plan);
  // Sampled pairs differ in the two orders, which a closed form for the worse of them does not show.
  const bool ordered = above && !above->added.empty();
  const auto closed = ordered ? std::nullopt : exact_profile(plan, Side::upper);
  if (above && above->attained) {
    const auto below = closed ? exact_profile(plan, Side::lower) : std::nullopt;
    const Sticks both = below ? of_profiles(closed->profile, below->profile) : of_loss(*above);
    return {both, both, true};
  }
  if (closed) return {of_profiles(closed->profile, closed->profile), reached(plan), false};
  return {above ? of_loss(*above) : Sticks{}, reached(plan), false};
}

}  // namespace sotto::accounting_detail
