// The methods that read ε and δ off a profile, a Rényi curve or a concentrated guarantee.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "methods.hpp"
#include "sotto/accounting/composition.hpp"
#include "sotto/accounting/concentrated.hpp"
#include "sotto/accounting/exact.hpp"
#include "sotto/accounting/pld.hpp"
#include "sotto/accounting/renyi.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/search.hpp"
#include "sotto/privacy/best_order.hpp"
#include "sotto/privacy/conversions.hpp"
#include "sotto/privacy/gaussian.hpp"
#include "sotto/privacy/pure.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A conversion at the root of the tree, above the plan's own derivation.
Derivation converted(const std::string& theorem, const std::string& reference, std::vector<Condition> conditions, double epsilon, double delta,
                     Derivation premise) {
  Derivation why{"", theorem, reference, std::move(conditions), approximate_text(epsilon, delta), {}};
  why.premises.push_back(std::move(premise));
  return why;
}

std::optional<ExactProfile> profile_by(Method method, const Plan& plan) {
  if (method == Method::pld) return exact_profile(plan, Side::upper);
  Derivation why;
  const double mu = gdp_of(plan, &why).mu.upper();
  return ExactProfile{mu == 0 ? pure_profile(0) : gaussian_profile(mu), std::move(why)};
}

// A value read off a closed form at (ε, δ).
MethodCost closed_form(Method method, double value, double epsilon, double delta, Derivation profile) {
  const bool pld = method == Method::pld;
  const char* theorem = pld ? "ε and δ read off the exact profile, a closed form" : "Gaussian DP: the exact Gaussian profile";
  return {value, std::nullopt, {}, converted(theorem, pld ? "Balle2018b" : "Dong2022", {}, epsilon, delta, std::move(profile))};
}

// By what a bracket's end is proved, and where that is from.
struct Proof {
  const char* theorem;
  const char* reference;
};
Proof proof_of(ProofMethod method, Side side) {
  const bool above = side == Side::upper;
  switch (method) {
    case ProofMethod::max_loss: return {above ? "the largest loss of all steps together" : "all steps at their largest loss together", "Dwork2006a"};
    case ProofMethod::chernoff: return {"Chernoff's bound at the best order, as Rényi DP has it", "Canonne2020"};
    case ProofMethod::saddle_point:
      return {"the inversion integral of the moment generating function through its saddle point, with a bound on every error", "Alghamdi2023"};
    case ProofMethod::lattice: return {"losses on a lattice: the Fourier sum over one period, through the saddle point", "Koskela2020"};
    case ProofMethod::grid:
      return {above ? "losses discretised pessimistically (connect-the-dots), composed by the fast Fourier transform with a bound on its error"
                    : "losses discretised optimistically (merged at their means), composed by the fast Fourier transform with a bound on its error",
              "Doroshenko2022"};
    case ProofMethod::smoothed:
      return {above ? "the inversion integral with a small Gaussian step added, which can only cost more"
                    : "the inversion integral with a small Gaussian step added, less what that can have added",
              "Alghamdi2023"};
    case ProofMethod::merged:
      return {above ? "steps that differ little taken as one kind, as dear as the dearest of them"
                    : "steps that differ little taken as one kind, as cheap as the cheapest of them",
              "Zhu2022"};
  }
  return {"", ""};
}

// A value read off composed losses at (ε, δ), and what the other side of the bracket rests on.
MethodCost composed_losses(const Bracket& bracket, double epsilon, double delta, PlanLoss& loss) {
  const Proof above = proof_of(bracket.above, Side::upper);
  const Proof below = proof_of(bracket.below, Side::lower);
  std::vector<Condition> conditions;
  if (loss.attained) {
    conditions.push_back(bracket.below == bracket.above && bracket.above != ProofMethod::grid
                             ? "the lower bound by the same"
                             : "the lower bound by: " + std::string(below.theorem) + " [" + below.reference + "]");
  }
  MethodCost cost{
      bracket.upper, std::nullopt, {}, converted(above.theorem, above.reference, std::move(conditions), epsilon, delta, std::move(loss.derivation))};
  if (loss.attained) cost.lower = bracket.lower;
  return cost;
}

// What is left of δ once the plan's own failures are set aside: δ = 1 - (1 - aside)(1 - rest).
// Nothing is left where the failures may be certain.
double rest_of(double delta, const Real& aside) {
  if (!(aside.upper() < 1)) return -1;
  return ((Real(delta) - aside) / (1 - aside)).lower();
}

// A bound from the curve at one order, and whether the line or the joint range of two coins gave it.
struct AtOrder {
  double order;
  double value;
  bool coins = false;
};

// The best conversion at the order that was best for the line, and, where it is much better there, at the orders around.
AtOrder sharpened(const RenyiAccountant& accountant, AtOrder line, bool fixed, const std::function<double(const RenyiDP&)>& optimal) {
  const auto at = [&](double order) {
    const double divergence = accountant.at(order).upper();
    return std::isinf(divergence) ? infinity : optimal({order, divergence});
  };
  AtOrder best = line;
  const auto attempt = [&](double order) {
    const double value = at(order);
    if (value < best.value) best = {order, value, true};
  };
  attempt(line.order);
  if (fixed || !best.coins) return best;
  if (best.value < (1 - 1e-3) * line.value) {
    const double u = std::log(line.order - 1);
    attempt(1 + std::exp(least_point(u - 1, u + 1, [&](double v) { return at(1 + std::exp(v)); })));
  }
  // the bottom of the parabola through three orders: an ε that does not depend on where the search happened to end
  for (const double h : {0.02, 0.002}) {
    const double u = std::log(best.order - 1);
    const double left = at(1 + std::exp(u - h)) - best.value;
    const double right = at(1 + std::exp(u + h)) - best.value;
    const double move = h * (left - right) / (2 * (left + right));
    if (std::abs(move) <= 10 * h) attempt(1 + std::exp(u + move));
  }
  return best;
}

const char* const coins_theorem = "RDP to (ε, δ), the best conversion at one order: no two coins reach δ";

Condition aside_text(const Real& aside) { return "δ = " + at_most(aside) + " set aside for the plan's own failures"; }

}  // namespace

std::string approximate_text(double epsilon, double delta) {
  return "(" + rounded(epsilon, 6, Side::upper) + ", " + rounded(delta, 6, Side::upper) + ")-DP";
}

MethodCost profile_epsilon(Method method, const Plan& plan, Bound delta, const Precision& precision) {
  if (auto exact = profile_by(method, plan)) {
    const double epsilon = epsilon_of(exact->profile, delta.lower, Side::upper);
    MethodCost cost = closed_form(method, epsilon, epsilon, delta.lower, std::move(exact->derivation));
    cost.closed = true;
    return cost;
  }
  if (delta.lower == 0) throw OutsideConditions("at delta = 0 the cost is the largest loss, which basic adds up", Remedy::method);
  PlanLoss loss = loss_of(plan, Side::upper);
  const Bracket epsilon = composed_epsilon(loss, delta, precision);
  return composed_losses(epsilon, epsilon.upper, delta.lower, loss);
}

MethodCost profile_delta(Method method, const Plan& plan, Bound epsilon, const Precision& precision) {
  if (auto exact = profile_by(method, plan)) {
    const double delta = std::min(1.0, exact->profile.delta(epsilon.lower).upper());
    return closed_form(method, delta, epsilon.lower, delta, std::move(exact->derivation));
  }
  PlanLoss loss = loss_of(plan, Side::upper);
  const Bracket delta = composed_delta(loss, epsilon, precision);
  return composed_losses(delta, epsilon.lower, delta.upper, loss);
}

namespace {

SamplingLine line_of(Method method) {
  return method == Method::rdp_simple ? SamplingLine::every_order : method == Method::rdp_one_order ? SamplingLine::one_order : SamplingLine::best;
}

}  // namespace

MethodCost renyi_epsilon(Method method, const Plan& plan, double delta, std::optional<double> order) {
  const RenyiAccountant accountant(plan, Side::upper, line_of(method));
  const Real aside = accountant.aside();
  const double rest = aside.upper() == 0 ? delta : rest_of(delta, aside);
  const bool classic = method != Method::rdp;
  const bool whole = method == Method::moments;
  const auto snapped = [whole](double a) { return whole ? std::max(2.0, std::round(a)) : a; };
  const auto at = [&](double a) {
    const RenyiDP point{snapped(a), accountant.at(snapped(a)).upper()};
    return classic ? epsilon_from_renyi_classic(point, rest) : epsilon_from_renyi(point, rest);
  };
  double best = order.value_or(infinity);
  double epsilon = infinity;
  if (rest > 0 && order && !std::isinf(*order)) {
    best = snapped(*order);
    epsilon = at(best).upper();
  } else if (rest >= 0) {
    // At order inf the guarantee is pure; at δ = 0 nothing else is left.
    if (!whole) epsilon = accountant.at(infinity).upper();
    if (rest > 0 && !order) {
      const BestOrder found = best_order(infinity, at);
      if (found.value.upper() < epsilon) {
        epsilon = found.value.upper();
        best = snapped(found.order);
      }
    }
  }
  if (std::isinf(epsilon)) {
    std::vector<std::string> notes;
    if (order && rest > 0)
      notes.push_back("nothing is known at order " + shortest(*order) +
                      ": sampled parts are summed up to order 1024, rdp(alpha, ·) and tcdp(·, omega) hold up to their own");
    if (!(rest > 0) && delta > 0)
      notes.push_back("the plan's own delta comes to " + at_most(aside) + ", which is not certainly below what was asked: ask for a larger delta");
    return {infinity, std::nullopt, std::move(notes),
            Derivation{"", "no order gives a finite bound at this δ", "Mironov2017", {}, approximate_text(infinity, delta), {}}};
  }
  bool coins = false;
  if (!classic && std::isfinite(best) && epsilon > 0) {
    const AtOrder found =
        sharpened(accountant, {best, epsilon}, order.has_value(), [rest](const RenyiDP& p) { return epsilon_from_renyi_optimal(p, rest); });
    best = found.order;
    epsilon = found.value;
    coins = found.coins;
  }
  std::vector<Condition> conditions{"order " + about(best)};
  if (aside.upper() > 0) conditions.push_back(aside_text(aside));
  const std::string theorem = coins     ? coins_theorem
                              : whole   ? "moments accountant: the classical line at a whole order"
                              : classic ? "RDP to (ε, δ), classical line: ε̄ + log(1/δ)/(α-1)"
                                        : "RDP to (ε, δ): ε̄ + log((α-1)/α) - (log δ + log α)/(α-1)";
  const char* reference = coins ? "Asoodeh2021" : whole ? "Abadi2016" : classic ? "Mironov2017" : "Canonne2020";
  return {epsilon, best, {}, converted(theorem, reference, std::move(conditions), epsilon, delta, accountant.derive(best))};
}

MethodCost renyi_delta(Method method, const Plan& plan, double epsilon, std::optional<double> order) {
  const RenyiAccountant accountant(plan, Side::upper, line_of(method));
  const Real aside = accountant.aside();
  const bool classic = method != Method::rdp;
  const bool whole = method == Method::moments;
  const auto snapped = [whole](double a) { return whole ? std::max(2.0, std::round(a)) : a; };
  const auto at = [&](double a) {
    const double divergence = accountant.at(snapped(a)).upper();
    if (std::isinf(divergence)) return Real(1);
    const RenyiDP point{snapped(a), divergence};
    return classic ? delta_from_renyi_classic(point, epsilon) : delta_from_renyi(point, epsilon);
  };
  const BestOrder best = order && !std::isinf(*order) ? BestOrder{snapped(*order), at(*order)} : best_order(infinity, at);
  AtOrder found{snapped(best.order), best.value.upper()};
  if (!classic && found.value < 1) {
    found = sharpened(accountant, found, order.has_value(), [epsilon](const RenyiDP& p) { return delta_from_renyi_optimal(p, epsilon); });
  }
  double delta = either(aside, found.value).upper();
  if (accountant.at(infinity).upper() <= epsilon && !order) delta = aside.upper();
  delta = std::min(delta, 1.0);
  return {delta,
          found.order,
          {},
          converted(found.coins ? coins_theorem : "RDP to (ε, δ), read for δ",
                    found.coins ? "Asoodeh2021"
                    : classic   ? "Mironov2017"
                                : "Canonne2020",
                    {"order " + about(found.order)}, epsilon, delta, accountant.derive(found.order))};
}

namespace {

// (ρ, ω) by the method, ω infinite for zCDP; with its derivation.
TruncatedConcentratedDP concentrated(Method method, const Plan& plan, Derivation* why) {
  if (method == Method::tcdp || method == Method::tcdp_classic) return tcdp_of(plan, why);
  return {zcdp_of(plan, method == Method::zcdp_classic || method == Method::zcdp_simple ? RhoLine::classic : RhoLine::better, why).rho, 0x1p1000};
}

}  // namespace

MethodCost concentrated_epsilon(Method method, const Plan& plan, double delta) {
  Derivation why;
  const TruncatedConcentratedDP tcdp = concentrated(method, plan, &why);
  const Real aside = RenyiAccountant(plan, Side::upper).aside();
  const double rest = aside.upper() == 0 ? delta : rest_of(delta, aside);
  std::vector<Condition> conditions;
  if (aside.upper() > 0) conditions.push_back(aside_text(aside));
  const auto answer = [&](double epsilon, std::optional<double> order, const std::string& theorem, const std::string& reference) {
    return MethodCost{epsilon, order, {}, converted(theorem, reference, conditions, epsilon, delta, std::move(why))};
  };
  if (tcdp.rho.upper() == 0 && rest >= 0) return answer(0, std::nullopt, "nothing is revealed", "Bun2016");
  if (!(rest > 0)) return answer(infinity, std::nullopt, "no ε suffices at δ = 0", "Bun2016");
  if (method == Method::zcdp_classic) {
    return answer(epsilon_from_zcdp_classic({tcdp.rho}, rest).upper(), std::nullopt, "zCDP to (ε, δ), classical line: ρ + 2 sqrt(ρ log(1/δ))",
                  "Bun2016");
  }
  if (method == Method::zcdp_simple) {
    return answer(epsilon_from_zcdp_simple({tcdp.rho}, rest).upper(), std::nullopt,
                  "zCDP to (ε, δ), simple form: 2 sqrt(ρ log(1/δ)), where the better line proves it", "Bun2016");
  }
  if (method == Method::tcdp_classic) {
    return answer(epsilon_from_tcdp_classic(tcdp, rest).upper(), std::nullopt,
                  "tCDP to (ε, δ), classical line: ρ + 2 sqrt(ρ log(1/δ)), or ρω + log(1/δ)/(ω-1) where log(1/δ) > (ω-1)²ρ", "Bun2018");
  }
  const BestOrder best = epsilon_from_tcdp(tcdp, rest);
  conditions.push_back("order " + about(best.order));
  return answer(best.value.upper(), best.order,
                method == Method::tcdp ? "tCDP to (ε, δ), as RDP of order up to ω" : "zCDP to (ε, δ), as RDP of the best order", "Canonne2020");
}

MethodCost concentrated_delta(Method method, const Plan& plan, double epsilon) {
  Derivation why;
  const TruncatedConcentratedDP tcdp = concentrated(method, plan, &why);
  const Real aside = RenyiAccountant(plan, Side::upper).aside();
  const auto answer = [&](const Real& value, std::optional<double> order, const std::string& theorem, const std::string& reference) {
    const double delta = std::min(1.0, either(aside, value).upper());
    return MethodCost{delta, order, {}, converted(theorem, reference, {}, epsilon, delta, std::move(why))};
  };
  if (tcdp.rho.upper() == 0) return answer(0, std::nullopt, "nothing is revealed", "Bun2016");
  if (method == Method::zcdp_classic)
    return answer(delta_from_zcdp_classic({tcdp.rho}, epsilon), std::nullopt, "zCDP to (ε, δ), classical line, read for δ", "Bun2016");
  if (method == Method::zcdp_simple)
    return answer(delta_from_zcdp_simple({tcdp.rho}, epsilon), std::nullopt, "zCDP to (ε, δ), simple form, read for δ", "Bun2016");
  if (method == Method::tcdp_classic)
    return answer(delta_from_tcdp_classic(tcdp, epsilon), std::nullopt, "tCDP to (ε, δ), classical line, read for δ", "Bun2018");
  const BestOrder best = delta_from_tcdp(tcdp, epsilon);
  return answer(best.value, best.order, "concentrated DP to (ε, δ), as RDP of the best order, read for δ", "Canonne2020");
}

namespace {

MomentsForm moments_form(Method method) { return method == Method::moments_closed ? MomentsForm::by_sigma : MomentsForm::by_epsilon; }

const char* moments_theorem(Method method) {
  return method == Method::moments_closed ? "the moments accountant's closed form 4 μ sqrt(log(1/δ)), proved by the classical line of zCDP"
                                          : "the moments accountant's closed form 4 ε sqrt(2k log(1/δ)) with each step's classical ε, proved by "
                                            "the classical line of zCDP";
}

}  // namespace

MethodCost moments_closed_epsilon(Method method, const Plan& plan, double delta) {
  Derivation why;
  const Real mu = gdp_of(plan, &why).mu;
  if (!(delta > 0)) throw OutsideConditions("the closed forms of the moments accountant need delta > 0: use basic", Remedy::method);
  const double epsilon = mu.upper() == 0 ? 0 : gaussian_moments_epsilon(moments_form(method), mu.upper(), delta).upper();
  return {epsilon, std::nullopt, {}, converted(moments_theorem(method), "Abadi2016", {}, epsilon, delta, std::move(why))};
}

MethodCost moments_closed_delta(Method method, const Plan& plan, double epsilon) {
  Derivation why;
  const Real mu = gdp_of(plan, &why).mu;
  const double delta = mu.upper() == 0 ? 0 : std::min(1.0, gaussian_moments_delta(moments_form(method), mu.upper(), epsilon).upper());
  return {delta, std::nullopt, {}, converted(moments_theorem(method), "Abadi2016", {}, epsilon, delta, std::move(why))};
}

}  // namespace sotto::accounting_detail
