#include "sotto/accounting/concentrated.hpp"

#include <string>

#include "sotto/accounting/amplification.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/arsinh.hpp"
#include "sotto/privacy/exponential.hpp"
#include "sotto/privacy/gaussian.hpp"
#include "sotto/privacy/group.hpp"
#include "sotto/privacy/laplace.hpp"
#include "sotto/privacy/pure.hpp"
#include "units.hpp"

namespace sotto {
namespace {

using accounting_detail::reading;
using accounting_detail::real;

Derivation* premise(Derivation* why) { return why == nullptr ? nullptr : &why->premises.emplace_back(); }

void tell(Derivation* why, const Plan& plan, std::int64_t k, const std::string& theorem, const std::string& reference,
          std::vector<Condition> conditions, const std::string& guarantee) {
  if (why == nullptr) return;
  why->plan = print(k == 1 ? plan : group(static_cast<double>(k), plan));
  why->theorem = theorem;
  why->reference = reference;
  why->conditions = std::move(conditions);
  why->guarantee = guarantee;
}

[[noreturn]] void refuse(const Plan& plan, const std::string& reason) { throw OutsideConditions(print(plan) + " " + reason); }

std::string rho_text(const Real& rho) { return at_most(rho) + "-zCDP"; }
std::string tcdp_text(const TruncatedConcentratedDP& t) {
  return "(" + at_most(t.rho) + ", " + (t.omega.upper() > 1e300 ? "inf" : at_least(t.omega)) + ")-tCDP";
}

// Every ω that appears is finite; this stands for "at every order".
const Real all_orders = 0x1p1000;

Real zcdp(const Plan& plan, RhoLine line, std::int64_t k, Derivation* why) {
  const auto done = [&](const std::string& theorem, const std::string& reference, const Real& rho, std::vector<Condition> conditions = {}) {
    tell(why, plan, k, theorem, reference, std::move(conditions), rho_text(rho));
    return rho;
  };
  if (const auto* sum = plan.as<Sum>()) {
    Real rho = 0;
    for (const Plan& part : sum->parts) rho += zcdp(part, line, k, premise(why));
    return done("composition: ρ adds", "Bun2016", rho);
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    return done("composition: ρ adds", "Bun2016", reading(repeat->steps) * zcdp(repeat->plan, line, k, premise(why)));
  }
  if (const auto* group = plan.as<Group>()) {
    return done("group privacy, carried into the parts", "Bun2016", zcdp(group->plan, line, accounting_detail::times(k, group->size), premise(why)));
  }
  if (const auto* parallel = plan.as<Parallel>()) {
    Real rho = 0;
    for (const Plan& part : parallel->parts) rho = max(rho, zcdp(part, line, 1, premise(why)));
    return done("parallel composition: a record is in one part; k² for a group", "McSherry2009", square(real(k)) * rho, {"add-remove"});
  }
  if (const auto sampling = accounting_detail::sampling_of(plan)) {
    if (sampling->rate.lower() < 1) {
      refuse(
          plan,
          "has no zCDP guarantee: zCDP is not amplified by sampling (a subsampled Gaussian satisfies no useful rho at large orders); use --by rdp" +
              std::string(sampling->poisson ? "" : " or --by tcdp"));
    }
    return done("sampling everything is no sampling", "Balle2018b", zcdp(sampling->body, line, k, premise(why)));
  }
  if (const auto mu = accounting_detail::gaussian_mu(plan, k))
    return done("Gaussian noise: ρ = μ²/2", "Bun2016", gaussian_rho(mu->upper()), {"μ = " + about(*mu)});
  if (const auto* g = plan.as<DiscreteGaussian>()) {
    const Real mu = real(k) * reading(g->sensitivity) / reading(g->sigma);
    return done("discrete Gaussian noise: the continuous ρ", "Canonne2020", gaussian_rho(mu.upper()), {"integer sensitivity"});
  }
  if (const auto* z = plan.as<Zcdp>()) return done("zCDP as stated", "Bun2016", square(real(k)) * reading(z->rho));
  if (plan.as<Catastrophe>() != nullptr && plan.as<Catastrophe>()->delta.value() > 0) {
    refuse(plan, "has no zCDP guarantee: with probability delta it reveals everything; use --by basic, optimal or pld");
  }
  if (const auto epsilon = accounting_detail::pure_epsilon(plan, k)) {
    const Real e = epsilon->upper();
    const Condition is = "ε = " + about(e);
    if (plan.as<Exponential>() != nullptr) return done("exponential mechanism: ρ = ε²/8", "Cesar2021", exponential_rho(e), {is});
    if (line == RhoLine::classic) return done("ε-DP: ρ = ε²/2", "Bun2016", pure_rho_classic(e), {is});
    if (plan.as<Laplace>() != nullptr)
      return done("Laplace noise: ρ = x + e^-x - 1 with x = Δ1/b", "Harrison2025", laplace_rho(e), {"Δ1/b = " + about(e)});
    return done("ε-DP: ρ = ε tanh(ε/2)", "Harrison2025", pure_rho(e), {is});
  }
  refuse(plan, "is no zCDP guarantee: it bounds only orders up to its own; use --by rdp or --by tcdp");
}

TruncatedConcentratedDP tcdp(const Plan& plan, std::int64_t k, Derivation* why) {
  const auto done = [&](const std::string& theorem, const TruncatedConcentratedDP& value, std::vector<Condition> conditions = {}) {
    tell(why, plan, k, theorem, "Bun2018", std::move(conditions), tcdp_text(value));
    return value;
  };
  if (const auto* sum = plan.as<Sum>()) {
    TruncatedConcentratedDP total{0, all_orders};
    for (const Plan& part : sum->parts) {
      const TruncatedConcentratedDP one = tcdp(part, k, premise(why));
      total = {total.rho + one.rho, min(total.omega, one.omega)};
    }
    return done("composition: ρ adds, ω takes the smallest", total);
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    const TruncatedConcentratedDP one = tcdp(repeat->plan, k, premise(why));
    return done("composition: ρ adds, ω takes the smallest", {reading(repeat->steps) * one.rho, one.omega});
  }
  if (const auto* group = plan.as<Group>())
    return done("group privacy, carried into the parts", tcdp(group->plan, accounting_detail::times(k, group->size), premise(why)));
  const auto grouped = [&](const TruncatedConcentratedDP& one) { return k == 1 ? one : group_of(k, one); };
  if (const auto* parallel = plan.as<Parallel>()) {
    TruncatedConcentratedDP total{0, all_orders};
    for (const Plan& part : parallel->parts) {
      const TruncatedConcentratedDP one = tcdp(part, 1, premise(why));
      total = {max(total.rho, one.rho), min(total.omega, one.omega)};
    }
    return done("parallel composition: a record is in one part", grouped(total), {"add-remove"});
  }
  if (const auto* t = plan.as<Tcdp>()) return done("tCDP as stated", grouped({reading(t->rho), reading(t->omega)}));
  if (const auto* a = plan.as<Arsinh>()) {
    return done("arsinh noise: (16ρ, A/(8Δ))-tCDP", arsinh_tcdp(square(real(k)) * reading(a->rho), reading(a->a), real(k) * reading(a->sensitivity)),
                {"1 < 1/sqrt(ρ) <= A/Δ", "A > 8Δ"});
  }
  if (const auto sampling = accounting_detail::sampling_of(plan); sampling && sampling->rate.lower() < 1) {
    if (sampling->poisson) {
      refuse(plan,
             "has no tCDP guarantee: tCDP is amplified by sampling without replacement under replace-one, not by Poisson sampling; use --by rdp");
    }
    if (accounting_detail::can_fail(sampling->body)) {
      refuse(
          plan,
          "has no tCDP guarantee: the theorem on sampling needs tCDP itself, not what is left when a delta is set aside; use --by rdp or --by basic");
    }
    const TruncatedConcentratedDP one = amplified(sampling->rate, tcdp(sampling->body, 1, premise(why)));
    return done("amplification without replacement: (13 s² ρ, log(1/s)/(4ρ))", grouped(one),
                {"replace-one", "s, ρ in (0, 0.1]", "log(1/s) >= 3ρ(2 + log2(1/ρ))", "ω >= log(1/s)/(2ρ) >= 3"});
  }
  if (plan.as<Rdp>() != nullptr) refuse(plan, "is no tCDP guarantee: its bound is not proportional to the order; use --by rdp");
  return done("zCDP is tCDP at every order", {zcdp(plan, RhoLine::better, k, premise(why)), all_orders});
}

Real squared_mu(const Plan& plan, std::int64_t k, Derivation* why) {
  const auto done = [&](const std::string& theorem, const Real& value, std::vector<Condition> conditions = {}) {
    tell(why, plan, k, theorem, "Dong2022", std::move(conditions), at_most(sqrt(value)) + "-GDP");
    return value;
  };
  if (const auto* sum = plan.as<Sum>()) {
    Real total = 0;
    for (const Plan& part : sum->parts) total += squared_mu(part, k, premise(why));
    return done("composition of Gaussians: sqrt of the sum of μ²", total);
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    return done("composition of Gaussians: sqrt of the sum of μ²", reading(repeat->steps) * squared_mu(repeat->plan, k, premise(why)));
  }
  if (const auto* group = plan.as<Group>())
    return done("group privacy: k μ", squared_mu(group->plan, accounting_detail::times(k, group->size), premise(why)));
  if (const auto* parallel = plan.as<Parallel>()) {
    Real most = 0;
    for (const Plan& part : parallel->parts) most = max(most, squared_mu(part, 1, premise(why)));
    return done("parallel composition: a record is in one part; k μ for a group", square(real(k)) * most, {"add-remove"});
  }
  if (const auto sampling = accounting_detail::sampling_of(plan); sampling && sampling->rate.lower() >= 1) return squared_mu(sampling->body, k, why);
  if (const auto mu = accounting_detail::gaussian_mu(plan, k)) return done("Gaussian noise: μ = Δ2/σ", square(*mu));
  refuse(plan, "is not a Gaussian: only sums of gaussian() and gdp() have an exact mu (a central-limit estimate is no bound); use --by rdp");
}

}  // namespace

ZeroConcentratedDP zcdp_of(const Plan& plan, RhoLine line, Derivation* why) { return {zcdp(plan, line, 1, why)}; }

TruncatedConcentratedDP tcdp_of(const Plan& plan, Derivation* why) { return tcdp(plan, 1, why); }

GaussianDP gdp_of(const Plan& plan, Derivation* why) {
  const Real total = squared_mu(plan, 1, why);
  return {total.upper() == 0 ? Real(0) : sqrt(total)};
}

}  // namespace sotto
