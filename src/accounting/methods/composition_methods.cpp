// The methods that compose (ε, δ)-DP steps: basic, advanced in both forms, KOV, optimal.
#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/events/event_guarantee.hpp"
#include "accounting/methods/methods.hpp"
#include "accounting/api/composition.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/search.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr const char* basic_theorem = "basic composition: ε and δ add";

MethodCost nothing_suffices(double delta, const std::string& reason) {
  return {infinity, std::nullopt, {reason}, Derivation{"", reason, "Dwork2006a", {}, approximate_text(infinity, delta), {}}};
}

// The δ that the plan spends by itself leaves nothing of what was asked for.
MethodCost used_up(double delta, const Real& spent) {
  return nothing_suffices(
      delta, "the steps' own delta comes to " + at_most(spent) + ", which is not certainly below what was asked: ask for a larger delta");
}

// The steps' own δ together: 1 - ∏(1 - δᵢ), at most their sum. Each (εᵢ, δᵢ)-DP step is a post-processing of the pair that reveals all with
// probability δᵢ and is randomized response otherwise [Kairouz2015, Thm 3.2; Murtagh2016]; so with probability ∏(1 - δᵢ) nothing is revealed and
// the losses add up to Σεᵢ at most, however the steps are chosen from the answers so far. Being below the sum by Σδᵢδⱼ, it is what makes
// 2 * approx(1, 1e-6) cost 2 at 2e-6, where the sum alone could lie half a unit in the last place above the δ that was asked.
struct OwnDelta {
  Real failure = 0;
  double shares = 0;  // how many steps need a share of δ instead
};

OwnDelta own_delta_of(const std::vector<Event>& events) {
  OwnDelta own;
  for (const Event& event : events) {
    if (event.needs_share) {
      own.shares += static_cast<double>(event.count);
    } else {
      own.failure = either(own.failure, failures(guarantee_of(event, 0, GaussianLine::exact, nullptr).delta, event.count));
    }
  }
  return own;
}

// `count` times a step's ε, without rounding in between where the step has a pure ε.
Real summed_epsilon(const Event& event, const Real& one) {
  const auto exact = event.leaf == nullptr ? std::nullopt : event.leaf->pure_epsilon(real(event.count));
  return exact ? *exact : real(event.count) * one;
}

MethodCost basic(const std::vector<Event>& events, double delta) {
  const OwnDelta own = own_delta_of(events);
  if (own.failure.upper() > delta) return used_up(delta, own.failure);
  // what is left once the steps' own δ are set aside, a little less so that the sum stays within it
  const double left = own.failure.upper() == 0 ? delta : ((Real(delta) - own.failure) / (1 - own.failure)).lower();
  const double share = own.shares > 0 ? (Real(left) / Real(own.shares)).lower() * (1 - 0x1p-50) : 0;
  Derivation why{"", basic_theorem, "Dwork2006a", {}, "", {}};
  if (own.failure.upper() > 0) why.conditions.push_back("the steps' own δ: 1 - ∏(1 - δᵢ) = " + at_most(own.failure));
  if (own.shares > 0) why.conditions.push_back("each of " + shortest(own.shares) + " steps spends δ = " + at_most(share));
  Real total = 0;
  Real used = 0;
  for (const Event& event : events) {
    const ApproximateDP one = guarantee_of(event, share, GaussianLine::exact, &why.premises.emplace_back());
    total += summed_epsilon(event, one.epsilon);
    if (event.needs_share) used += real(event.count) * one.delta;
  }
  const double epsilon = total.upper();
  if (used.upper() > left) {
    if (std::isinf(epsilon)) return nothing_suffices(delta, "a step's own epsilon is infinite, or beyond the largest double");
    throw OutsideConditions(
        "basic composition cannot split delta here: group privacy multiplies it; cost the whole group, group(k, …) around the plan");
  }
  why.guarantee = approximate_text(epsilon, delta);
  return {epsilon, std::nullopt, {}, std::move(why)};
}

// k equal steps with their (ε, δ) for a share of δ each.
struct Equal {
  std::int64_t k;
  bool needs_share;
  std::function<ApproximateDP(double share, Derivation* why)> one;
};

Equal merged(const std::vector<Event>& events, GaussianLine line) {
  Equal result{0, false, [event = events.front(), line](double share, Derivation* why) { return guarantee_of(event, share, line, why); }};
  for (const Event& event : events) {
    result.k += event.count;
    result.needs_share = result.needs_share || event.needs_share;
  }
  return result;
}

// Whether every step has the same (ε, δ) at the share that each gets.
void require_equal(const std::vector<Event>& events, GaussianLine line, double share) {
  const ApproximateDP first = guarantee_of(events.front(), share, line, nullptr);
  for (const Event& event : events) {
    const ApproximateDP one = guarantee_of(event, share, line, nullptr);
    if (one.epsilon.upper() != first.epsilon.upper() || one.delta.upper() != first.delta.upper()) {
      throw OutsideConditions("this composition theorem is for equal (eps, delta) steps, and the plan's steps differ: use basic, rdp or zcdp",
                              Remedy::method);
    }
  }
}

// What the composition itself may spend, and the steps' ε, for a given share of each step.
struct Split {
  ApproximateDP one;
  Real slack;
  Real aside;  // 1 - (1 - δ₀)^k
};

Split split(const Equal& steps, double delta, double share, bool additive, Derivation* why) {
  const ApproximateDP one = steps.one(share, why);
  const Real aside = failures(one.delta, steps.k);
  if (!(aside.upper() < 1)) return {one, -1, 1};  // certain failure leaves nothing
  const Real slack = additive ? Real(delta) - real(steps.k) * one.delta : (Real(delta) - aside) / (1 - aside);
  return {one, slack, aside};
}

Real composed(Method method, const Equal& steps, const Split& s) {
  const EqualSteps k{steps.k, s.one.epsilon.upper(), s.slack};
  switch (method) {
    case Method::advanced: return advanced_epsilon(k);
    case Method::advanced_simple: return advanced_simple_epsilon(k);
    default: return kov_epsilon(k);
  }
}

struct Text {
  const char* theorem;
  const char* reference;
};

Text text_of(Method method) {
  switch (method) {
    case Method::advanced: return {"advanced composition: ε sqrt(2k log(1/δ')) + kε(e^ε - 1)", "Dwork2010"};
    case Method::advanced_simple: return {"advanced composition, simple form: 2ε sqrt(2k log(1/δ'))", "Dwork2010"};
    case Method::kov: return {"composition, closed form: kε tanh(ε/2) + ε sqrt(2k log(1/δ'))", "Kairouz2015"};
    default: return {"optimal composition of equal (ε, δ)-DP steps", "Kairouz2015"};
  }
}

// The split that the sources do not look for: which part of δ the steps should spend.
std::string best_split_note(Method method, const Equal& steps, double delta) {
  const auto at = [&](double part) {
    try {
      const double share = (Real(delta) * Real(part) / real(steps.k)).lower();
      return composed(method, steps, split(steps, delta, share, true, nullptr)).upper();
    } catch (const OutsideConditions&) {
      return infinity;
    }
  };
  const double part = least_point(0.001, 0.999, at);
  const double epsilon = at(part);
  if (std::isinf(epsilon)) return "";
  return "with the best split of delta (" + rounded(100 * part, 3, Side::upper) + " % for the steps): epsilon <= " + rounded(epsilon, 6, Side::upper);
}

}  // namespace

std::optional<MethodCost> optimal_delta_by(const Plan& plan, double epsilon) {
  const std::vector<Event> all = events_of(plan);
  const Equal steps = merged(all, GaussianLine::exact);
  if (steps.needs_share) return std::nullopt;
  if (all.size() > 1) require_equal(all, GaussianLine::exact, 0);
  Derivation why{"", text_of(Method::optimal).theorem, text_of(Method::optimal).reference, {}, "", {}};
  const ApproximateDP one = steps.one(0, &why.premises.emplace_back());
  const Real aside = failures(one.delta, steps.k).upper();
  const double delta = std::min(1.0, optimal_profile(steps.k, one.epsilon.upper(), aside, Side::upper).delta(epsilon).upper());
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
    total += summed_epsilon(event, guarantee_of(event, 0, GaussianLine::exact, &why.premises.emplace_back()).epsilon);
  }
  Real delta = own.failure;
  if (total.upper() > epsilon.lower) {
    if (total.lower() > epsilon.upper || std::isinf(total.upper())) return std::nullopt;
    // (ε', δ')-DP read at ε: 1 - (1-δ')(1 - (e^ε' - e^ε)/(1 + e^ε')), and the fraction is at most ε' - ε
    const Real excess = Real(total.upper()) - epsilon.lower;
    delta = either(delta, excess);
    why.conditions.push_back("ε' - ε = " + at_most(excess) + " between the readings of the plan's numbers and of ε, charged to δ [Kairouz2015]");
  }
  const double value = std::min(1.0, delta.upper());
  why.guarantee = approximate_text(epsilon.lower, value);
  return MethodCost{value, std::nullopt, {}, std::move(why)};
}

bool optimal_suffices(const Plan& plan, double epsilon, double delta) {
  const std::vector<Event> all = events_of(plan);
  const Equal steps = merged(all, GaussianLine::exact);
  const double share = steps.needs_share ? (Real(delta) / (2 * real(steps.k))).lower() : 0;
  if (steps.needs_share && !(share > 0)) return false;
  if (all.size() > 1) require_equal(all, GaussianLine::exact, share);
  const Split s = split(steps, delta, share, false, nullptr);
  if (std::isinf(s.one.epsilon.upper()) || s.aside.upper() > delta) return false;
  return optimal_profile(steps.k, s.one.epsilon.upper(), s.aside.upper(), Side::upper).delta(epsilon).upper() <= delta;
}

MethodCost composition_epsilon(Method method, const Plan& plan, double delta) {
  const bool sources = method == Method::advanced || method == Method::advanced_simple;
  const GaussianLine line = sources ? GaussianLine::classical : GaussianLine::exact;
  const std::vector<Event> all = events_of(plan);
  if (method == Method::basic) return basic(all, delta);
  const Equal steps = merged(all, line);
  // Steps that need a share get half of δ between them, as the sources do; the other half pays the composition.
  const double share = steps.needs_share ? (Real(delta) / (2 * real(steps.k))).lower() : 0;
  if (steps.needs_share && !(share > 0)) return nothing_suffices(delta, "no ε suffices at δ = 0");
  if (all.size() > 1) require_equal(all, line, share);
  const auto [theorem, reference] = text_of(method);
  Derivation why{"", theorem, reference, {}, "", {}};
  const Split s = split(steps, delta, share, sources, &why.premises.emplace_back());
  if (std::isinf(s.one.epsilon.upper())) return nothing_suffices(delta, "a step has no finite ε");
  const std::string k = std::to_string(steps.k) + " steps, each (" + at_most(s.one.epsilon) + ", " + at_most(s.one.delta) + ")-DP";
  why.conditions.push_back(k);
  double epsilon = infinity;
  if (method == Method::optimal) {
    const Real aside = s.aside.upper();
    if (aside.upper() > delta) return used_up(delta, aside);
    epsilon = epsilon_of(optimal_profile(steps.k, s.one.epsilon.upper(), aside, Side::upper), delta, Side::upper);
  } else {
    if (!(s.slack.lower() > 0)) {
      if (delta == 0) throw OutsideConditions(std::string(name(method)) + " composition needs delta > 0: use basic", Remedy::method);
      return used_up(delta, s.aside);
    }
    why.conditions.push_back("δ' = " + at_most(s.slack.lower()) + " for the composition");
    if (method == Method::advanced_simple) why.conditions.emplace_back("kε(e^ε - 1) <= ε sqrt(2k log(1/δ'))");
    epsilon = composed(method, steps, {s.one, s.slack.lower(), s.aside}).upper();
  }
  why.guarantee = approximate_text(epsilon, delta);
  MethodCost cost{epsilon, std::nullopt, {}, std::move(why)};
  if (sources && steps.needs_share && all.size() == 1) {
    if (const std::string note = best_split_note(method, steps, delta); !note.empty()) cost.notes.push_back(note);
  }
  return cost;
}

}  // namespace sotto::accounting_detail
