// The PLD accountant: collects the dominating pairs of a plan's events, and composes both
// directions.
#include "accounting/api/pld.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "accounting/api/composition.hpp"
#include "accounting/events/dominating_pairs.hpp"
#include "accounting/events/dominating_part.hpp"
#include "accounting/leaves/description.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using accounting_detail::DominatingPair;
using accounting_detail::Event;
using accounting_detail::events_of;
using accounting_detail::Proved;
using accounting_detail::real;
using accounting_detail::refuse;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Returns the dominating pair of one use. Throws OutsideConditions if none is known.
Proved<DominatingPair> pair_of(const Event& event, Side side) {
  if (const auto* parallel = event.plan.as<Parallel>()) {
    if (event.units > 1)
      refuse(event.plan,
             "is inside a group: the group conversion is applied to the total of the plan instead");
    return accounting_detail::parallel_pair(event.plan, *parallel);
  }
  if (event.sampling) {
    if (event.units > 1) {
      refuse(event.plan,
             "is inside a group: no pair is proved for several units in one sample; the group "
             "conversion is applied to the total of the plan instead");
    }
    if (event.sampling->rate.lower() >= 1)
      refuse(event.plan, "has a sampling rate of 1: leave the sampling out");
    return accounting_detail::sampled_pair(event.plan, *event.sampling, side);
  }
  auto known = event.leaf->pair();
  if (const auto* refusal = std::get_if<accounting_detail::Refusal>(&known))
    refuse(event.plan, refusal->reason, Remedy::method);
  return std::get<Proved<DominatingPair>>(std::move(known));
}

// The events of a plan in which parts in parallel are replaced by the dominating part if there is
// one, and on the lower side else by the part with index `part`.
std::vector<Event> events_with_dominating_parts(const Plan& plan, Side side, std::size_t part,
                                                Derivation& why) {
  std::vector<Event> events;
  for (const Event& event : events_of(plan)) {
    const auto* parallel = event.parallel();
    auto one = parallel == nullptr ? std::nullopt : accounting_detail::dominating_part(*parallel);
    if (one) {
      why.conditions.push_back(
          "a record is in one part of those in parallel; the one that dominates the others is " +
          print(*one));
    } else if (parallel != nullptr && side == Side::lower) {
      one = parallel->parts[part % parallel->parts.size()];
    }
    if (!one) {
      events.push_back(event);
      continue;
    }
    for (Event& inner : events_with_dominating_parts(*one, side, part, why)) {
      inner.count = accounting_detail::times(inner.count, static_cast<double>(event.count));
      events.push_back(std::move(inner));
    }
  }
  return events;
}

// Collects the losses of a plan's events. Gaussians are merged into one loss, and losses that
// reveal next to nothing into another.
class PlanLossBuilder {
 public:
  PlanLossBuilder(const Plan& plan, Side side, std::size_t part) : plan_(plan), side_(side) {
    result_.derivation = {print(plan),
                          "independent privacy losses: their transforms multiply",
                          "Zhu2022",
                          {},
                          "the whole curve δ(ε)",
                          {}};
    for (const Event& event : events_with_dominating_parts(plan, side, part, result_.derivation)) {
      if (event.leaf == nullptr || !add_merged(event)) add_pair(event);
    }
  }

  PlanLoss build() {
    add_negligible_loss();
    add_gaussian_loss();
    if (two_sided_) {
      result_.added = std::move(added_);
      result_.derivation.conditions.emplace_back("the worse of adding and removing a record");
    }
    if (result_.failure.upper() > 0)
      result_.derivation.conditions.push_back(
          "failures come to δ = " + rounded_up(result_.failure) + ", carried apart");
    return std::move(result_);
  }

 private:
  // Adds a leaf that is merged with others: Gaussian noise, or a leaf with a negligible ε. Returns
  // false if the leaf needs a loss of its own.
  bool add_merged(const Event& event) {
    const accounting_detail::Leaf& leaf = *event.leaf;
    if (const auto one = leaf.squared_mu(Side::upper)) {
      squared_mu_ += real(event.count) * *one;
      return true;
    }
    if (const auto one = leaf.squared_mu(side_))
      squared_mu_ +=
          real(event.count) * *one;  // the lower side: Gaussian noise that attains the leaf
    const auto epsilon = leaf.pure_epsilon(1);
    if (epsilon && epsilon->upper() < negligible_loss) {
      result_.failure = either_failure(result_.failure, any_failure(leaf.delta(), event.count));
      negligible_ += real(event.count) * *epsilon;
      return true;
    }
    if (side_ == Side::upper && epsilon && !(epsilon->upper() < infinity))
      refuse(event.with_group(), "has a loss beyond the largest double");
    return false;
  }

  // Adds the dominating pair of an event. The lower side leaves out events without an attained
  // pair.
  void add_pair(const Event& event) {
    std::optional<Proved<DominatingPair>> proved;
    try {
      proved = pair_of(event, side_);
    } catch (const OutsideConditions&) {
      if (side_ == Side::upper) throw;
    }
    if (side_ == Side::lower && (!proved || !proved->value.attained)) {
      result_.attained = false;
      return;
    }
    const auto times = static_cast<double>(event.count);
    const DominatingPair& pair = proved->value;
    result_.attained = result_.attained && pair.attained;
    result_.discretized = result_.discretized || pair.discretized;
    result_.failure = either_failure(result_.failure, any_failure(pair.failure, event.count));
    result_.removed.push_back({pair.removed, times});
    added_.push_back({pair.added == nullptr ? pair.removed : pair.added, times});
    two_sided_ = two_sided_ || pair.added != nullptr;
    if (event.count > 1) proved->conditions.push_back(std::to_string(event.count) + " steps");
    result_.derivation.premises.push_back({print(event.with_group()),
                                           proved->theorem,
                                           proved->reference,
                                           std::move(proved->conditions),
                                           "its privacy loss",
                                           {}});
  }

  void add_both_directions(const PrivacyLossPtr& loss) {
    result_.removed.push_back({loss, 1});
    added_.push_back({loss, 1});
  }

  // On the upper side randomized response with the total ε dominates all negligible losses; the
  // lower side leaves them out.
  void add_negligible_loss() {
    if (side_ == Side::lower && !(squared_mu_.upper() < infinity)) {
      squared_mu_ = 0;
      result_.attained = false;
    }
    if (!(squared_mu_.upper() < infinity)) refuse(plan_, "has losses beyond the largest double");
    if (negligible_.upper() > 0) {
      result_.attained = false;
      if (side_ == Side::upper)
        add_both_directions(accounting_detail::response_loss(max(negligible_, negligible_loss)));
    }
  }

  // A μ below negligible_loss is rounded up on the upper side and left out on the lower side.
  void add_gaussian_loss() {
    const double least_squared_mu = negligible_loss * negligible_loss;
    if (squared_mu_.upper() > 0 && !(squared_mu_.lower() > least_squared_mu)) {
      result_.attained = false;
      squared_mu_ = side_ == Side::upper ? max(squared_mu_, least_squared_mu) : Real(0);
    }
    if (squared_mu_.upper() > 0) {
      add_both_directions(gaussian_loss(squared_mu_));
      result_.derivation.premises.push_back(
          {"",
           "Gaussians merge into one: μ² adds",
           "Dong2022",
           {"μ = " + rounded_to_nearest(sqrt_of_nonnegative(squared_mu_))},
           "its privacy loss",
           {}});
    }
  }

  const Plan& plan_;
  Side side_;
  PlanLoss result_;
  std::vector<LossStep> added_;  // becomes result_.added if the two directions differ
  bool two_sided_ = false;
  Real squared_mu_ = 0;
  Real negligible_ = 0;  // Σε of the leaves with a negligible ε
};

}  // namespace

PlanLoss loss_of(const Plan& plan, Side side, std::size_t part) {
  return PlanLossBuilder(plan, side, part).build();
}

namespace {

// The larger of two brackets, end by end.
Bracket worse(const Bracket& a, const Bracket& b) {
  Bracket worst = a;
  if (b.upper > a.upper) {
    worst.upper = b.upper;
    worst.above = b.above;
  }
  if (b.lower > a.lower) {
    worst.lower = b.lower;
    worst.below = b.below;
  }
  return worst;
}

// The part of the remaining work for a direction. The first of two directions gets most, since the
// second one is mostly below it.
double share_of(const PlanLoss& loss, const std::vector<LossStep>* steps) {
  return steps == &loss.added || loss.added.empty() ? 1 : 0.7;
}

// Limits the precision for discretised losses: further digits would be those of the grid, not of
// the plan.
Precision precision_for(const PlanLoss& loss, Precision precision) {
  if (!loss.discretized) return precision;
  precision.smooth = std::max(precision.smooth, 1e-6);
  precision.atoms = std::max(precision.atoms, 1e-5);
  return precision;
}

// The larger bracket of both directions. `surely_below(steps, least)` says whether a direction is
// certainly below the lower end `least` of the other one; it is then skipped.
template <class SurelyBelow, class Compose>
Bracket worst_direction(const PlanLoss& loss, SurelyBelow surely_below, Compose compose) {
  Bracket worst{{0, 0}};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    if (worst.lower > 0 && surely_below(*steps, worst.lower)) continue;
    const WorkLimit limit(share_of(loss, steps) * work_left());
    worst = worse(worst, compose(*steps));
  }
  return worst;
}

}  // namespace

Bracket composed_delta(const PlanLoss& loss, Bound epsilon, const Precision& precision) {
  Bracket worst = worst_direction(
      loss,
      [&](const std::vector<LossStep>& steps, double least) {
        return surely_below(steps, epsilon.lower, least);
      },
      [&](const std::vector<LossStep>& steps) {
        return composed_delta(steps, epsilon, precision_for(loss, precision));
      });
  worst.lower = std::max(0.0, either_failure(loss.failure, worst.lower).lower());
  worst.upper = std::min(1.0, either_failure(loss.failure, worst.upper).upper());
  return worst;
}

Bracket composed_epsilon(const PlanLoss& loss, Bound delta, const Precision& precision) {
  // The δ that the losses may spend: δ = 1 - (1 - failure)(1 - rest).
  const bool fails = loss.failure.upper() > 0;
  if (loss.failure.lower() > delta.upper) return {{infinity, infinity}};
  const auto rest = [&](double total) {
    return fails ? (Real(total) - loss.failure) / (1 - loss.failure) : Real(total);
  };
  const Bound left{rest(delta.lower).lower(), rest(delta.upper).upper()};
  Bracket worst = worst_direction(
      loss,
      [&](const std::vector<LossStep>& steps, double least) {
        return left.lower > 0 && surely_below(steps, least, left.lower);
      },
      [&](const std::vector<LossStep>& steps) {
        if (left.lower > 0) return composed_epsilon(steps, left, precision_for(loss, precision));
        Bracket one{{0, 0}};
        if (left.upper > 0)
          one = composed_epsilon(steps, Bound{left.upper, left.upper},
                                 precision_for(loss, precision));
        one.upper = infinity;
        return one;
      });
  if (!(left.lower > 0) && fails) worst.upper = infinity;
  return worst;
}

}  // namespace sotto
