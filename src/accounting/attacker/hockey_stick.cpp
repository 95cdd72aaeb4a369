// Hockey-stick divergences of a plan's pairs: by closed forms, or by composed losses.
#include "accounting/attacker/hockey_stick.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "accounting/api/composition.hpp"
#include "accounting/api/exact.hpp"
#include "accounting/api/pld.hpp"
#include "accounting/events/dominating_part.hpp"
#include "accounting/events/events.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/curve.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {
namespace {

// Clamps a bound to [least, 1].
Bound within(const Bound& bound, double least) {
  return {std::clamp(bound.lower, least, 1.0), std::clamp(bound.upper, least, 1.0)};
}

std::shared_ptr<HockeyStick> stick(HalfProfile forward, HalfProfile backward, double worst,
                                   double floor) {
  return std::make_shared<HockeyStick>(std::move(forward), std::move(backward), worst, floor);
}

// The largest loss of the composition.
double worst_of(const std::vector<LossStep>& steps) {
  double sum = 0;
  for (const LossStep& step : steps) sum += step.count * step.loss->max_loss();
  return sum;
}

// The profile of the composed losses in one direction.
HalfProfile composed(const PlanLoss& loss, const std::vector<LossStep>& steps) {
  PlanLoss one;
  one.removed = steps;
  one.failure = loss.failure;
  Precision precision;
  precision.atoms = 1e-5;  // low, since a curve needs many points
  // The nodes of one inversion integral are shared by many points.
  const auto curve = std::make_shared<ComposedCurve>(steps, 1e-10);
  return memoized([one, precision, curve](double epsilon) -> Bound {
    const WorkLimit limit(0.1 * work_left());
    if (const auto near = curve->by_integral(epsilon)) {
      return {std::max(0.0, either_failure(one.failure, near->lower).lower()),
              std::min(1.0, either_failure(one.failure, near->upper).upper())};
    }
    return composed_delta(one, Bound{epsilon, epsilon}, precision);
  });
}

// The hockey-stick divergences of composed losses.
HockeySticks of_loss(const PlanLoss& loss) {
  const double floor = std::max(0.0, loss.failure.lower());
  const HalfProfile removed = composed(loss, loss.removed);
  if (loss.added.empty()) return {stick(removed, removed, worst_of(loss.removed), floor)};
  const HalfProfile added = composed(loss, loss.added);
  return {stick(removed, added, worst_of(loss.removed), floor),
          stick(added, removed, worst_of(loss.added), floor)};
}

// The hockey-stick divergence of a closed form that is equal in both directions, with one profile
// for each side.
HockeySticks of_profiles(const Profile& above, const Profile& below) {
  const HalfProfile both = memoized([above, below](double epsilon) {
    return Bound{below.delta(epsilon).lower(), above.delta(epsilon).upper()};
  });
  return {stick(both, both, below.worst_loss, std::max(0.0, below.failure.lower()))};
}

// The losses that dominate the plan; empty if they are not known.
std::optional<PlanLoss> pair_above(const Plan& plan) {
  try {
    return loss_of(plan, Side::upper);
  } catch (const OutsideConditions&) {
    return std::nullopt;
  }
}

// δ(ε) of ((1-s)Q + sP, Q): s times the base's δ at log(1 + (e^ε - 1)/s).
Bound sampled_removed(HockeyStick& base, const Real& rate, double epsilon) {
  const Real inner = log1p(expm1(Real(epsilon)) / rate);
  if (!(inner.upper() < 700))
    return {0, inner.lower() < 700
                   ? (rate * base.at(std::max(0.0, inner.lower())).value.upper).upper()
                   : 0};
  return {(rate * base.at(std::max(0.0, inner.upper())).value.lower).lower(),
          (rate * base.at(std::max(0.0, inner.lower())).value.upper).upper()};
}

// δ(ε) of (Q, (1-s)Q + sP), for a base pair that is equal in both directions: with a = e^ε and b =
// 1 - a(1-s), it is b times the base's δ at log(as/b), and 0 if b <= 0.
Bound sampled_added(HockeyStick& base, const Real& rate, double epsilon) {
  const Real left = rate - expm1(Real(epsilon)) * (1 - rate);  // b, in a form without cancellation
  if (left.upper() <= 0) return {0, 0};
  if (left.lower() <= 0) return {0, left.upper()};
  const Real inner = Real(epsilon) + log(rate / left);
  if (!(inner.upper() < 700)) return {0, left.upper()};
  return {(left * base.at(std::max(0.0, inner.upper())).value.lower).lower(),
          (left * base.at(std::max(0.0, inner.lower())).value.upper).upper()};
}

// One use on a Poisson sample of a body whose pair has a closed form and is equal in both
// directions; empty for any other plan.
std::optional<HockeySticks> one_sampled(const Plan& plan) {
  const auto sampling = sampling_of(plan);
  if (!sampling || !sampling->poisson || sampling->rate.upper() >= 1) return std::nullopt;
  if (!exact_profile(sampling->body, Side::upper) || !exact_profile(sampling->body, Side::lower))
    return std::nullopt;
  const PlanHockeySticks body = hockey_sticks_of(sampling->body);
  const auto pair = pair_above(plan);
  if (!body.attained || body.above.size() != 1 || !pair || !pair->attained) return std::nullopt;
  const auto base = body.above.front();
  const Real rate = sampling->rate;
  const HalfProfile removed =
      memoized([base, rate](double epsilon) { return sampled_removed(*base, rate, epsilon); });
  const HalfProfile added =
      memoized([base, rate](double epsilon) { return sampled_added(*base, rate, epsilon); });
  return HockeySticks{stick(removed, added, worst_of(pair->removed), 0),
                      stick(added, removed, worst_of(pair->added), 0)};
}

// Attained pairs: the composition of the events with an attained pair, since leaving out events
// reveals no more; and each of the parts in parallel by itself.
HockeySticks attained_pairs(const Plan& plan) {
  HockeySticks result;
  for (const Event& event : events_of(plan)) {
    if (const auto* parallel = event.parallel()) {
      for (const Plan& part : parallel->parts) {
        const HockeySticks of_part = hockey_sticks_of(part).below;
        result.insert(result.end(), of_part.begin(), of_part.end());
      }
    }
  }
  for (std::size_t part = 0; part < undecided_parts(plan);
       ++part) {  // the record is in one part in all events
    const PlanLoss loss = loss_of(plan, Side::lower, part);
    if (loss.removed.empty() && loss.failure.upper() == 0) continue;
    const HockeySticks composed_parts = of_loss(loss);
    result.insert(result.end(), composed_parts.begin(), composed_parts.end());
  }
  return result;
}

}  // namespace

HalfProfile memoized(HalfProfile profile) {
  auto cache = std::make_shared<std::map<double, Bound>>();
  return [profile = std::move(profile), cache](double epsilon) {
    const auto entry = cache->find(epsilon);
    return entry != cache->end() ? entry->second
                                 : cache->emplace(epsilon, profile(epsilon)).first->second;
  };
}

HockeyStick::HockeyStick(HalfProfile forward, HalfProfile backward, double worst, double floor)
    : forward_(std::move(forward)), backward_(std::move(backward)), worst_(worst), floor_(floor) {}

const HockeyStick::Point& HockeyStick::at(double u) {
  if (const auto entry = points_.find(u); entry != points_.end()) return entry->second;
  const Real a = exp(Real(u));
  if (u >= 0) return points_.emplace(u, Point{a, within(forward_(u), 0)}).first->second;
  const Bound reverse = within(backward_(-u), 0);
  const Real left = -expm1(Real(u));  // 1 - a
  const Bound value{(left + a * reverse.lower).lower(), (left + a * reverse.upper).upper()};
  return points_.emplace(u, Point{a, within(value, std::max(0.0, left.lower()))}).first->second;
}

PlanHockeySticks hockey_sticks_of(const Plan& plan) {
  if (const auto sampled = one_sampled(plan)) return {*sampled, *sampled, true};
  const auto above = pair_above(plan);
  // The two directions of a sampled pair differ. A closed form is the larger one only, so it is not
  // used.
  const bool ordered = above && !above->added.empty();
  const auto closed = ordered ? std::nullopt : exact_profile(plan, Side::upper);
  if (above && above->attained) {
    const auto below = closed ? exact_profile(plan, Side::lower) : std::nullopt;
    const HockeySticks both =
        below ? of_profiles(closed->profile, below->profile) : of_loss(*above);
    return {both, both, true};
  }
  if (closed) return {of_profiles(closed->profile, closed->profile), attained_pairs(plan), false};
  return {above ? of_loss(*above) : HockeySticks{}, attained_pairs(plan), false};
}

}  // namespace sotto::accounting_detail
