// (ε, δ)-DP of single events: basic composition inside an event, parallel composition,
// amplification by sampling, and the leaf's own guarantee.
#include "accounting/events/event_guarantee.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "accounting/api/amplification.hpp"
#include "accounting/composition/derivation_step.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/group.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

std::string text(const ApproximateDP& dp) {
  return "(" + rounded_up(dp.epsilon) + ", " + rounded_up(dp.delta) + ")-DP";
}

// Returns dp, and writes the derivation of its theorem.
ApproximateDP proved(Derivation* why, const Plan& plan, std::int64_t k, const std::string& theorem,
                     const std::string& reference, std::vector<Condition> conditions,
                     const ApproximateDP& dp) {
  if (why != nullptr) fill_step(why, plan, k, theorem, reference, std::move(conditions), text(dp));
  return dp;
}

// The number of steps of a plan that need a share of δ.
double shares(const Plan& plan) {
  if (const auto* sum = plan.as<Sum>()) {
    double total = 0;
    for (const Plan& part : sum->parts) total += shares(part);
    return total;
  }
  if (const auto* repeat = plan.as<Repeat>()) return repeat->steps.value() * shares(repeat->plan);
  if (const auto* group = plan.as<Group>()) return shares(group->plan);
  return needs_share(plan) ? 1 : 0;
}

ApproximateDP summed(const std::vector<ApproximateDP>& parts) {
  ApproximateDP total{0, 0};
  for (const ApproximateDP& part : parts)
    total = {total.epsilon + part.epsilon, total.delta + part.delta};
  return total;
}

// The guarantee of a plan for a group of k, where the plan may be the body of a sample or a part in
// parallel.
ApproximateDP guarantee(const Plan& plan, std::int64_t k, double share,
                        GaussianConversion conversion, Derivation* why) {
  if (const auto* sum =
          plan.as<Sum>()) {  // basic composition; the steps that need a share get equal shares
    const double each = shares(plan) > 0 ? share / shares(plan) * (1 - 0x1p-50) : 0;
    std::vector<ApproximateDP> parts;
    for (const Plan& part : sum->parts)
      parts.push_back(
          guarantee(part, k, each * std::max(1.0, shares(part)), conversion, add_premise(why)));
    return proved(why, plan, k, "basic composition: ε and δ add", "Dwork2006a", {}, summed(parts));
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    const Real n = reading(repeat->steps);
    const ApproximateDP one =
        guarantee(repeat->plan, k, (Real(share) / n).lower(), conversion, add_premise(why));
    return proved(why, plan, k, "basic composition: ε and δ add", "Dwork2006a", {},
                  {n * one.epsilon, n * one.delta});
  }
  if (const auto* inner = plan.as<Group>())
    return guarantee(inner->plan, times(k, inner->size), share, conversion, why);
  if (const auto* parallel = plan.as<Parallel>()) {
    ApproximateDP most{0, 0};
    for (const Plan& part : parallel->parts) {
      const ApproximateDP one = guarantee(part, 1, share, conversion, add_premise(why));
      if (std::isinf(one.epsilon.upper())) return one;
      most = {max(most.epsilon, one.epsilon), max(most.delta, one.delta)};
    }
    return proved(why, plan, k, "parallel composition: a record is in one part", "McSherry2009",
                  {"add-remove"}, k == 1 ? most : group_of(k, most));
  }
  if (const auto sampling = sampling_of(plan)) {
    const double inner = std::min(0.5, (Real(share) / sampling->rate).lower());
    const ApproximateDP base = guarantee(sampling->body, 1, inner, conversion, add_premise(why));
    if (std::isinf(base.epsilon.upper())) return base;
    const ApproximateDP amplified_dp = amplified(sampling->rate, base);
    return proved(why, plan, k, "amplification by sampling: (log(1 + s(e^ε - 1)), sδ)",
                  "Balle2018b",
                  {sampling->poisson ? "Poisson sampling with add-remove"
                                     : "sampling without replacement with replace-one",
                   "rate " + rounded_to_nearest(sampling->rate)},
                  k == 1 ? amplified_dp : group_of(k, amplified_dp));
  }
  const LeafPtr leaf = leaf_of(plan, k);
  if (!leaf->pure_epsilon(1) && !(share > 0))
    return {Real::unknown(), 0};  // no ε suffices at δ = 0
  const Proved<ApproximateDP> own = leaf->approximate(share, conversion);
  return proved(why, plan, k, own.theorem, own.reference, own.conditions, own.value);
}

}  // namespace

ApproximateDP guarantee_of(const Event& event, double share, GaussianConversion conversion,
                           Derivation* why) {
  return guarantee(event.plan, event.units, share, conversion, why);
}

std::optional<ApproximateDP> guarantee_without_share(const Plan& plan) {
  if (needs_share(plan)) return std::nullopt;
  return guarantee(plan, 1, 0, GaussianConversion::exact, nullptr);
}

}  // namespace sotto::accounting_detail
