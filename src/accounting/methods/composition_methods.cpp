// The methods that compose (ε, δ)-DP steps: basic, advanced (both forms), KOV and optimal
// composition.
#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/api/composition.hpp"
#include "accounting/events/event_guarantee.hpp"
#include "accounting/methods/methods.hpp"
#include "numerics/api/search.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr const char* basic_theorem = "basic composition: ε and δ add";

// An infinite cost, with the reason as its note.
MethodCost infinite_cost(double delta, const std::string& reason) {
  return {infinity,
          std::nullopt,
          {reason},
          Derivation{"", reason, "Dwork2006a", {}, approximate_text(infinity, delta), {}}};
}

// The cost if the steps' own δ are not certainly below the requested δ.
MethodCost delta_used_up(double delta, const Real& spent) {
  return infinite_cost(
      delta, "the steps' own delta comes to " + rounded_up(spent) +
                 ", which is not certainly below the requested delta: choose a larger one");
}

// The total 1 - ∏(1 - δᵢ) of the steps' own δ. Proof: each (εᵢ, δᵢ)-DP step is a post-processing of
// the pair that reveals everything with probability δᵢ and is randomized response otherwise
// [Kairouz2015, Thm 3.2; Murtagh2016]. So with probability ∏(1 - δᵢ) nothing is revealed and the
// losses add up to at most Σεᵢ, even if the steps are chosen adaptively. The total is below Σδᵢ, so
// that 2 * approx(1, 1e-6) costs 2 at δ = 2e-6 although the rounded sum could exceed that δ by half
// a unit in the last place.
struct OwnDelta {
  Real failure = 0;
  double shares = 0;  // the number of steps that need a share of δ instead
};

OwnDelta own_delta_of(const std::vector<Event>& events) {
  OwnDelta own;
  for (const Event& event : events) {
    if (event.needs_share) {
      own.shares += static_cast<double>(event.count);
    } else {
      own.failure = either_failure(
          own.failure, any_failure(guarantee_of(event, 0, GaussianConversion::exact, nullptr).delta,
                                   event.count));
    }
  }
  return own;
}

// `count` times a step's ε. A pure ε is multiplied by the leaf, which avoids intermediate rounding.
Real summed_epsilon(const Event& event, const Real& one) {
  const auto exact =
      event.leaf == nullptr ? std::nullopt : event.leaf->pure_epsilon(real(event.count));
  return exact ? *exact : real(event.count) * one;
}

// Basic composition [Dwork2006a]. The δ that the steps' own δ leave is split evenly between the
// steps that need a share.
MethodCost basic(const std::vector<Event>& events, double delta) {
  const OwnDelta own = own_delta_of(events);
  if (own.failure.upper() > delta) return delta_used_up(delta, own.failure);
  // The share of each step, a little smaller so that the sum of all shares stays within `left`.
  const double left =
      own.failure.upper() == 0 ? delta : ((Real(delta) - own.failure) / (1 - own.failure)).lower();
  const double share = own.shares > 0 ? (Real(left) / Real(own.shares)).lower() * (1 - 0x1p-50) : 0;
  Derivation why{"", basic_theorem, "Dwork2006a", {}, "", {}};
  if (own.failure.upper() > 0)
    why.conditions.push_back("the steps' own δ: 1 - ∏(1 - δᵢ) = " + rounded_up(own.failure));
  if (own.shares > 0)
    why.conditions.push_back("each of " + shortest(own.shares) +
                             " steps spends δ = " + rounded_up(share));
  Real total = 0;
  Real used = 0;
  for (const Event& event : events) {
    const ApproximateDP one =
        guarantee_of(event, share, GaussianConversion::exact, &why.premises.emplace_back());
    total += summed_epsilon(event, one.epsilon);
    if (event.needs_share) used += real(event.count) * one.delta;
  }
  const double epsilon = total.upper();
  if (used.upper() > left) {
    if (std::isinf(epsilon))
      return infinite_cost(delta, "a step's own epsilon is infinite, or beyond the largest double");
    throw OutsideConditions(
        "basic composition cannot split delta here: group privacy multiplies it; cost the whole "
        "group, group(k, …) around the plan");
  }
  why.guarantee = approximate_text(epsilon, delta);
  return {epsilon, std::nullopt, {}, std::move(why)};
}

// k equal steps, with the (ε, δ) of one step as a function of its share of δ.
struct RepeatedStep {
  std::int64_t k;
  bool needs_share;
  std::function<ApproximateDP(double share, Derivation* why)> one;
};

// All events as repetitions of the first one. require_equal() checks that they are equal.
RepeatedStep merged(const std::vector<Event>& events, GaussianConversion conversion) {
  RepeatedStep result{0, false,
                      [event = events.front(), conversion](double share, Derivation* why) {
                        return guarantee_of(event, share, conversion, why);
                      }};
  for (const Event& event : events) {
    result.k += event.count;
    result.needs_share = result.needs_share || event.needs_share;
  }
  return result;
}

// Throws OutsideConditions unless all steps have the same (ε, δ) at this share.
void require_equal(const std::vector<Event>& events, GaussianConversion conversion, double share) {
  const ApproximateDP first = guarantee_of(events.front(), share, conversion, nullptr);
  for (const Event& event : events) {
    const ApproximateDP one = guarantee_of(event, share, conversion, nullptr);
    if (one.epsilon.upper() != first.epsilon.upper() || one.delta.upper() != first.delta.upper()) {
      throw OutsideConditions(
          "this composition theorem is for equal (eps, delta) steps, and the plan's steps differ: "
          "use basic, rdp or zcdp",
          Remedy::method);
    }
  }
}

// How δ is split between the steps and the composition theorem.
struct Split {
  ApproximateDP one;  // the guarantee of one step
  Real slack;         // δ', which the theorem spends; -1 if the steps leave nothing
  Real aside;         // 1 - (1 - δ₀)^k
};

// Splits δ if each step spends `share`. `additive`: δ_total is kδ₀ + δ' as in [Dwork2010]; else 1 -
// (1 - δ₀)^k (1 - δ') as in [Kairouz2015].
Split split(const RepeatedStep& steps, double delta, double share, bool additive, Derivation* why) {
  const ApproximateDP one = steps.one(share, why);
  const Real aside = any_failure(one.delta, steps.k);
  if (!(aside.upper() < 1)) return {one, -1, 1};  // the steps may fail for certain
  const Real slack =
      additive ? Real(delta) - real(steps.k) * one.delta : (Real(delta) - aside) / (1 - aside);
  return {one, slack, aside};
}

// ε of the composition by a closed form.
Real composed_epsilon(Method method, const RepeatedStep& steps, const Split& s) {
  const EqualSteps k{steps.k, s.one.epsilon.upper(), s.slack};
  switch (method) {
    case Method::advanced: return advanced_epsilon(k);
    case Method::advanced_simple: return advanced_simple_epsilon(k);
    default: return kov_epsilon(k);
  }
}

struct Citation {
  const char* theorem;
  const char* reference;
};

Citation citation_of(Method method) {
  switch (method) {
    case Method::advanced:
      return {"advanced composition: ε sqrt(2k log(1/δ')) + kε(e^ε - 1)", "Dwork2010"};
    case Method::advanced_simple:
      return {"advanced composition, simple form: 2ε sqrt(2k log(1/δ'))", "Dwork2010"};
    case Method::kov:
      return {"composition, closed form: kε tanh(ε/2) + ε sqrt(2k log(1/δ'))", "Kairouz2015"};
    default: return {"optimal composition of equal (ε, δ)-DP steps", "Kairouz2015"};
  }
}

// A note with the best split of δ between the steps and the theorem, which the papers do not
// optimise; empty if no split gives a finite ε.
std::string best_split_note(Method method, const RepeatedStep& steps, double delta) {
  const auto at = [&](double part) {
    try {
      const double share = (Real(delta) * Real(part) / real(steps.k)).lower();
      return composed_epsilon(method, steps, split(steps, delta, share, true, nullptr)).upper();
    } catch (const OutsideConditions&) {
      return infinity;
    }
  };
  const double part = least_point(0.001, 0.999, at);
  const double epsilon = at(part);
  if (std::isinf(epsilon)) return "";
  return "with the best split of delta (" + rounded(100 * part, 3, Side::upper) +
         " % for the steps): epsilon <= " + rounded(epsilon, 6, Side::upper);
}

}  // namespace

std::optional<MethodCost> optimal_delta_by(const Plan& plan, double epsilon) {
  const std::vector<Event> all = events_of(plan);
  const RepeatedStep steps = merged(all, GaussianConversion::exact);
  if (steps.needs_share) return std::nullopt;
  if (all.size() > 1) require_equal(all, GaussianConversion::exact, 0);
  Derivation why{
      "", citation_of(Method::optimal).theorem, citation_of(Method::optimal).reference, {}, "", {}};
  const ApproximateDP one = steps.one(0, &why.premises.emplace_back());
  const Real aside = any_failure(one.delta, steps.k).upper();
  const double delta = std::min(
      1.0,
      optimal_profile(steps.k, one.epsilon.upper(), aside, Side::upper).delta(epsilon).upper());
  why.guarantee = approximate_text(epsilon, delta);
  return MethodCost{delta, std::nullopt, {}, std::move(why)};
}

std::optional<MethodCost> basic_delta_by(const Plan& plan, Bound epsilon) {
  const std::vector<Event> events = events_of(plan);
  const OwnDelta own = own_delta_of(events);
  if (own.shares > 0) return std::nullopt;
  Derivation why{"", basic_theorem, "Dwork2006a", {}, "", {}};
  Real total = 0;
  for (const Event& event : events) {
    total += summed_epsilon(
        event,
        guarantee_of(event, 0, GaussianConversion::exact, &why.premises.emplace_back()).epsilon);
  }
  Real delta = own.failure;
  if (total.upper() > epsilon.lower) {
    if (total.lower() > epsilon.upper || std::isinf(total.upper())) return std::nullopt;
    // (ε', δ')-DP implies (ε, δ)-DP with δ = 1 - (1-δ')(1 - (e^ε' - e^ε)/(1 + e^ε')) [Kairouz2015],
    // and the fraction is at most ε' - ε.
    const Real excess = Real(total.upper()) - epsilon.lower;
    delta = either_failure(delta, excess);
    why.conditions.push_back(
        "ε' - ε = " + rounded_up(excess) +
        " between the readings of the plan's numbers and of ε, charged to δ [Kairouz2015]");
  }
  const double value = std::min(1.0, delta.upper());
  why.guarantee = approximate_text(epsilon.lower, value);
  return MethodCost{value, std::nullopt, {}, std::move(why)};
}

bool optimal_suffices(const Plan& plan, double epsilon, double delta) {
  const std::vector<Event> all = events_of(plan);
  const RepeatedStep steps = merged(all, GaussianConversion::exact);
  const double share = steps.needs_share ? (Real(delta) / (2 * real(steps.k))).lower() : 0;
  if (steps.needs_share && !(share > 0)) return false;
  if (all.size() > 1) require_equal(all, GaussianConversion::exact, share);
  const Split s = split(steps, delta, share, false, nullptr);
  if (std::isinf(s.one.epsilon.upper()) || s.aside.upper() > delta) return false;
  return optimal_profile(steps.k, s.one.epsilon.upper(), s.aside.upper(), Side::upper)
             .delta(epsilon)
             .upper() <= delta;
}

MethodCost composition_epsilon(Method method, const Plan& plan, double delta) {
  const bool is_advanced = method == Method::advanced || method == Method::advanced_simple;
  const GaussianConversion conversion =
      is_advanced ? GaussianConversion::classical : GaussianConversion::exact;
  const std::vector<Event> all = events_of(plan);
  if (method == Method::basic) return basic(all, delta);
  const RepeatedStep steps = merged(all, conversion);
  // Steps that need a share get half of δ together, as in the papers; the theorem spends the other
  // half.
  const double share = steps.needs_share ? (Real(delta) / (2 * real(steps.k))).lower() : 0;
  if (steps.needs_share && !(share > 0)) return infinite_cost(delta, "no ε suffices at δ = 0");
  if (all.size() > 1) require_equal(all, conversion, share);
  const auto [theorem, reference] = citation_of(method);
  Derivation why{"", theorem, reference, {}, "", {}};
  const Split s = split(steps, delta, share, is_advanced, &why.premises.emplace_back());
  if (std::isinf(s.one.epsilon.upper())) return infinite_cost(delta, "a step has no finite ε");
  const std::string k = std::to_string(steps.k) + " steps, each (" + rounded_up(s.one.epsilon) +
                        ", " + rounded_up(s.one.delta) + ")-DP";
  why.conditions.push_back(k);
  double epsilon = infinity;
  if (method == Method::optimal) {
    const Real aside = s.aside.upper();
    if (aside.upper() > delta) return delta_used_up(delta, aside);
    epsilon = epsilon_of(optimal_profile(steps.k, s.one.epsilon.upper(), aside, Side::upper), delta,
                         Side::upper);
  } else {
    if (!(s.slack.lower() > 0)) {
      if (delta == 0)
        throw OutsideConditions(
            std::string(name(method)) + " composition needs delta > 0: use basic", Remedy::method);
      return delta_used_up(delta, s.aside);
    }
    why.conditions.push_back("δ' = " + rounded_up(s.slack.lower()) + " for the composition");
    if (method == Method::advanced_simple)
      why.conditions.emplace_back("kε(e^ε - 1) <= ε sqrt(2k log(1/δ'))");
    epsilon = composed_epsilon(method, steps, {s.one, s.slack.lower(), s.aside}).upper();
  }
  why.guarantee = approximate_text(epsilon, delta);
  MethodCost cost{epsilon, std::nullopt, {}, std::move(why)};
  if (is_advanced && steps.needs_share && all.size() == 1) {
    if (const std::string note = best_split_note(method, steps, delta); !note.empty())
      cost.notes.push_back(note);
  }
  return cost;
}

}  // namespace sotto::accounting_detail
