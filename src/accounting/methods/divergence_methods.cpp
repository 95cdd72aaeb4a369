// The methods that convert a privacy profile, a Rényi curve, or a zCDP or tCDP guarantee to (ε,
// δ)-DP.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "accounting/api/composition.hpp"
#include "accounting/api/concentrated.hpp"
#include "accounting/api/exact.hpp"
#include "accounting/api/pld.hpp"
#include "accounting/api/renyi.hpp"
#include "accounting/methods/methods.hpp"
#include "numerics/api/search.hpp"
#include "privacy/api/best_order.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/pure.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The root of a derivation: a conversion to (ε, δ)-DP whose premise is the derivation of the plan.
Derivation converted(const std::string& theorem, const std::string& reference,
                     std::vector<Condition> conditions, double epsilon, double delta,
                     Derivation premise) {
  Derivation why{"", theorem, reference, std::move(conditions), approximate_text(epsilon, delta),
                 {}};
  why.premises.push_back(std::move(premise));
  return why;
}

// The closed-form profile of the plan by pld, or the Gaussian profile by gdp; empty if pld has
// none. Throws OutsideConditions if gdp does not apply.
std::optional<ExactProfile> profile_by(Method method, const Plan& plan) {
  if (method == Method::pld) return exact_profile(plan, Side::upper);
  Derivation why;
  const double mu = gdp_of(plan, &why).mu.upper();
  return ExactProfile{mu == 0 ? pure_profile(0) : gaussian_profile(mu), std::move(why)};
}

// The cost of a value that was read off a closed form at (ε, δ).
MethodCost closed_form(Method method, double value, double epsilon, double delta,
                       Derivation profile) {
  const bool pld = method == Method::pld;
  const char* theorem = pld ? "ε and δ read off the exact profile, a closed form"
                            : "Gaussian DP: the exact Gaussian profile";
  return {
      value,
      std::nullopt,
      {},
      converted(theorem, pld ? "Balle2018b" : "Dong2022", {}, epsilon, delta, std::move(profile))};
}

// The theorem that proves an end of a bracket.
struct Proof {
  const char* theorem;
  const char* reference;
};
Proof proof_of(ProofMethod method, Side side) {
  const bool above = side == Side::upper;
  switch (method) {
    case ProofMethod::max_loss:
      return {above ? "the largest loss of all steps together"
                    : "all steps at their largest loss together",
              "Dwork2006a"};
    case ProofMethod::chernoff:
      return {"Chernoff's bound at the best order, as Rényi DP has it", "Canonne2020"};
    case ProofMethod::saddle_point:
      return {
          "the inversion integral of the moment generating function through its saddle point, with "
          "a bound on every error",
          "Alghamdi2023"};
    case ProofMethod::lattice:
      return {"losses on a lattice: the Fourier sum over one period, through the saddle point",
              "Koskela2020"};
    case ProofMethod::grid:
      return {above ? "losses discretised pessimistically (connect-the-dots), composed by the fast "
                      "Fourier transform with a bound on its error"
                    : "losses discretised optimistically (merged at their means), composed by the "
                      "fast Fourier transform with a bound on its error",
              "Doroshenko2022"};
    case ProofMethod::smoothed:
      return {
          above
              ? "the inversion integral with a small Gaussian step added, which can only cost more"
              : "the inversion integral with a small Gaussian step added, less what that can have "
                "added",
          "Alghamdi2023"};
    case ProofMethod::merged:
      return {
          above
              ? "steps that differ little counted as one kind, at the cost of the most expensive "
                "of them"
              : "steps that differ little counted as one kind, at the cost of the cheapest of them",
          "Zhu2022"};
  }
  return {"", ""};
}

// The cost of a bracket of composed losses at (ε, δ), with the theorem of its lower end as a
// condition.
MethodCost composed_losses(const Bracket& bracket, double epsilon, double delta, PlanLoss& loss) {
  const Proof above = proof_of(bracket.above, Side::upper);
  const Proof below = proof_of(bracket.below, Side::lower);
  std::vector<Condition> conditions;
  if (loss.attained) {
    conditions.push_back(bracket.below == bracket.above && bracket.above != ProofMethod::grid
                             ? "the lower bound by the same"
                             : "the lower bound by: " + std::string(below.theorem) + " [" +
                                   below.reference + "]");
  }
  MethodCost cost{bracket.upper,
                  std::nullopt,
                  {},
                  converted(above.theorem, above.reference, std::move(conditions), epsilon, delta,
                            std::move(loss.derivation))};
  if (loss.attained) cost.lower = bracket.lower;
  return cost;
}

// The δ that remains for the conversion after the failure probability `aside` of approx() parts: δ
// = 1 - (1 - aside)(1 - rest). -1 if a failure may be certain.
double rest_of(double delta, const Real& aside) {
  if (!(aside.upper() < 1)) return -1;
  return ((Real(delta) - aside) / (1 - aside)).lower();
}

// ε or δ from the Rényi divergence of one order.
struct AtOrder {
  double order;
  double value;
  bool joint_range = false;  // by the joint range of two coins [Asoodeh2021], not by a closed form
};

// The optimal conversion [Asoodeh2021] at the best order of the closed form and, if it is better
// there, at orders around it. Returns `closed_form` if that is better.
AtOrder with_optimal_conversion(const RenyiAccountant& accountant, AtOrder closed_form, bool fixed,
                                const std::function<double(const RenyiDP&)>& optimal) {
  const auto at = [&](double order) {
    const double divergence = accountant.at(order).upper();
    return std::isinf(divergence) ? infinity : optimal({order, divergence});
  };
  AtOrder best = closed_form;
  const auto attempt = [&](double order) {
    const double value = at(order);
    if (value < best.value) best = {order, value, true};
  };
  attempt(closed_form.order);
  if (fixed || !best.joint_range) return best;

  // A large gain: the best order of the optimal conversion may lie farther away.
  if (best.value < (1 - 1e-3) * closed_form.value) {
    const double u = std::log(closed_form.order - 1);
    attempt(1 + std::exp(least_point(u - 1, u + 1, [&](double v) { return at(1 + std::exp(v)); })));
  }
  // Move to the minimum of the parabola through three orders, so that the result does not depend on
  // where the search ended.
  for (const double h : {0.02, 0.002}) {
    const double u = std::log(best.order - 1);
    const double left = at(1 + std::exp(u - h)) - best.value;
    const double right = at(1 + std::exp(u + h)) - best.value;
    const double move = h * (left - right) / (2 * (left + right));
    if (std::abs(move) <= 10 * h) attempt(1 + std::exp(u + move));
  }
  return best;
}

const char* const joint_range_theorem =
    "RDP to (ε, δ), the optimal conversion at one order: no two coins reach δ";

Condition aside_text(const Real& aside) {
  return "δ = " + rounded_up(aside) + " set aside for the plan's own failures";
}

}  // namespace

std::string approximate_text(double epsilon, double delta) {
  return "(" + rounded(epsilon, 6, Side::upper) + ", " + rounded(delta, 6, Side::upper) + ")-DP";
}

MethodCost profile_epsilon(Method method, const Plan& plan, Bound delta,
                           const Precision& precision) {
  if (auto exact = profile_by(method, plan)) {
    const double epsilon = epsilon_of(exact->profile, delta.lower, Side::upper);
    MethodCost cost =
        closed_form(method, epsilon, epsilon, delta.lower, std::move(exact->derivation));
    cost.closed = true;
    return cost;
  }
  if (delta.lower == 0)
    throw OutsideConditions("at delta = 0 the cost is the largest loss, which basic adds up",
                            Remedy::method);
  PlanLoss loss = loss_of(plan, Side::upper);
  const Bracket epsilon = composed_epsilon(loss, delta, precision);
  return composed_losses(epsilon, epsilon.upper, delta.lower, loss);
}

MethodCost profile_delta(Method method, const Plan& plan, Bound epsilon,
                         const Precision& precision) {
  if (auto exact = profile_by(method, plan)) {
    const double delta = std::min(1.0, exact->profile.delta(epsilon.lower).upper());
    return closed_form(method, delta, epsilon.lower, delta, std::move(exact->derivation));
  }
  PlanLoss loss = loss_of(plan, Side::upper);
  const Bracket delta = composed_delta(loss, epsilon, precision);
  return composed_losses(delta, epsilon.lower, delta.upper, loss);
}

namespace {

WithoutReplacementBound sampling_bound(Method method) {
  return method == Method::rdp_simple      ? WithoutReplacementBound::every_order
         : method == Method::rdp_one_order ? WithoutReplacementBound::one_order
                                           : WithoutReplacementBound::best;
}

}  // namespace

namespace {

// The order at which a method uses the curve: the moments accountant has integer orders from 2 on.
double order_for(Method method, double order) {
  return method == Method::moments ? std::max(2.0, std::round(order)) : order;
}

// The least ε at δ = `rest` by the method's closed form, at the given order or at the best one.
// Infinite if no order gives a bound.
AtOrder closed_form_epsilon(Method method, const RenyiAccountant& accountant, double rest,
                            std::optional<double> order) {
  const auto at = [&](double a) {
    const double used = order_for(method, a);
    const RenyiDP point{used, accountant.at(used).upper()};
    return method == Method::rdp ? epsilon_from_renyi(point, rest)
                                 : epsilon_from_renyi_classic(point, rest);
  };
  AtOrder best{order.value_or(infinity), infinity};
  if (rest > 0 && order && !std::isinf(*order)) {
    best.order = order_for(method, *order);
    best.value = at(best.order).upper();
  } else if (rest >= 0) {
    // At order inf the guarantee is pure ε-DP, which is the only one at δ = 0.
    if (method != Method::moments) best.value = accountant.at(infinity).upper();
    if (rest > 0 && !order) {
      const BestOrder finite = best_order(infinity, at);
      if (finite.value.upper() < best.value)
        best = {order_for(method, finite.order), finite.value.upper()};
    }
  }
  return best;
}

// The cost if no order gives a finite ε, with a note that says why.
MethodCost no_finite_epsilon(double delta, double rest, const Real& aside,
                             std::optional<double> order) {
  std::vector<std::string> notes;
  if (order && rest > 0)
    notes.push_back("nothing is known at order " + shortest(*order) +
                    ": sampled parts are summed up to order 1024, rdp(alpha, ·) and tcdp(·, omega) "
                    "hold up to their own");
  if (!(rest > 0) && delta > 0)
    notes.push_back("the plan's own delta comes to " + rounded_up(aside) +
                    ", which is not certainly below the requested delta: choose a larger one");
  return {infinity, std::nullopt, std::move(notes),
          Derivation{"",
                     "no order gives a finite bound at this δ",
                     "Mironov2017",
                     {},
                     approximate_text(infinity, delta),
                     {}}};
}

// The theorem by which a method converts a Rényi divergence to ε.
Proof epsilon_conversion(Method method, bool joint_range) {
  if (joint_range) return {joint_range_theorem, "Asoodeh2021"};
  if (method == Method::moments)
    return {"moments accountant: the classical conversion at a whole order", "Abadi2016"};
  if (method != Method::rdp)
    return {"RDP to (ε, δ), classical conversion: ε̄ + log(1/δ)/(α-1)", "Mironov2017"};
  return {"RDP to (ε, δ): ε̄ + log((α-1)/α) - (log δ + log α)/(α-1)", "Canonne2020"};
}

}  // namespace

MethodCost renyi_epsilon(Method method, const Plan& plan, double delta,
                         std::optional<double> order) {
  const RenyiAccountant accountant(plan, Side::upper, sampling_bound(method));
  const Real aside = accountant.delta_set_aside();
  const double rest = aside.upper() == 0 ? delta : rest_of(delta, aside);
  AtOrder best = closed_form_epsilon(method, accountant, rest, order);
  if (std::isinf(best.value)) return no_finite_epsilon(delta, rest, aside, order);
  if (method == Method::rdp && std::isfinite(best.order) && best.value > 0) {
    best = with_optimal_conversion(accountant, best, order.has_value(), [rest](const RenyiDP& p) {
      return epsilon_from_renyi_optimal(p, rest);
    });
  }
  std::vector<Condition> conditions{"order " + rounded_to_nearest(best.order)};
  if (aside.upper() > 0) conditions.push_back(aside_text(aside));
  const auto [theorem, reference] = epsilon_conversion(method, best.joint_range);
  return {best.value,
          best.order,
          {},
          converted(theorem, reference, std::move(conditions), best.value, delta,
                    accountant.derive(best.order))};
}

MethodCost renyi_delta(Method method, const Plan& plan, double epsilon,
                       std::optional<double> order) {
  const RenyiAccountant accountant(plan, Side::upper, sampling_bound(method));
  const Real aside = accountant.delta_set_aside();
  const bool classic = method != Method::rdp;
  const auto at = [&](double a) {
    const double used = order_for(method, a);
    const double divergence = accountant.at(used).upper();
    if (std::isinf(divergence)) return Real(1);
    const RenyiDP point{used, divergence};
    return classic ? delta_from_renyi_classic(point, epsilon) : delta_from_renyi(point, epsilon);
  };

  // The closed form at the best order, then the optimal conversion.
  const BestOrder closed_form = order && !std::isinf(*order)
                                    ? BestOrder{order_for(method, *order), at(*order)}
                                    : best_order(infinity, at);
  AtOrder best{order_for(method, closed_form.order), closed_form.value.upper()};
  if (!classic && best.value < 1) {
    best = with_optimal_conversion(
        accountant, best, order.has_value(),
        [epsilon](const RenyiDP& p) { return delta_from_renyi_optimal(p, epsilon); });
  }

  // A pure ε-DP plan needs no δ but that of its approx() parts.
  double delta = either_failure(aside, best.value).upper();
  if (accountant.at(infinity).upper() <= epsilon && !order) delta = aside.upper();
  delta = std::min(delta, 1.0);
  return {delta,
          best.order,
          {},
          converted(best.joint_range ? joint_range_theorem : "RDP to (ε, δ), solved for δ",
                    best.joint_range ? "Asoodeh2021"
                    : classic        ? "Mironov2017"
                                     : "Canonne2020",
                    {"order " + rounded_to_nearest(best.order)}, epsilon, delta,
                    accountant.derive(best.order))};
}

namespace {

// (ρ, ω) by the method, with its derivation. ω stands for infinity for zCDP.
TruncatedConcentratedDP concentrated(Method method, const Plan& plan, Derivation* why) {
  if (method == Method::tcdp || method == Method::tcdp_classic) return tcdp_of(plan, why);
  return {zcdp_of(plan,
                  method == Method::zcdp_classic || method == Method::zcdp_simple
                      ? RhoConversion::classic
                      : RhoConversion::better,
                  why)
              .rho,
          0x1p1000};
}

}  // namespace

MethodCost concentrated_epsilon(Method method, const Plan& plan, double delta) {
  Derivation why;
  const TruncatedConcentratedDP tcdp = concentrated(method, plan, &why);
  const Real aside = RenyiAccountant(plan, Side::upper).delta_set_aside();
  const double rest = aside.upper() == 0 ? delta : rest_of(delta, aside);
  std::vector<Condition> conditions;
  if (aside.upper() > 0) conditions.push_back(aside_text(aside));
  const auto answer = [&](double epsilon, std::optional<double> order, const std::string& theorem,
                          const std::string& reference) {
    return MethodCost{epsilon,
                      order,
                      {},
                      converted(theorem, reference, conditions, epsilon, delta, std::move(why))};
  };
  if (tcdp.rho.upper() == 0 && rest >= 0)
    return answer(0, std::nullopt, "nothing is revealed", "Bun2016");
  if (!(rest > 0)) return answer(infinity, std::nullopt, "no ε suffices at δ = 0", "Bun2016");
  if (method == Method::zcdp_classic) {
    return answer(epsilon_from_zcdp_classic({tcdp.rho}, rest).upper(), std::nullopt,
                  "zCDP to (ε, δ), classical conversion: ρ + 2 sqrt(ρ log(1/δ))", "Bun2016");
  }
  if (method == Method::zcdp_simple) {
    return answer(
        epsilon_from_zcdp_simple({tcdp.rho}, rest).upper(), std::nullopt,
        "zCDP to (ε, δ), simple form: 2 sqrt(ρ log(1/δ)), where the tighter conversion proves it",
        "Bun2016");
  }
  if (method == Method::tcdp_classic) {
    return answer(epsilon_from_tcdp_classic(tcdp, rest).upper(), std::nullopt,
                  "tCDP to (ε, δ), classical conversion: ρ + 2 sqrt(ρ log(1/δ)), or ρω + "
                  "log(1/δ)/(ω-1) where log(1/δ) > (ω-1)²ρ",
                  "Bun2018");
  }
  const BestOrder best = epsilon_from_tcdp(tcdp, rest);
  conditions.push_back("order " + rounded_to_nearest(best.order));
  return answer(best.value.upper(), best.order,
                method == Method::tcdp ? "tCDP to (ε, δ), as RDP of order up to ω"
                                       : "zCDP to (ε, δ), as RDP of the best order",
                "Canonne2020");
}

MethodCost concentrated_delta(Method method, const Plan& plan, double epsilon) {
  Derivation why;
  const TruncatedConcentratedDP tcdp = concentrated(method, plan, &why);
  const Real aside = RenyiAccountant(plan, Side::upper).delta_set_aside();
  const auto answer = [&](const Real& value, std::optional<double> order,
                          const std::string& theorem, const std::string& reference) {
    const double delta = std::min(1.0, either_failure(aside, value).upper());
    return MethodCost{
        delta, order, {}, converted(theorem, reference, {}, epsilon, delta, std::move(why))};
  };
  if (tcdp.rho.upper() == 0) return answer(0, std::nullopt, "nothing is revealed", "Bun2016");
  if (method == Method::zcdp_classic)
    return answer(delta_from_zcdp_classic({tcdp.rho}, epsilon), std::nullopt,
                  "zCDP to (ε, δ), classical conversion, solved for δ", "Bun2016");
  if (method == Method::zcdp_simple)
    return answer(delta_from_zcdp_simple({tcdp.rho}, epsilon), std::nullopt,
                  "zCDP to (ε, δ), simple form, solved for δ", "Bun2016");
  if (method == Method::tcdp_classic)
    return answer(delta_from_tcdp_classic(tcdp, epsilon), std::nullopt,
                  "tCDP to (ε, δ), classical conversion, solved for δ", "Bun2018");
  const BestOrder best = delta_from_tcdp(tcdp, epsilon);
  return answer(best.value, best.order,
                "concentrated DP to (ε, δ), as RDP of the best order, solved for δ", "Canonne2020");
}

namespace {

MomentsForm moments_form(Method method) {
  return method == Method::moments_closed ? MomentsForm::by_sigma : MomentsForm::by_epsilon;
}

const char* moments_theorem(Method method) {
  return method == Method::moments_closed
             ? "the moments accountant's closed form 4 μ sqrt(log(1/δ)), proved by the classical "
               "conversion of zCDP"
             : "the moments accountant's closed form 4 ε sqrt(2k log(1/δ)) with each step's "
               "classical ε, proved by "
               "the classical conversion of zCDP";
}

}  // namespace

MethodCost moments_closed_epsilon(Method method, const Plan& plan, double delta) {
  Derivation why;
  const Real mu = gdp_of(plan, &why).mu;
  if (!(delta > 0))
    throw OutsideConditions("the closed forms of the moments accountant need delta > 0: use basic",
                            Remedy::method);
  const double epsilon =
      mu.upper() == 0 ? 0
                      : gaussian_moments_epsilon(moments_form(method), mu.upper(), delta).upper();
  return {epsilon,
          std::nullopt,
          {},
          converted(moments_theorem(method), "Abadi2016", {}, epsilon, delta, std::move(why))};
}

MethodCost moments_closed_delta(Method method, const Plan& plan, double epsilon) {
  Derivation why;
  const Real mu = gdp_of(plan, &why).mu;
  const double delta =
      mu.upper() == 0
          ? 0
          : std::min(1.0,
                     gaussian_moments_delta(moments_form(method), mu.upper(), epsilon).upper());
  return {delta,
          std::nullopt,
          {},
          converted(moments_theorem(method), "Abadi2016", {}, epsilon, delta, std::move(why))};
}

}  // namespace sotto::accounting_detail
