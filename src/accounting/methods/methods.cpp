// Dispatches a method to its family, inverts ε at δ to δ at ε, and converts the total of a group.
#include "accounting/methods/methods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/api/concentrated.hpp"
#include "accounting/leaves/leaf.hpp"
#include "core/api/work.hpp"
#include "numerics/api/crossing.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/search.hpp"
#include "privacy/api/group.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Whether the plan consists of Gaussians only, so that it has an exact μ.
bool is_gaussian(const Plan& plan) {
  try {
    (void)gdp_of(plan);
    return true;
  } catch (const OutsideConditions&) {
    return false;
  }
}

// ε without the conversion of a group's total.
MethodCost direct_epsilon(Method method, const Plan& plan, Bound readings,
                          std::optional<double> order, const Precision& precision) {
  const double delta = readings.lower;
  switch (method) {
    case Method::pld: return profile_epsilon(method, plan, readings, precision);
    case Method::gdp:
      return is_gaussian(plan) ? profile_epsilon(method, plan, readings, precision)
                               : approximate_gdp_epsilon(plan, delta);
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
    case Method::theorem: return published_epsilon(plan, delta);
    default: return composition_epsilon(method, plan, delta);
  }
}

// δ at ε for a method that computes only ε at δ: searches the least δ whose ε is small enough.
MethodCost inverted_delta(Method method, const Plan& plan, Bound readings) {
  const double epsilon = readings.lower;
  if (method == Method::basic) {
    if (auto direct = basic_delta_by(plan, readings)) return *direct;
  }
  if (method == Method::optimal) {
    if (auto direct = optimal_delta_by(plan, epsilon)) return *direct;
  }
  const auto epsilon_at = [&](double delta) {
    return method == Method::theorem ? published_epsilon(plan, delta)
                                     : composition_epsilon(method, plan, delta);
  };
  const auto sufficient = [&](double delta) {
    try {
      // for optimal, one evaluation of δ(ε) replaces the many of a search for ε
      return method == Method::optimal ? optimal_suffices(plan, epsilon, delta)
                                       : epsilon_at(delta).value <= epsilon;
    } catch (const OutsideConditions&) {
      return false;
    }
  };
  if (sufficient(0)) return {0, std::nullopt, {}, epsilon_at(0).why};
  constexpr double most = 1 - 0x1p-30;
  if (!sufficient(most)) {
    epsilon_at(most);  // throws the reason if the method does not apply to the plan
    return {1,
            std::nullopt,
            {},
            Derivation{
                "", "no δ below 1 suffices", "Dwork2006a", {}, approximate_text(epsilon, 1), {}}};
  }
  const double delta = first_true(1e-320, most, sufficient);
  return {delta, std::nullopt, {}, epsilon_at(delta).why};
}

// δ without the conversion of a group's total.
MethodCost direct_delta(Method method, const Plan& plan, Bound readings,
                        std::optional<double> order, const Precision& precision) {
  const double epsilon = readings.lower;
  switch (method) {
    case Method::pld: return profile_delta(method, plan, readings, precision);
    case Method::gdp:
      return is_gaussian(plan) ? profile_delta(method, plan, readings, precision)
                               : approximate_gdp_delta(plan, epsilon);
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

// A group around a whole plan with parts that cannot carry it, so that (ε, δ) of one unit is
// converted as a total. Nested groups are merged.
struct WholeGroup {
  std::int64_t k;
  Plan inside;
};

// Whether every leaf has values for a group that are as tight as the conversion of a total.
bool carries_group(const Plan& plan) {
  if (const auto* sum = plan.as<Sum>())
    return std::all_of(sum->parts.begin(), sum->parts.end(), carries_group);
  if (const auto* repeat = plan.as<Repeat>()) return carries_group(repeat->plan);
  if (const auto* group = plan.as<Group>()) return carries_group(group->plan);
  const LeafPtr leaf = leaf_of(plan, 1);
  return leaf != nullptr && leaf->carries_group();
}

// The group whose total can be converted; empty if the plan is no group, or its parts carry the
// group.
std::optional<WholeGroup> whole_group(const Plan& plan) {
  const auto* group = plan.as<Group>();
  if (group == nullptr || group->size.value() == 1 || carries_group(group->plan))
    return std::nullopt;
  WholeGroup whole{count(group->size), group->plan};
  for (const auto* inner = group->plan.as<Group>(); inner != nullptr;
       inner = inner->plan.as<Group>()) {
    whole = {times(whole.k, inner->size), inner->plan};
  }
  return whole;
}

// The derivation of a converted total, with the derivation for one unit as its premise.
Derivation grouped_derivation(const WholeGroup& group, double epsilon, double delta,
                              Derivation one) {
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
MethodCost group_delta(Method method, const WholeGroup& group, double epsilon,
                       std::optional<double> order, const Precision& precision) {
  const double one_epsilon = (Real(epsilon) / real(group.k)).lower();
  MethodCost one = delta_by(method, group.inside, {one_epsilon, one_epsilon}, order, precision);
  const double delta =
      std::min(1.0, group_of(group.k, ApproximateDP{one_epsilon, one.value}).delta.upper());
  return {delta, one.order, {}, grouped_derivation(group, epsilon, delta, std::move(one.why))};
}

// Searches ε of k units together at δ, by group privacy of the total [Vadhan2017]: kε of one unit
// at the largest δ₁ for which δ₁(e^(kε) - 1)/(e^ε - 1) <= δ.
class GroupSearch {
 public:
  GroupSearch(Method method, const WholeGroup& group, double delta, std::optional<double> order,
              const Precision& precision)
      : method_(method), group_(group), delta_(delta), order_(order), precision_(precision) {}

  MethodCost run() {
    if (delta_ > 0) search();
    if (!best_) return total(one_unit(0, precision_), 0);
    finishes_within(1, [&] { try_delta(best_delta_, precision_); });
    return *best_;
  }

 private:
  // Searches with low precision, downwards from δ/k, at which ε would have to be 0.
  void search() {
    Precision rough = precision_;
    rough.smooth = std::max(rough.smooth, 1e-6);
    rough.atoms = std::max(rough.atoms, 1e-5);
    const double most = (Real(delta_) / real(group_.k)).lower();
    if (!(most > 1e-290)) return;
    const CrossingRange range{
        .low = 1e-290, .high = most, .holds_high = false, .start = most, .tolerance = 1e-8};
    finishes_within(1, [&] {
      find_crossing(range, [&](double one_delta) { return try_delta(one_delta, rough); });
    });
  }

  // Computes the total at one δ₁, keeps it if it is the best one within δ, and returns how far its
  // δ exceeds δ, as a logarithm.
  Excess try_delta(double one_delta, const Precision& precision) {
    const MethodCost one = one_unit(one_delta, precision);
    if (!std::isfinite(one.value)) return {infinity};
    const double total_delta = grouped(one, one_delta).delta.upper();
    if (total_delta <= delta_) {
      MethodCost here = total(one, one_delta);
      if (!best_ || here.value < best_->value) {
        best_ = std::move(here);
        best_delta_ = one_delta;
      }
    }
    return {std::log(total_delta / delta_)};
  }

  // ε of one unit at δ₁, with a part of the remaining work.
  [[nodiscard]] MethodCost one_unit(double one_delta, const Precision& precision) const {
    const WorkLimit limit(0.15 * work_left());
    return epsilon_by(method_, group_.inside, {one_delta, one_delta}, order_, precision);
  }
  [[nodiscard]] ApproximateDP grouped(const MethodCost& one, double one_delta) const {
    return group_of(group_.k, ApproximateDP{one.value, one_delta});
  }
  [[nodiscard]] MethodCost total(const MethodCost& one, double one_delta) const {
    const double epsilon =
        std::isfinite(one.value) ? grouped(one, one_delta).epsilon.upper() : infinity;
    return MethodCost{epsilon, one.order, {}, grouped_derivation(group_, epsilon, delta_, one.why)};
  }

  Method method_;
  const WholeGroup& group_;
  double delta_;
  std::optional<double> order_;
  Precision precision_;
  std::optional<MethodCost> best_;
  double best_delta_ = 0;
};

// The lesser of two costs: with the group carried into the parts, and with the total converted.
// Throws the first refusal if neither applies.
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

// Allows ten times the work for every digit beyond the default.
Precision precision_of(std::optional<double> width) {
  if (!width) return {};
  if (!(*width > 0 && *width < 1))
    throw InvalidValue(
        "precision = " + shortest(*width) +
        " is not allowed: it is the relative width of the bracket, above 0 and below 1");
  const Precision usual;
  return {0.1 * *width, 0.5 * *width, usual.work * std::clamp(1e-6 / *width, 1.0, 1000.0)};
}

MethodCost epsilon_by(Method method, const Plan& plan, Bound delta, std::optional<double> order,
                      const Precision& precision, bool total) {
  const auto direct = [&] { return direct_epsilon(method, plan, delta, order, precision); };
  const auto group = whole_group(plan);
  if (!group || !total) return direct();
  return better_of(
      direct, [&] { return GroupSearch(method, *group, delta.lower, order, precision).run(); });
}

MethodCost delta_by(Method method, const Plan& plan, Bound epsilon, std::optional<double> order,
                    const Precision& precision) {
  const auto direct = [&] { return direct_delta(method, plan, epsilon, order, precision); };
  const auto group = whole_group(plan);
  if (!group) return direct();
  return better_of(direct,
                   [&] { return group_delta(method, *group, epsilon.lower, order, precision); });
}

}  // namespace sotto::accounting_detail
