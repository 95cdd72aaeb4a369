#include "sotto/accounting/approximate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "sotto/accounting/amplification.hpp"
#include "sotto/accounting/concentrated.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/best_order.hpp"
#include "sotto/privacy/conversions.hpp"
#include "sotto/privacy/discrete.hpp"
#include "sotto/privacy/gaussian.hpp"
#include "sotto/privacy/group.hpp"
#include "units.hpp"

namespace sotto {
namespace {

using accounting_detail::reading;
using accounting_detail::real;

std::string text(const ApproximateDP& dp) { return "(" + at_most(dp.epsilon) + ", " + at_most(dp.delta) + ")-DP"; }

ApproximateDP tell(Derivation* why, const Plan& plan, std::int64_t k, const std::string& theorem, const std::string& reference,
                   std::vector<Condition> conditions, const ApproximateDP& dp) {
  if (why != nullptr) {
    why->plan = print(k == 1 ? plan : group(static_cast<double>(k), plan));
    why->theorem = theorem;
    why->reference = reference;
    why->conditions = std::move(conditions);
    why->guarantee = text(dp);
  }
  return dp;
}

Derivation* premise(Derivation* why) { return why == nullptr ? nullptr : &why->premises.emplace_back(); }

// The number of steps in a plan that spend a share.
double shares(const Plan& plan) {
  if (const auto* sum = plan.as<Sum>()) {
    double total = 0;
    for (const Plan& part : sum->parts) total += shares(part);
    return total;
  }
  if (const auto* repeat = plan.as<Repeat>()) return repeat->steps.value() * shares(repeat->plan);
  if (const auto* group = plan.as<Group>()) return shares(group->plan);
  return accounting_detail::needs_share(plan) ? 1 : 0;
}

ApproximateDP guarantee(const Plan& plan, std::int64_t k, double share, GaussianLine line, Derivation* why);

// A leaf that is (ε, δ)-DP only once a δ is chosen.
ApproximateDP shared_leaf(const Plan& plan, std::int64_t k, double share, GaussianLine line, Derivation* why) {
  if (!(share > 0)) return {Real::unknown(), 0};  // no ε suffices at δ = 0
  const Condition at = "δ = " + about(share);
  if (const auto mu = accounting_detail::gaussian_mu(plan, k)) {
    if (line == GaussianLine::classical) {
      const Real epsilon = gaussian_classical_epsilon(mu->upper(), share);
      return tell(why, plan, k, "Gaussian noise, classical line: ε = μ sqrt(2 log(1.25/δ))", "Dwork2014", {at, "ε <= 1: " + at_most(epsilon)},
                  {epsilon, share});
    }
    return tell(why, plan, k, "Gaussian noise, exact profile", "Balle2018a", {at},
                {epsilon_of(gaussian_profile(mu->upper()), share, Side::upper), share});
  }
  if (const auto* r = plan.as<Rdp>()) {
    if (k > 1) {
      const RenyiDP grouped = group_of(k, RenyiDP{reading(r->alpha).lower(), reading(r->eps)});
      return tell(why, plan, k, "group privacy of RDP, then RDP to (ε, δ)", "Canonne2020", {at}, {epsilon_from_renyi(grouped, share), share});
    }
    const BestOrder best = best_order(reading(r->alpha).lower(), [&](double a) { return epsilon_from_renyi({a, reading(r->eps)}, share); });
    return tell(why, plan, k, "RDP to (ε, δ)", "Canonne2020", {at, "order " + about(best.order)}, {best.value, share});
  }
  // zcdp, tcdp, arsinh, discrete_gaussian: by their (ρ, ω).
  const TruncatedConcentratedDP tcdp = tcdp_of(k == 1 ? plan : group(static_cast<double>(k), plan), nullptr);
  const BestOrder best = epsilon_from_tcdp(tcdp, share);
  return tell(why, plan, k, "concentrated DP to (ε, δ)", "Canonne2020", {at, "order " + about(best.order)}, {best.value, share});
}

ApproximateDP summed(const std::vector<ApproximateDP>& parts) {
  ApproximateDP total{0, 0};
  for (const ApproximateDP& part : parts) total = {total.epsilon + part.epsilon, total.delta + part.delta};
  return total;
}

ApproximateDP guarantee(const Plan& plan, std::int64_t k, double share, GaussianLine line, Derivation* why) {
  if (const auto* sum = plan.as<Sum>()) {  // inside a sample or a part: basic composition, the share split evenly
    const double each = shares(plan) > 0 ? share / shares(plan) * (1 - 0x1p-50) : 0;
    std::vector<ApproximateDP> parts;
    for (const Plan& part : sum->parts) parts.push_back(guarantee(part, k, each * std::max(1.0, shares(part)), line, premise(why)));
    return tell(why, plan, k, "basic composition: ε and δ add", "Dwork2006a", {}, summed(parts));
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    const Real n = reading(repeat->steps);
    const ApproximateDP one = guarantee(repeat->plan, k, (Real(share) / n).lower(), line, premise(why));
    return tell(why, plan, k, "basic composition: ε and δ add", "Dwork2006a", {}, {n * one.epsilon, n * one.delta});
  }
  if (const auto* inner = plan.as<Group>()) return guarantee(inner->plan, accounting_detail::times(k, inner->size), share, line, why);
  if (const auto* parallel = plan.as<Parallel>()) {
    ApproximateDP most{0, 0};
    for (const Plan& part : parallel->parts) {
      const ApproximateDP one = guarantee(part, 1, share, line, premise(why));
      if (std::isinf(one.epsilon.upper())) return one;
      most = {max(most.epsilon, one.epsilon), max(most.delta, one.delta)};
    }
    return tell(why, plan, k, "parallel composition: a record is in one part", "McSherry2009", {"add-remove"}, k == 1 ? most : group_of(k, most));
  }
  if (const auto sampling = accounting_detail::sampling_of(plan)) {
    const double inner = std::min(0.5, (Real(share) / sampling->rate).lower());
    const ApproximateDP base = guarantee(sampling->body, 1, inner, line, premise(why));
    if (std::isinf(base.epsilon.upper())) return base;
    const ApproximateDP amplified_dp = amplified(sampling->rate, base);
    return tell(
        why, plan, k, "amplification by sampling: (log(1 + s(e^ε - 1)), sδ)", "Balle2018b",
        {sampling->poisson ? "Poisson sampling with add-remove" : "sampling without replacement with replace-one", "rate " + about(sampling->rate)},
        k == 1 ? amplified_dp : group_of(k, amplified_dp));
  }
  if (const auto epsilon = accounting_detail::pure_epsilon(plan, k)) {
    const ApproximateDP own{epsilon->upper(), accounting_detail::own_delta(plan, k)};
    const bool stated = plan.as<Pure>() != nullptr || plan.as<Approx>() != nullptr;
    return tell(why, plan, k, stated ? "as stated" : "the mechanism's own ε", plan.as<Laplace>() != nullptr ? "Dwork2006b" : "Dwork2014", {}, own);
  }
  return shared_leaf(plan, k, share, line, why);
}

// Steps by their text: equal ones merge, whatever their number.
struct Flattened {
  std::vector<Step> steps;
  std::unordered_map<std::string, std::size_t> known;
};

// Repetitions and sums flattened; `times` is how often this part runs.
void flatten(const Plan& plan, std::int64_t times, std::int64_t k, GaussianLine line, Flattened& out) {
  if (const auto* sum = plan.as<Sum>()) {
    for (const Plan& part : sum->parts) flatten(part, times, k, line, out);
    return;
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    flatten(repeat->plan, accounting_detail::times(times, repeat->steps), k, line, out);
    return;
  }
  if (const auto* inner = plan.as<Group>()) {
    flatten(inner->plan, times, accounting_detail::times(k, inner->size), line, out);
    return;
  }
  const Plan whole = k == 1 ? plan : group(static_cast<double>(k), plan);
  spend(1e3);
  const auto [place, is_new] = out.known.try_emplace(print(whole), out.steps.size());
  if (!is_new) {
    Step& step = out.steps[place->second];
    step.count += times;
    if (step.count > (std::int64_t{1} << 53)) throw InvalidValue("the plan repeats its steps more than 2^53 times");
    return;
  }
  out.steps.push_back({whole, times, accounting_detail::needs_share(plan),
                       [plan, k, line](double share, Derivation* why) { return guarantee(plan, k, share, line, why); }});
}

}  // namespace

std::vector<Step> steps_of(const Plan& plan, GaussianLine line) {
  Flattened flat;
  flatten(plan, 1, 1, line, flat);
  return std::move(flat.steps);
}

std::optional<ApproximateDP> own_guarantee(const Plan& plan) {
  if (accounting_detail::needs_share(plan)) return std::nullopt;
  return guarantee(plan, 1, 0, GaussianLine::exact, nullptr);
}

}  // namespace sotto
