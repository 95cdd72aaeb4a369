// The zCDP, tCDP and Gaussian DP guarantees of a plan, by recursion over its nodes.
#include "accounting/api/concentrated.hpp"

#include <string>

#include "accounting/api/amplification.hpp"
#include "accounting/composition/derivation_step.hpp"
#include "accounting/events/events.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/group.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using accounting_detail::add_premise;
using accounting_detail::all_orders;
using accounting_detail::fill_step;
using accounting_detail::leaf_of;
using accounting_detail::Proved;
using accounting_detail::reading;
using accounting_detail::real;

[[noreturn]] void refuse(const Plan& plan, const std::string& reason) {
  throw OutsideConditions(print(plan) + " " + reason, Remedy::method);
}

std::string rho_text(const Real& rho) { return rounded_up(rho) + "-zCDP"; }
std::string tcdp_text(const TruncatedConcentratedDP& t) {
  return "(" + rounded_up(t.rho) + ", " +
         (t.omega.upper() > 1e300 ? "inf" : rounded_down(t.omega)) + ")-tCDP";
}

// Returns what a leaf has. Throws OutsideConditions with the leaf's refusal.
template <class T>
const Proved<T>& require_proved(const Plan& leaf,
                                const accounting_detail::ProvedOrRefused<T>& known) {
  if (const auto* refusal = std::get_if<accounting_detail::Refusal>(&known))
    refuse(leaf, refusal->reason);
  return std::get<Proved<T>>(known);
}

// ρ of a plan for a group of k.
Real zcdp(const Plan& plan, RhoConversion conversion, std::int64_t k, Derivation* why) {
  const auto proved = [&](const std::string& theorem, const std::string& reference, const Real& rho,
                          std::vector<Condition> conditions = {}) {
    fill_step(why, plan, k, theorem, reference, std::move(conditions), rho_text(rho));
    return rho;
  };
  if (const auto* sum = plan.as<Sum>()) {
    Real rho = 0;
    for (const Plan& part : sum->parts) rho += zcdp(part, conversion, k, add_premise(why));
    return proved("composition: ρ adds", "Bun2016", rho);
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    return proved("composition: ρ adds", "Bun2016",
                  reading(repeat->steps) * zcdp(repeat->plan, conversion, k, add_premise(why)));
  }
  if (const auto* group = plan.as<Group>()) {
    return proved(
        "group privacy, carried into the parts", "Bun2016",
        zcdp(group->plan, conversion, accounting_detail::times(k, group->size), add_premise(why)));
  }
  if (const auto* parallel = plan.as<Parallel>()) {
    Real rho = 0;
    for (const Plan& part : parallel->parts)
      rho = max(rho, zcdp(part, conversion, 1, add_premise(why)));
    return proved("parallel composition: a record is in one part; k² for a group", "McSherry2009",
                  square(real(k)) * rho, {"add-remove"});
  }
  if (const auto sampling = accounting_detail::sampling_of(plan)) {
    if (sampling->rate.lower() < 1) {
      refuse(plan,
             "has no zCDP guarantee: zCDP is not amplified by sampling (a subsampled Gaussian "
             "satisfies no useful rho at large orders); use rdp" +
                 std::string(sampling->poisson ? "" : " or tcdp"));
    }
    return proved("sampling everything is no sampling", "Balle2018b",
                  zcdp(sampling->body, conversion, k, add_premise(why)));
  }
  const auto known = leaf_of(plan, k)->rho(conversion);
  const Proved<Real>& own = require_proved(plan, known);
  return proved(own.theorem, own.reference, own.value, own.conditions);
}

TruncatedConcentratedDP tcdp(const Plan& plan, std::int64_t k, Derivation* why);

// (ρ, ω) of a sample for one unit [Bun2018].
TruncatedConcentratedDP sampled_tcdp(const Plan& plan, const accounting_detail::Sampling& sampling,
                                     Derivation* why) {
  if (sampling.poisson) {
    refuse(plan,
           "has no tCDP guarantee: tCDP is amplified by sampling without replacement under "
           "replace-one, not by Poisson sampling; use rdp");
  }
  if (accounting_detail::can_fail(sampling.body)) {
    refuse(plan,
           "has no tCDP guarantee: the theorem on sampling needs tCDP itself, not what is left "
           "when a delta is set aside; use rdp or basic");
  }
  return amplified(sampling.rate, tcdp(sampling.body, 1, add_premise(why)));
}

// (ρ, ω) of a plan for a group of k.
TruncatedConcentratedDP tcdp(const Plan& plan, std::int64_t k, Derivation* why) {
  const auto proved = [&](const std::string& theorem, const TruncatedConcentratedDP& value,
                          std::vector<Condition> conditions = {}) {
    fill_step(why, plan, k, theorem, "Bun2018", std::move(conditions), tcdp_text(value));
    return value;
  };
  if (const auto* sum = plan.as<Sum>()) {
    TruncatedConcentratedDP total{0, all_orders};
    for (const Plan& part : sum->parts) {
      const TruncatedConcentratedDP one = tcdp(part, k, add_premise(why));
      total = {total.rho + one.rho, min(total.omega, one.omega)};
    }
    return proved("composition: ρ adds, ω takes the smallest", total);
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    const TruncatedConcentratedDP one = tcdp(repeat->plan, k, add_premise(why));
    return proved("composition: ρ adds, ω takes the smallest",
                  {reading(repeat->steps) * one.rho, one.omega});
  }
  if (const auto* group = plan.as<Group>())
    return proved("group privacy, carried into the parts",
                  tcdp(group->plan, accounting_detail::times(k, group->size), add_premise(why)));
  const auto grouped = [&](const TruncatedConcentratedDP& one) {
    return k == 1 ? one : group_of(k, one);
  };
  if (const auto* parallel = plan.as<Parallel>()) {
    TruncatedConcentratedDP total{0, all_orders};
    for (const Plan& part : parallel->parts) {
      const TruncatedConcentratedDP one = tcdp(part, 1, add_premise(why));
      total = {max(total.rho, one.rho), min(total.omega, one.omega)};
    }
    return proved("parallel composition: a record is in one part", grouped(total), {"add-remove"});
  }
  if (const auto leaf = leaf_of(plan, k)) {
    if (const auto known = leaf->tcdp()) {
      const Proved<TruncatedConcentratedDP>& own = require_proved(plan, *known);
      return proved(own.theorem, own.value, own.conditions);
    }
  }
  if (const auto sampling = accounting_detail::sampling_of(plan);
      sampling && sampling->rate.lower() < 1) {
    const TruncatedConcentratedDP one = sampled_tcdp(plan, *sampling, why);
    return proved("amplification without replacement: (13 s² ρ, log(1/s)/(4ρ))", grouped(one),
                  {"replace-one", "s, ρ in (0, 0.1]", "log(1/s) >= 3ρ(2 + log2(1/ρ))",
                   "ω >= log(1/s)/(2ρ) >= 3"});
  }
  return proved("zCDP is tCDP at every order",
                {zcdp(plan, RhoConversion::better, k, add_premise(why)), all_orders});
}

// μ² of a plan of Gaussians for a group of k.
Real squared_mu(const Plan& plan, std::int64_t k, Derivation* why) {
  const auto proved = [&](const std::string& theorem, const Real& value,
                          std::vector<Condition> conditions = {}) {
    fill_step(why, plan, k, theorem, "Dong2022", std::move(conditions),
              rounded_up(sqrt_of_nonnegative(value)) + "-GDP");
    return value;
  };
  if (const auto* sum = plan.as<Sum>()) {
    Real total = 0;
    for (const Plan& part : sum->parts) total += squared_mu(part, k, add_premise(why));
    return proved("composition of Gaussians: sqrt of the sum of μ²", total);
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    return proved("composition of Gaussians: sqrt of the sum of μ²",
                  reading(repeat->steps) * squared_mu(repeat->plan, k, add_premise(why)));
  }
  if (const auto* group = plan.as<Group>())
    return proved(
        "group privacy: k μ",
        squared_mu(group->plan, accounting_detail::times(k, group->size), add_premise(why)));
  if (const auto* parallel = plan.as<Parallel>()) {
    Real most = 0;
    for (const Plan& part : parallel->parts)
      most = max(most, squared_mu(part, 1, add_premise(why)));
    return proved("parallel composition: a record is in one part; k μ for a group",
                  square(real(k)) * most, {"add-remove"});
  }
  if (const auto sampling = accounting_detail::sampling_of(plan);
      sampling && sampling->rate.lower() >= 1)
    return squared_mu(sampling->body, k, why);
  if (const auto leaf = leaf_of(plan, k)) {
    if (const auto squared = leaf->squared_mu(Side::upper))
      return proved("Gaussian noise: μ = Δ2/σ", *squared);
  }
  refuse(plan,
         "is not a Gaussian: only sums of gaussian() and gdp() have an exact mu (a central-limit "
         "estimate is no bound); use rdp");
}

}  // namespace

ZeroConcentratedDP zcdp_of(const Plan& plan, RhoConversion conversion, Derivation* why) {
  return {zcdp(plan, conversion, 1, why)};
}

TruncatedConcentratedDP tcdp_of(const Plan& plan, Derivation* why) { return tcdp(plan, 1, why); }

GaussianDP gdp_of(const Plan& plan, Derivation* why) {
  const Real total = squared_mu(plan, 1, why);
  return {total.upper() == 0 ? Real(0) : sqrt_of_nonnegative(total)};
}

}  // namespace sotto
