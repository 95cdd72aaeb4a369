// The method gdp for plans that are not Gaussians only: ε and δ by approximate Gaussian DP, which
// is the claim of a Gaussian budget that this one event fills.
#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/api/renyi.hpp"
#include "accounting/leaves/leaf.hpp"
#include "accounting/methods/methods.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/pure.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Profile profile_of(const ApproximateGDP& gdp) {
  return gdp.mu == 0 ? pure_profile(0) : gaussian_profile(gdp.mu);
}

// The δ of the plan's approx() parts. The δ of catastrophe() is part of its profile instead.
double own_delta(const Plan& plan) {
  return contains_catastrophe(plan) ? 0
                                    : RenyiAccountant(plan, Side::upper).delta_set_aside().upper();
}

MethodCost make_cost(double value, double epsilon, double delta, ApproximateGDP gdp) {
  Derivation why{"",
                 "Gaussian DP with slack: the exact Gaussian profile at (δ - d)/(1 - d)",
                 "Dong2022",
                 {"d = " + rounded_up(gdp.slack) + " set aside"},
                 approximate_text(epsilon, delta),
                 {}};
  why.premises.push_back(std::move(gdp.derivation));
  const std::string note = "mu = " + rounded_up(gdp.mu) + " with slack " + rounded_up(gdp.slack) +
                           ": an upper bound, as a Gaussian budget charges it";
  return {value, std::nullopt, {note}, std::move(why)};
}

}  // namespace

MethodCost approximate_gdp_epsilon(const Plan& plan, double delta) {
  // The slack is the plan's own δ and a tenth of the rest.
  const double own = delta == 0 ? 0 : own_delta(plan);
  const double tenth = ((Real(delta) - Real(own)) / 10).lower();
  const double slack = delta == 0 ? 0
                       : own == 0 ? read_number(rounded(tenth * (1 + 1e-9), 6, Side::lower))
                                  : own + tenth;
  if (own > slack)
    throw OutsideConditions("the plan's own delta comes to " + rounded_up(own) +
                            ", which is not below delta = " + shortest(delta) +
                            ": choose a larger delta");
  ApproximateGDP gdp = approximate_gdp_of(plan, slack);

  // The Gaussian profile at the remaining δ.
  const double left = ((Real(delta) - Real(gdp.slack)) / (1 - Real(gdp.slack))).lower();
  const double epsilon = left > 0 || gdp.mu == 0
                             ? epsilon_of(profile_of(gdp), std::max(0.0, left), Side::upper)
                             : infinity;
  return make_cost(epsilon, epsilon, delta, std::move(gdp));
}

MethodCost approximate_gdp_delta(const Plan& plan, double epsilon) {
  const double own = own_delta(plan);
  // Start with a slack that is too large, and lower it to about a tenth of the resulting δ.
  std::optional<ApproximateGDP> best;
  double value = 1;
  double slack = std::max(own, (Real(own) + Real(1e-3)).upper());
  for (int turn = 0; turn < 4 && slack < 1; ++turn) {
    ApproximateGDP gdp = approximate_gdp_of(plan, slack);
    const double delta =
        std::min(1.0, either_failure(gdp.slack, profile_of(gdp).delta(epsilon)).upper());
    const double next = own + (delta - own) / 10;
    if (!best || delta < value) {
      value = delta;
      best = std::move(gdp);
    }
    if (!(next > own) || !(next < 0.5 * slack) || next < 1e-300) break;
    slack = next;
  }
  if (!best)
    throw OutsideConditions(
        "the plan's own delta is 1: it may reveal everything, so no delta below 1 holds");
  return make_cost(value, epsilon, value, std::move(*best));
}

}  // namespace sotto::accounting_detail
