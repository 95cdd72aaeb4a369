// The methods that compose (ε, δ)-DP steps: basic, advanced in both forms, KOV, optimal.
#include <algorithm>
#include <cmath>
#include <limits>

#include "approximate.hpp"
#include "methods.hpp"
#include "sotto/accounting/composition.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/search.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

MethodCost nothing_suffices(double delta, const std::string& reason) {
  return {infinity, std::nullopt, {reason}, Derivation{"", reason, "Dwork2006a", {}, approximate_text(infinity, delta), {}}};
}

// The δ that the plan spends by itself leaves nothing of what was asked for.
MethodCost used_up(double delta, const Real& spent) {
  return nothing_suffices(
      delta, "the steps' own delta comes to " + at_most(spent) + ", which is not certainly below what was asked: ask for a larger --delta");
}

MethodCost basic(const std::vector<Event>& events, double delta) {
  double shares = 0;
  Real spent = 0;
  for (const Event& event : events) {
    if (event.needs_share) {
      shares += static_cast<double>(event.count);
    } else {
      spent += real(event.count) * guarantee_of(event, 0, GaussianLine::exact, nullptr).delta;
    }
  }
  const Real left = Real(delta) - spent;
  if (left.lower() < 0) return used_up(delta, spent);
  const double share = shares > 0 ? (left / Real(shares)).lower() * (1 - 0x1p-50) : 0;  // a little less, so that the sum stays within δ
  Derivation why{"", "basic composition: ε and δ add", "Dwork2006a", {}, "", {}};
  if (shares > 0) why.conditions.push_back("each of " + shortest(shares) + " steps spends δ = " + at_most(share));
  Real total = 0;
  Real used = 0;
  for (const Event& event : events) {
    const ApproximateDP one = guarantee_of(event, share, GaussianLine::exact, &why.premises.emplace_back());
    const auto exact = event.leaf == nullptr ? std::nullopt : event.leaf->pure_epsilon(real(event.count));
    total += exact ? *exact : real(event.count) * one.epsilon;
    used += real(event.count) * one.delta;
  }
  const double epsilon = total.upper();
  if (used.upper() > delta) {
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
      throw OutsideConditions("this composition theorem is for equal (eps, delta) steps, and the plan's steps differ: use --by basic, rdp or zcdp");
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
      if (delta == 0) throw OutsideConditions(std::string(name(method)) + " composition needs delta > 0: use --by basic");
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
