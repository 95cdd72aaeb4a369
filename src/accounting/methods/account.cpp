// ε, δ and Rényi divergence of a plan: chooses among the methods, and adds the lower bound.
#include "sotto/accounting/account.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "accounting/api/exact.hpp"
#include "accounting/api/relation.hpp"
#include "accounting/api/renyi.hpp"
#include "accounting/leaves/leaf.hpp"
#include "accounting/methods/methods.hpp"
#include "core/api/contradiction.hpp"
#include "core/api/work.hpp"
#include "privacy/api/arsinh.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The methods among which `tight` chooses. No other method is better than the best of these: gdp
// equals pld for Gaussians and is an upper bound on it for other plans.
constexpr std::array tight_candidates{Method::pld,  Method::rdp,     Method::zcdp,
                                      Method::tcdp, Method::optimal, Method::basic};

std::optional<double> order_of(const Question& question) {
  return question.order ? std::optional<double>(question.order->value()) : std::nullopt;
}

void require_filled(const Plan& plan) {
  if (!holes_of(plan).empty())
    throw InvalidValue("the plan has a hole '?': fill it, or let calibrate find it");
}

using Evaluate = std::function<accounting_detail::MethodCost(Method)>;
// Computes the lower bound. Called only if the method has not computed a good one itself.
using Lower = std::function<double()>;

// The lower bound that belongs to a cost. If the method's own lower bound is more than 1 % below
// its upper bound, the lower bound of the plan's parts is computed too.
double lower_of(const accounting_detail::MethodCost& cost, const Lower& below) {
  double lower = cost.lower;
  if (!(cost.lower > 0.99 * cost.value))
    finishes_within(0.5, [&] { lower = std::max(lower, below()); });
  return lower;
}

// The result of methods that reached the work limit before they proved a bound.
accounting_detail::MethodCost unfinished(const std::string& methods) {
  const std::string note =
      "not finished within the default work limit: " + methods + "; allow more time";
  return {infinity,
          std::nullopt,
          {note},
          Derivation{"", "nothing was proved", "Dwork2006a", {}, "inf", {}}};
}

// The least cost of all methods that apply, with its lower bound and its method. Throws
// OutsideConditions, with the reason of each method, if none applies.
accounting_detail::MethodCost best_of(const Evaluate& evaluate, const Lower& below, double& lower,
                                      Method& winner) {
  std::optional<accounting_detail::MethodCost> best;
  std::string refusals;
  std::string left_out;
  bool has_lower = false;
  for (const Method method : tight_candidates) {
    try {
      accounting_detail::MethodCost cost{};
      if (!finishes_within(method == Method::pld ? 0.7 : 0.5, [&] { cost = evaluate(method); })) {
        left_out += (left_out.empty() ? "" : ", ") + std::string(name(method));
        continue;
      }
      if (!has_lower) {
        lower = lower_of(cost, below);
        has_lower = true;
      }
      if (!best || cost.value < best->value ||
          (cost.value == best->value && best->notes.empty() && std::isinf(cost.value))) {
        best = std::move(cost);
        winner = method;
      }
      // The lower bound shows that no other method can be much better.
      if (std::isfinite(best->value) &&
          (best->value - lower <= 1e-5 * best->value || best->value - lower <= 1e-12))
        break;
    } catch (const OutsideConditions& e) {
      refusals += (refusals.empty() ? "" : "\n  ") + std::string(name(method)) + ": " + e.what();
    }
  }
  if (best) return *best;
  if (left_out.empty()) throw OutsideConditions("no method applies to this plan:\n  " + refusals);
  return unfinished(left_out);
}

// Whether a bracket is too wide to count as tight.
bool is_wide(Bound value) {
  return std::isinf(value.upper) ? !std::isinf(value.lower) || value.lower < 0
                                 : value.upper - value.lower > std::max(1e-12, 2e-6 * value.upper);
}

// The first note of a leaf, described for its group; empty if no leaf has one.
std::string first_note(const Plan& plan, std::int64_t units) {
  if (const auto leaf = accounting_detail::leaf_of(plan, units)) return leaf->note();
  return std::visit(
      [&]<class T>(const T& node) -> std::string {
        if constexpr (std::is_same_v<T, Group>) {
          return first_note(node.plan, accounting_detail::times(units, node.size));
        } else if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          for (const Plan& part : node.parts) {
            if (std::string note = first_note(part, units); !note.empty()) return note;
          }
          return "";
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> ||
                             std::is_same_v<T, WithoutReplacement>) {
          return first_note(node.plan, units);
        } else {
          return "";
        }
      },
      plan.node());
}

// The relation of the plan, with the notes that accompany every answer about it.
PlanRelation relation_and_notes(const Plan& plan, const std::optional<Relation>& requested) {
  PlanRelation result = relation_of(plan, requested);
  if (std::string note = first_note(plan, 1); !note.empty())
    result.notes.push_back(std::move(note));
  return result;
}

// Computes an answer by one method, or by the best one. `what` names the quantity for an error.
Answer answer(const std::function<std::string()>& what, const PlanRelation& relation, Method by,
              const Evaluate& evaluate, const Lower& below) {
  Answer result;
  double lower = -infinity;
  accounting_detail::MethodCost cost{};
  if (by == Method::tight) {
    cost = best_of(evaluate, below, lower, result.by);
  } else {
    result.by = by;
    if (!finishes_within(0.8, [&] { cost = evaluate(by); }))
      cost = unfinished(std::string(name(by)));
    lower = lower_of(cost, below);
  }
  // No cost is negative. A lower end that is not proved stays -inf.
  const double least = std::isinf(lower) ? lower : std::max(0.0, lower);
  if (least > cost.value)
    throw Contradiction(what() + " by " + std::string(name(result.by)), least, cost.value);
  result.value = {least, cost.value};
  result.order = cost.order;
  result.relation = relation.relation;
  result.notes = std::move(cost.notes);
  result.notes.insert(result.notes.end(), relation.notes.begin(), relation.notes.end());
  result.derivation = std::move(cost.why);
  return result;
}

// A note for an arsinh leaf: the divergence by the published (ρ, ω)-tCDP theorem, to compare with
// the curve that is computed from the density.
std::string arsinh_theorem_note(const Plan& plan, double order) {
  const auto* noise = plan.as<Arsinh>();
  if (noise == nullptr) return "";
  try {
    const TruncatedConcentratedDP tcdp =
        arsinh_tcdp(accounting_detail::reading(noise->rho), accounting_detail::reading(noise->a),
                    accounting_detail::reading(noise->sensitivity));
    const std::string theorem = "the theorem's (" + rounded_to_nearest(tcdp.rho) + ", " +
                                rounded_to_nearest(tcdp.omega) + ")-tCDP says ";
    if (order <= tcdp.omega.lower())
      return theorem + rounded_to_nearest(Real(order) * tcdp.rho) + " at this order";
    return theorem + "nothing at this order";
  } catch (const OutsideConditions& refusal) {
    return refusal.what();
  }
}

// Whether no finite ε suffices at δ = 0.
bool is_unbounded(const Plan& plan) {
  return accounting_detail::needs_share(plan) || accounting_detail::can_fail(plan);
}

// The attained max divergence of a plan: the sum of the pure ε of its leaves. Empty if the plan
// samples or has parts in parallel, or if a leaf's pure ε is not attained.
std::optional<Real> largest_loss(const Plan& plan, std::int64_t k, const Real& times) {
  if (const auto* repeat = plan.as<Repeat>())
    return largest_loss(repeat->plan, k, times * accounting_detail::reading(repeat->steps));
  if (const auto* group = plan.as<Group>())
    return largest_loss(group->plan, accounting_detail::times(k, group->size), times);
  if (const auto* sum = plan.as<Sum>()) {
    Real total = 0;
    for (const Plan& part : sum->parts) {
      const auto one = largest_loss(part, k, times);
      if (!one) return std::nullopt;
      total += *one;
    }
    return total;
  }
  const auto leaf = accounting_detail::leaf_of(plan, k);
  if (leaf == nullptr || !leaf->reaches_pure_epsilon()) return std::nullopt;
  return leaf->pure_epsilon(times);
}

// A lower bound on ε at δ.
double lower_epsilon(const Plan& plan, double delta) {
  if (delta == 0)
    return is_unbounded(plan) ? infinity
                              : largest_loss(plan, 1, 1)
                                    .value_or(RenyiAccountant(plan, Side::lower).at(infinity))
                                    .lower();
  return epsilon_lower(plan, Real::reading(delta).upper());
}

// ε at δ without the checks of epsilon(). `below` computes the lower bound.
Answer unchecked_epsilon(const Lower& below, const Plan& plan, const PlanRelation& relation,
                         Delta delta, const Question& question) {
  const Real reading = Real::reading(delta.value());
  const Bound readings{std::max(0.0, reading.lower()), reading.upper()};
  const Precision precision = accounting_detail::precision_of(question.precision);
  // At δ = 0 the cost is a sum of pure ε, which basic composition adds with the least rounding.
  const Method by =
      delta.value() == 0 && question.by == Method::tight ? Method::basic : question.by;
  bool by_pld =
      false;  // pld has converted the total of a group; no other method converts it better
  return answer(
      [&] { return "epsilon at delta = " + shortest(delta.value()) + " of " + print(plan); },
      relation, by,
      [&](Method m) {
        accounting_detail::MethodCost cost = accounting_detail::epsilon_by(
            m, plan, readings, order_of(question), precision, !by_pld);
        by_pld = by_pld || (m == Method::pld && by == Method::tight && std::isfinite(cost.value));
        return cost;
      },
      below);
}

// The answer for approx(ε, δ) at exactly its own δ, which is ε as stated. Both δ are one number, so
// no allowance for rounding is needed. Empty for any other plan.
std::optional<Answer> stated_answer(const Plan& plan, double delta, const PlanRelation& relation,
                                    const Question& question) {
  const auto* approx = plan.as<Approx>();
  if (approx == nullptr || approx->delta.value() != delta ||
      (question.by != Method::tight && question.by != Method::basic))
    return std::nullopt;
  const Real stated = Real::reading(approx->eps.value());
  Derivation why{print(plan),
                 "as stated",
                 "Dwork2006a",
                 {},
                 accounting_detail::approximate_text(stated.upper(), delta),
                 {}};
  return Answer{stated.bound(), Method::basic, std::nullopt, relation.relation, {}, std::move(why)};
}

}  // namespace

Allowance allowance_of(const Question& question) {
  constexpr Allowance usual{.work = 9e8, .bytes = 5e7};
  constexpr double precise_factor = 100;  // how much more work a question with a precision may use
  if (question.seconds) {
    if (!(*question.seconds > 0 && std::isfinite(*question.seconds)))
      throw InvalidValue("seconds = " + shortest(*question.seconds) +
                         " is not allowed: it must be a finite number above 0");
    return {.work = infinity, .bytes = 40 * usual.bytes, .seconds = question.seconds};
  }
  if (question.precision) return {.work = precise_factor * usual.work, .bytes = 40 * usual.bytes};
  return usual;
}

Answer epsilon(const Plan& plan, Delta delta, const Question& question) {
  require_filled(plan);
  const PlanRelation relation = relation_and_notes(plan, question.relation);
  if (auto answer = stated_answer(plan, delta.value(), relation, question)) return *answer;
  const WorkLimit limit(allowance_of(question));
  Answer answer = unchecked_epsilon([&] { return lower_epsilon(plan, delta.value()); }, plan,
                                    relation, delta, question);
  // approximate GDP is wide however much work it has
  answer.cut = limit.cut() && is_wide(answer.value) && question.by != Method::gdp;
  return answer;
}

Answer delta(const Plan& plan, Epsilon epsilon, const Question& question) {
  require_filled(plan);
  const PlanRelation relation = relation_and_notes(plan, question.relation);
  const Real reading = Real::reading(epsilon.value());
  const Bound range{std::max(0.0, reading.lower()), reading.upper()};
  const Precision precision = accounting_detail::precision_of(question.precision);
  const WorkLimit limit(allowance_of(question));
  Answer result = answer(
      [&] { return "delta at epsilon = " + shortest(epsilon.value()) + " of " + print(plan); },
      relation, question.by,
      [&](Method m) {
        return accounting_detail::delta_by(m, plan, range, order_of(question), precision);
      },
      [&] { return delta_lower(plan, range.upper); });
  result.value.upper = std::min(1.0, result.value.upper);  // also for unfinished()
  result.cut = limit.cut() && is_wide(result.value);
  return result;
}

namespace {

// The answer for a plan with an atom at infinity, whose divergence is infinite at every order.
void set_infinite_divergence(Answer& result, const Plan& plan) {
  result.value = {infinity, infinity};
  result.notes.emplace_back(
      "with probability delta everything may be revealed, so the divergence is infinite at every "
      "order: approx() and catastrophe() have an (eps, "
      "delta) guarantee alone");
  result.derivation =
      Derivation{print(plan),   "an atom at infinity: every Rényi divergence is infinite",
                 "Mironov2017", {},
                 "inf",         {}};
}

// Bounds the divergence from both sides, each with a part of the work limit.
void set_divergence(Answer& result, const Plan& plan, double order) {
  // Divergences grow with the order, so the upper end of the order's readings gives the upper
  // bound.
  const Real reading = order == 1 || std::isinf(order) ? Real(1) : Real::reading(order);
  const bool finite = !std::isinf(order);
  const RenyiAccountant upper(plan, Side::upper);
  result.value = {-infinity, infinity};
  result.derivation = Derivation{
      print(plan), "nothing was proved within the work that is allowed", "Mironov2017", {}, "inf",
      {}};
  finishes_within(0.4, [&] {
    result.value.upper = upper.at(finite && order > 1 ? reading.upper() : order).upper();
  });
  finishes_within(0.8, [&] { result.derivation = upper.derive(order); });

  const bool unbounded = !finite && is_unbounded(plan);
  if (unbounded) result.value.lower = infinity;
  finishes_within(1, [&] {
    if (unbounded) return;
    const RenyiAccountant lower(plan, Side::lower);
    result.value.lower =
        lower.at(finite && order > 1 ? std::max(1.0, reading.lower()) : order).lower();
  });
  if (std::isfinite(result.value.lower)) result.value.lower = std::max(0.0, result.value.lower);
  result.value = bracket(result.value.lower, result.value.upper,
                         "the divergence of order " + shortest(order) + " of " + print(plan));
}

}  // namespace

Answer divergence(const Plan& plan, Order order, const Question& question) {
  require_filled(plan);
  const PlanRelation relation = relation_and_notes(plan, question.relation);
  Answer result;
  result.by = Method::rdp;
  result.relation = relation.relation;
  result.order = order.value();
  result.notes.insert(result.notes.end(), relation.notes.begin(), relation.notes.end());
  if (accounting_detail::can_fail(plan)) {
    set_infinite_divergence(result, plan);
    return result;
  }
  const WorkLimit limit(allowance_of(question));
  set_divergence(result, plan, order.value());
  if (const std::string note = arsinh_theorem_note(plan, order.value()); !note.empty())
    result.notes.push_back(note);
  result.cut = limit.cut() && is_wide(result.value);
  return result;
}

namespace {

// Sets the waste in ε of every row that has an answer.
void set_waste(std::vector<Comparison>& rows) {
  double best = infinity;
  for (const Comparison& row : rows)
    best = row.answer ? std::min(best, row.answer->value.upper) : best;
  if (!(best > 0) || std::isinf(best)) return;
  for (Comparison& row : rows) {
    if (row.answer) row.waste = Waste{.best = best, .epsilon = row.answer->value.upper / best};
  }
}

}  // namespace

std::vector<Comparison> compare(const Plan& plan, Delta delta, const Question& question) {
  require_filled(plan);
  const PlanRelation relation = relation_and_notes(plan, question.relation);
  const WorkLimit limit(allowance_of(question));
  double lower = -infinity;
  finishes_within(0.2, [&] { lower = lower_epsilon(plan, delta.value()); });
  std::vector<Comparison> rows;
  std::vector<Method> methods(all_methods.begin(), all_methods.end());
  if (accounting_detail::has_published_bound(plan)) methods.push_back(Method::theorem);
  for (const Method method : methods) {
    Comparison row{method, std::nullopt, "", std::nullopt};
    try {
      Question one = question;
      one.by = method;
      const WorkLimit share((method == Method::pld ? 0.8 : 0.3) * work_left());
      row.answer = unchecked_epsilon([lower] { return lower; }, plan, relation, delta, one);
      row.answer->cut = share.cut() && is_wide(row.answer->value) && method != Method::gdp;
    } catch (const OutsideConditions& e) {
      row.refusal = e.what();
    }
    rows.push_back(std::move(row));
  }
  set_waste(rows);
  return rows;
}

}  // namespace sotto
