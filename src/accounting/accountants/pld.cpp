#include "accounting/api/pld.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "accounting/events/dominating_pairs.hpp"
#include "accounting/events/dominating_part.hpp"
#include "accounting/leaves/description.hpp"
#include "accounting/api/composition.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
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

// The pair of one use. OutsideConditions where none is known.
Proved<DominatingPair> pair_of(const Event& event, Side side) {
  if (const auto* parallel = event.plan.as<Parallel>()) {
    if (event.units > 1) refuse(event.plan, "stands in a group: the group's conversion is applied to the total");
    return accounting_detail::parallel_pair(event.plan, *parallel);
  }
  if (event.sampling) {
    if (event.units > 1) {
      refuse(event.plan, "stands in a group: no pair is proved for several units in one sample; the group's conversion is applied to the total");
    }
    if (event.sampling->rate.lower() >= 1) refuse(event.plan, "samples everything: leave the sampling out");
    return accounting_detail::sampled_pair(event.plan, *event.sampling, side);
  }
  auto known = event.leaf->pair();
  if (const auto* refusal = std::get_if<accounting_detail::Refusal>(&known)) refuse(event.plan, refusal->reason, Remedy::method);
  return std::get<Proved<DominatingPair>>(std::move(known));
}

// The events of a plan, parts in parallel replaced by the one that dominates the others where there is one; on the lower side by the one named.
std::vector<Event> events_with_dominating_parts(const Plan& plan, Side side, std::size_t part, Derivation& why) {
  std::vector<Event> events;
  for (const Event& event : events_of(plan)) {
    const auto* parallel = event.parallel();
    auto one = parallel == nullptr ? std::nullopt : accounting_detail::dominating_part(*parallel);
    if (one) {
      why.conditions.push_back("a record is in one part of those in parallel; the one that dominates the others is " + print(*one));
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

}  // namespace

PlanLoss loss_of(const Plan& plan, Side side, std::size_t part) {
  PlanLoss result;
  result.derivation = {print(plan), "independent privacy losses: their transforms multiply", "Zhu2022", {}, "the whole curve δ(ε)", {}};
  std::vector<LossStep> added;
  bool two_sided = false;
  Real squared_mu = 0;
  Real negligible = 0;  // the ε of steps that reveal next to nothing, together
  for (const Event& event : events_with_dominating_parts(plan, side, part, result.derivation)) {
    const auto times = static_cast<double>(event.count);
    if (event.leaf != nullptr) {
      const accounting_detail::Leaf& leaf = *event.leaf;
      if (const auto one = leaf.squared_mu(Side::upper)) {
        squared_mu += real(event.count) * *one;
        continue;
      }
      if (const auto one = leaf.squared_mu(side)) squared_mu += real(event.count) * *one;  // what is reached, not all that is allowed
      const auto epsilon = leaf.pure_epsilon(1);
      if (epsilon && epsilon->upper() < negligible_loss) {
        result.failure = either(result.failure, failures(leaf.delta(), event.count));
        negligible += real(event.count) * *epsilon;
        continue;  // nothing else is revealed, or next to nothing
      }
      if (side == Side::upper && epsilon && !(epsilon->upper() < infinity)) refuse(event.with_group(), "has a loss beyond the largest double");
    }
    std::optional<Proved<DominatingPair>> found;
    try {
      found = pair_of(event, side);
    } catch (const OutsideConditions&) {
      if (side == Side::upper) throw;
    }
    if (side == Side::lower && (!found || !found->value.attained)) {
      result.attained = false;
      continue;
    }
    const DominatingPair& pair = found->value;
    result.attained = result.attained && pair.attained;
    result.discretized = result.discretized || pair.discretized;
    result.failure = either(result.failure, failures(pair.failure, event.count));
    result.removed.push_back({pair.removed, times});
    added.push_back({pair.added == nullptr ? pair.removed : pair.added, times});
    two_sided = two_sided || pair.added != nullptr;
    if (event.count > 1) found->conditions.push_back(std::to_string(event.count) + " steps");
    result.derivation.premises.push_back(
        {print(event.with_group()), found->theorem, found->reference, std::move(found->conditions), "its privacy loss", {}});
  }
  if (side == Side::lower && !(squared_mu.upper() < infinity)) {
    squared_mu = 0;
    result.attained = false;
  }
  if (!(squared_mu.upper() < infinity)) refuse(plan, "has losses beyond the largest double");
  if (negligible.upper() > 0) {
    result.attained = false;
    if (side == Side::upper) {
      const PrivacyLossPtr loss = accounting_detail::response_loss(max(negligible, negligible_loss));
      result.removed.push_back({loss, 1});
      added.push_back({loss, 1});
    }
  }
  const double least_squared_mu = negligible_loss * negligible_loss;
  if (squared_mu.upper() > 0 && !(squared_mu.lower() > least_squared_mu)) {
    result.attained = false;
    squared_mu = side == Side::upper ? max(squared_mu, least_squared_mu) : Real(0);
  }
  if (squared_mu.upper() > 0) {
    const PrivacyLossPtr loss = gaussian_loss(squared_mu);
    result.removed.push_back({loss, 1});
    added.push_back({loss, 1});
    result.derivation.premises.push_back(
        {"", "Gaussians merge into one: μ² adds", "Dong2022", {"μ = " + about(sqrt_of_nonnegative(squared_mu))}, "its privacy loss", {}});
  }
  if (two_sided) {
    result.added = std::move(added);
    result.derivation.conditions.emplace_back("the worse of adding and removing a record");
  }
  if (result.failure.upper() > 0) result.derivation.conditions.push_back("failures come to δ = " + at_most(result.failure) + ", carried apart");
  return result;
}

namespace {

// The worse of two directions, end by end.
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

// Of the work that is left the first of two directions gets most: the second is mostly below it.
double share_of(const PlanLoss& loss, const std::vector<LossStep>* steps) { return steps == &loss.added || loss.added.empty() ? 1 : 0.7; }

// Of discretised losses more digits would be of the grid, not of the plan.
Precision precision_for(const PlanLoss& loss, Precision precision) {
  if (!loss.discretized) return precision;
  precision.smooth = std::max(precision.smooth, 1e-6);
  precision.atoms = std::max(precision.atoms, 1e-5);
  return precision;
}

}  // namespace

Bracket composed_delta(const PlanLoss& loss, Bound epsilon, const Precision& precision) {
  Bracket worst{{0, 0}};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    // the second direction is mostly below the first: a quick bound shows it
    if (worst.lower > 0 && surely_below(*steps, epsilon.lower, worst.lower)) continue;
    const WorkLimit limit(share_of(loss, steps) * work_left());
    worst = worse(worst, composed_delta(*steps, epsilon, precision_for(loss, precision)));
  }
  worst.lower = std::max(0.0, either(loss.failure, worst.lower).lower());
  worst.upper = std::min(1.0, either(loss.failure, worst.upper).upper());
  return worst;
}

Bracket composed_epsilon(const PlanLoss& loss, Bound delta, const Precision& precision) {
  // δ = 1 - (1 - failure)(1 - rest)
  const bool fails = loss.failure.upper() > 0;
  if (loss.failure.lower() > delta.upper) return {{infinity, infinity}};
  const auto rest = [&](double total) { return fails ? (Real(total) - loss.failure) / (1 - loss.failure) : Real(total); };
  const Bound left{rest(delta.lower).lower(), rest(delta.upper).upper()};
  Bracket worst{{0, 0}};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    if (worst.lower > 0 && left.lower > 0 && surely_below(*steps, worst.lower, left.lower)) continue;
    const WorkLimit limit(share_of(loss, steps) * work_left());
    Bracket one{{0, 0}};
    if (left.lower > 0) {
      one = composed_epsilon(*steps, left, precision_for(loss, precision));
    } else {
      if (left.upper > 0) one = composed_epsilon(*steps, Bound{left.upper, left.upper}, precision_for(loss, precision));
      one.upper = infinity;
    }
    worst = worse(worst, one);
  }
  if (!(left.lower > 0) && fails) worst.upper = infinity;
  return worst;
}

}  // namespace sotto
