// Trade-off functions: by dominating pairs, by the curve of one unit for a group, or by δ(ε) and
// Rényi DP.
#include "sotto/accounting/tradeoff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/api/renyi.hpp"
#include "accounting/attacker/hockey_stick.hpp"
#include "accounting/attacker/neyman_pearson.hpp"
#include "accounting/attacker/renyi_power.hpp"
#include "accounting/leaves/leaf.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/best_order.hpp"
#include "privacy/api/conversions.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int most_values = 40;  // the number of values of δ for one rate, if a pair is known
constexpr int most_answers = 3;  // the number of values of δ by all methods, if no pair is known
constexpr std::int64_t most_units =
    64;  // the largest group to which the curve of one unit is applied repeatedly

constexpr double narrow = 1e-6;  // the relative width from which on a bracket counts as tight

double clamped(double x) { return std::clamp(x, 0.0, 1.0); }

double require_fpr(double fpr) {
  if (fpr >= 0 && fpr <= 1) return fpr;
  throw InvalidValue("fpr = " + shortest(fpr) + " is not allowed: it must be a number in [0, 1]");
}

// 1 - p + p δ. A lower end that is not proved stays -inf.
Bound success_at(const Real& p, const Bound& delta) {
  const double upper = clamped((1 - p + p * delta.upper).upper());
  return {std::isinf(delta.lower) ? -infinity : (1 - p + p * delta.lower).lower(), upper};
}

}  // namespace

// The bounds on the plan's trade-off function: its pairs; or for a group the curve of one unit; or
// δ(ε) by any method and Rényi DP.
struct Tradeoff::Curves {
  explicit Curves(const Plan& plan, const Question& question = {})
      : pairs(accounting_detail::hockey_sticks_of(plan)) {
    if (!pairs.above.empty()) return;
    if (const auto* group = plan.as<Group>();
        group != nullptr && group->size.value() <= static_cast<double>(most_units)) {
      one_unit = std::make_shared<Curves>(group->plan);
      units = accounting_detail::count(group->size);
      return;
    }
    const auto delta_above = accounting_detail::memoized([plan, question](double epsilon) {
      const WorkLimit limit(0.3 * work_left());
      const double above = delta(plan, Epsilon(epsilon), question).value.upper;
      return Bound{above, above};
    });
    any = std::make_shared<accounting_detail::HockeyStick>(delta_above, delta_above, infinity, 0);
    renyi = std::make_shared<RenyiAccountant>(plan, Side::upper);
    renyi_applies = !accounting_detail::contains_catastrophe(plan);
  }

  // An upper bound on the true-positive rate.
  double above(const Real& alpha) {
    double most = 0;
    for (const auto& pair : pairs.above)
      most = std::max(most, accounting_detail::largest_power(*pair, alpha, most_values).upper);
    if (!pairs.above.empty()) return most;
    if (one_unit) {  // group privacy of f-DP: the curve of one unit is applied once for each unit
                     // [Dong2022]
      double rate = clamped(alpha.upper());
      for (std::int64_t unit = 0; unit < units && rate < 1; ++unit) rate = one_unit->above(rate);
      return rate;
    }
    const double by_delta = accounting_detail::largest_power(*any, alpha, most_answers).upper;
    return std::min(by_delta, renyi_above(alpha));
  }

  // A lower bound on the largest true-positive rate.
  double below(const Real& alpha) {
    double most = -infinity;
    for (const auto& pair : pairs.below)
      most = std::max(most, accounting_detail::largest_power(*pair, alpha, most_values).lower);
    return most;
  }

 private:
  double renyi_above(const Real& alpha) {
    if (!renyi_applies) return 1;
    try {
      return accounting_detail::power_by_renyi(*renyi, alpha);
    } catch (const OutsideConditions&) {
      renyi_applies = false;
      return 1;
    }
  }

  accounting_detail::PlanHockeySticks pairs;
  std::shared_ptr<Curves> one_unit;
  std::int64_t units = 1;
  std::shared_ptr<accounting_detail::HockeyStick> any;
  std::shared_ptr<RenyiAccountant> renyi;
  bool renyi_applies = false;
};

Tradeoff::Tradeoff(const Plan& plan, std::optional<Relation> relation,
                   std::optional<double> seconds)
    : plan_(plan),
      requested_relation_(relation),
      pool_(std::make_shared<SharedAllowance>(allowance_of({.seconds = seconds}))) {
  const Question question{.relation = relation};
  pool_->use(0.3, [&] {
    const Answer at_zero = delta(plan, Epsilon(0), question);
    relation_ = at_zero.relation;
    notes_ = at_zero.notes;
    advantage_ = at_zero.value;
    *cut_ = at_zero.cut;
  });
  pool_->use(0.5, [&] { curves_ = std::make_shared<Curves>(plan, question); });
}

Bound Tradeoff::true_positive_rate(double fpr) const {
  if (require_fpr(fpr) == 1) return {1, 1};
  const Real alpha = Real::reading(fpr);
  double upper = clamped((alpha + advantage_.upper).upper());
  double lower = -infinity;
  if (curves_ == nullptr) return {lower, upper};
  pool_->use(0.5, [&] {
    finishes_within(0.6, [&] { upper = std::min(upper, curves_->above(alpha)); });
    lower = curves_->below(alpha);
  });
  *cut_ = *cut_ || (pool_->cut() && !(upper - lower <= narrow * upper));
  return {std::min(upper, lower), upper};
}

Bound Tradeoff::success(double prior) const {
  const Real of_first = Real::reading(require_open_unit(prior, "prior"));
  const Real less = prior <= 0.5 ? of_first : 1 - of_first;
  const Real more = 1 - less;
  if (prior == 0.5) return success_at(0.5, advantage_);
  const Real epsilon = log(more / less);
  const auto at = [&](double one) {
    Bound value{-infinity, 1};
    pool_->use(0.5, [&] {
      const Answer answer =
          delta(plan_, Epsilon(std::max(0.0, one)), {.relation = requested_relation_});
      value = answer.value;
      *cut_ = *cut_ || answer.cut;
    });
    return value;
  };
  return success_at(less, {at(epsilon.upper()).lower, at(epsilon.lower()).upper});
}

RenyiRate renyi_true_positive_rate(const Plan& plan, double fpr, std::optional<Order> order) {
  const RenyiAccountant accountant(plan, Side::upper);
  if (accounting_detail::can_fail(plan))
    return {order ? order->value() : 2, 1};  // every divergence is infinite
  const Real alpha = min(1, Real::reading(require_fpr(fpr)));
  const auto at = [&](double a) {
    const double divergence = accountant.at(a).upper();
    return std::isinf(divergence) ? Real(1)
                                  : true_positive_rate_from_renyi({a, divergence}, alpha.upper());
  };
  const BestOrder best =
      order ? BestOrder{order->value(), at(order->value())} : best_order(infinity, at);
  return {best.order, std::min(1.0, best.value.upper())};
}

double true_positive_rate(double epsilon, Delta delta, double fpr) {
  const Real alpha(Real::reading(require_fpr(fpr)).upper());
  const Real spent(Real::reading(delta.value()).upper());
  if (!(epsilon < 700)) return fpr == 0 ? clamped(spent.upper()) : 1;
  const Real factor = exp(Real(epsilon));
  return clamped(
      std::min((spent + factor * alpha).upper(), (1 - (1 - spent - alpha) / factor).upper()));
}

double advantage(double epsilon, Delta delta) {
  if (!(epsilon < 700)) return 1;
  return clamped(
      (1 - 2 * (1 - Real(Real::reading(delta.value()).upper())) / (1 + exp(Real(epsilon))))
          .upper());
}

}  // namespace sotto
