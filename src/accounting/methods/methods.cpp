#include "accounting/methods/methods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/leaves/leaf.hpp"
#include "accounting/api/concentrated.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/work.hpp"
#include "numerics/api/crossing.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/search.hpp"
#include "privacy/api/group.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether the plan has an exact μ.
bool is_gaussian(const Plan& plan) {
  try {
    (void)gdp_of(plan);
    return true;
  } catch (const OutsideConditions&) {
    return false;
  }
}

MethodCost direct_epsilon(Method method, const Plan& plan, Bound readings, std::optional<double> order, const Precision& precision) {
  const double delta = readings.lower;
  switch (method) {
    case Method::pld: return profile_epsilon(method, plan, readings, precision);
    case Method::gdp: return is_gaussian(plan) ? profile_epsilon(method, plan, readings, precision) : slack_epsilon(plan, delta);
    case Method::rdp:
    case Method::rdp_classic:
    case Method::rdp_simple:
    case Method::rdp_one_order:
    case Method::moments: return renyi_epsilon(method, plan, delta, order);
    case Method::zcdp:
    case Method::zcdp_classic:
    case Method::zcdp_simple:
    case Method::tcdp_classic:
    case Method::tcdp: return concentrated_epsilon(method, plan, delta);
    case Method::moments_closed:
    case Method::moments_closed_epsilon: return moments_closed_epsilon(method, plan, delta);
    case Method::theorem: return theorem_epsilon(plan, delta);
    default: return composition_epsilon(method, plan, delta);
  }
}

// δ at ε for a method that only knows ε at δ: the least δ whose ε is small enough.
MethodCost inverted_delta(Method method, const Plan& plan, Bound readings) {
  const double epsilon = readings.lower;
  if (method == Method::basic) {
    if (auto direct = basic_delta_by(plan, readings)) return *direct;
  }
  if (method == Method::optimal) {
    if (auto direct = optimal_delta_by(plan, epsilon)) return *direct;
  }
  const auto epsilon_at = [&](double delta) {
    return method == Method::theorem ? theorem_epsilon(plan, delta) : composition_epsilon(method, plan, delta);
  };
  const auto sufficient = [&](double delta) {
    try {
      // one sum at ε, where ε itself would take many
      return method == Method::optimal ? optimal_suffices(plan, epsilon, delta) : epsilon_at(delta).value <= epsilon;
    } catch (const OutsideConditions&) {
      return false;
    }
  };
  if (sufficient(0)) return {0, std::nullopt, {}, epsilon_at(0).why};
  constexpr double most = 1 - 0x1p-30;
  if (!sufficient(most)) {
    epsilon_at(most);  // a method that does not apply at all says why
    return {1, std::nullopt, {}, Derivation{"", "no δ below 1 suffices", "Dwork2006a", {}, approximate_text(epsilon, 1), {}}};
  }
  const double delta = first_true(1e-320, most, sufficient);
  return {delta, std::nullopt, {}, epsilon_at(delta).why};
}

MethodCost direct_delta(Method method, const Plan& plan, Bound readings, std::optional<double> order, const Precision& precision) {
  const double epsilon = readings.lower;
  switch (method) {
    case Method::pld: return profile_delta(method, plan, readings, precision);
    case Method::gdp: return is_gaussian(plan) ? profile_delta(method, plan, readings, precision) : slack_delta(plan, epsilon);
    case Method::rdp:
    case Method::rdp_classic:
    case Method::rdp_simple:
    case Method::rdp_one_order:
    case Method::moments: return renyi_delta(method, plan, epsilon, order);
    case Method::zcdp:
    case Method::zcdp_classic:
    case Method::zcdp_simple:
    case Method::tcdp_classic:
    case Method::tcdp: return concentrated_delta(method, plan, epsilon);
    case Method::moments_closed:
    case Method::moments_closed_epsilon: return moments_closed_delta(method, plan, epsilon);
    default: return inverted_delta(method, plan, readings);
  }
}

// The group around a whole plan whose parts cannot all carry it: (ε, δ) of the inside converted as a total. Groups of groups
// are one group.
struct WholeGroup {
  std::int64_t k;
  Plan inside;
};

bool carries_group(const Plan& plan) {
  if (const auto* sum = plan.as<Sum>()) return std::all_of(sum->parts.begin(), sum->parts.end(), carries_group);
  if (const auto* repeat = plan.as<Repeat>()) return carries_group(repeat->plan);
  if (const auto* group = plan.as<Group>()) return carries_group(group->plan);
  const LeafPtr leaf = leaf_of(plan, 1);
  return leaf != nullptr && leaf->carries_group();
}

std::optional<WholeGroup> whole_group(const Plan& plan) {
  const auto* group = plan.as<Group>();
  if (group == nullptr || group->size.value() == 1 || carries_group(group->plan)) return std::nullopt;
  WholeGroup whole{count(group->size), group->plan};
  for (const auto* inner = group->plan.as<Group>(); inner != nullptr; inner = inner->plan.as<Group>()) {
    whole = {times(whole.k, inner->size), inner->plan};
  }
  return whole;
}

// What the total converts to, above the derivation of one unit.
Derivation grouped_why(const WholeGroup& group, double epsilon, double delta, Derivation one) {
  Derivation why{"",
                 "group privacy of the total: (kε, δ(e^(kε) - 1)/(e^ε - 1))",
                 "Vadhan2017",
                 {"a group of " + std::to_string(group.k)},
                 approximate_text(epsilon, delta),
                 {}};
  why.premises.push_back(std::move(one));
  return why;
}

// The δ of k units together at ε, from the δ of one unit at ε/k.
MethodCost group_delta(Method method, const WholeGroup& group, double epsilon, std::optional<double> order, const Precision& precision) {
  const double one_epsilon = (Real(epsilon) / real(group.k)).lower();
  MethodCost one = delta_by(method, group.inside, {one_epsilon, one_epsilon}, order, precision);
  const double delta = std::min(1.0, group_of(group.k, ApproximateDP{one_epsilon, one.value}).delta.upper());
  return {delta, one.order, {}, grouped_why(group, epsilon, delta, std::move(one.why))};
}

// ε of k units together at δ: kε of one unit at the largest δ₁ whose group δ₁(e^(kε) - 1)/(e^ε - 1) stays within δ.
MethodCost group_epsilon(Method method, const WholeGroup& group, double delta, std::optional<double> order, const Precision& precision) {
  // each of the many δ₁ that are tried may take a part of what work is left, and is known to few digits; the best one is asked again
  const auto at = [&](double one_delta, const Precision& wanted) {
    const WorkLimit limit(0.15 * work_left());
    return epsilon_by(method, group.inside, {one_delta, one_delta}, order, wanted);
  };
  Precision rough = precision;
  rough.smooth = std::max(rough.smooth, 1e-6);
  rough.atoms = std::max(rough.atoms, 1e-5);
  const auto grouped = [&](const MethodCost& one, double one_delta) { return group_of(group.k, ApproximateDP{one.value, one_delta}); };
  std::optional<MethodCost> found;
  double found_at = 0;
  const auto answer = [&](const MethodCost& one, double one_delta) {
    const double epsilon = std::isfinite(one.value) ? grouped(one, one_delta).epsilon.upper() : infinity;
    return MethodCost{epsilon, one.order, {}, grouped_why(group, epsilon, delta, one.why)};
  };
  if (delta > 0) {
    // From δ/k (where ε would be 0) down; to a part in 10^9, keeping what was seen to hold.
    const double most = (Real(delta) / real(group.k)).lower();
    const auto excess = [&](double one_delta) -> Excess {
      const MethodCost one = at(one_delta, rough);
      if (!std::isfinite(one.value)) return {infinity};
      const double total = grouped(one, one_delta).delta.upper();
      if (total <= delta) {
        MethodCost here = answer(one, one_delta);
        if (!found || here.value < found->value) {
          found = std::move(here);
          found_at = one_delta;
        }
      }
      return {std::log(total / delta)};
    };
    if (most > 1e-290) {
      const CrossingRange range{.low = 1e-290, .high = most, .holds_high = false, .start = most, .tolerance = 1e-8};
      attempted(1, [&] { crossing(range, excess); });
    }
  }
  if (!found) return answer(at(0, precision), 0);
  attempted(1, [&] {
    const MethodCost fine = at(found_at, precision);
    if (!(grouped(fine, found_at).delta.upper() <= delta)) return;
    MethodCost here = answer(fine, found_at);
    if (here.value < found->value) found = std::move(here);
  });
  return *found;
}

// The better of what the parts carry and what the total converts to; one of them may not apply.
template <class Direct, class Total>
MethodCost better_of(Direct direct, Total total) {
  std::optional<MethodCost> best;
  std::optional<OutsideConditions> refusal;
  const auto attempt = [&](auto compute) {
    try {
      MethodCost cost = compute();
      if (!best || cost.value < best->value) best = std::move(cost);
    } catch (const OutsideConditions& e) {
      if (!refusal) refusal = e;
    }
  };
  attempt(direct);
  attempt(total);
  if (!best) throw OutsideConditions(*refusal);
  return *best;
}

}  // namespace

// A bracket as narrow as asked for, and ten times the work for every digit beyond the usual ones.
Precision precision_of(std::optional<double> asked) {
  if (!asked) return {};
  const double width = *asked;
  if (!(width > 0 && width < 1)) throw InvalidValue("precision must be above 0 and below 1: it is the relative width of the bracket");
  const Precision usual;
  return {0.1 * width, 0.5 * width, usual.work * std::clamp(1e-6 / width, 1.0, 1000.0)};
}

MethodCost epsilon_by(Method method, const Plan& plan, Bound delta, std::optional<double> order, const Precision& precision, bool total) {
  const auto direct = [&] { return direct_epsilon(method, plan, delta, order, precision); };
  const auto group = whole_group(plan);
  if (!group || !total) return direct();
  return better_of(direct, [&] { return group_epsilon(method, *group, delta.lower, order, precision); });
}

MethodCost delta_by(Method method, const Plan& plan, Bound epsilon, std::optional<double> order, const Precision& precision) {
  const auto direct = [&] { return direct_delta(method, plan, epsilon, order, precision); };
  const auto group = whole_group(plan);
  if (!group) return direct();
  return better_of(direct, [&] { return group_delta(method, *group, epsilon.lower, order, precision); });
}

}  // namespace sotto::accounting_detail
