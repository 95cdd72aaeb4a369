// ε and δ by Gaussian DP with slack: what a Gaussian budget claims for this one event.
#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/leaves/leaf.hpp"
#include "accounting/methods/methods.hpp"
#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/api/renyi.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/pure.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Profile profile_of(const ApproximateGDP& found) { return found.mu == 0 ? pure_profile(0) : gaussian_profile(found.mu); }

// The δ of approx() parts; a catastrophe()'s is in its profile.
double own_of(const Plan& plan) { return contains_catastrophe(plan) ? 0 : RenyiAccountant(plan, Side::upper).aside().upper(); }

MethodCost told(double value, double epsilon, double delta, ApproximateGDP found) {
  Derivation why{"",
                 "Gaussian DP with slack: the exact Gaussian profile at (δ - d)/(1 - d)",
                 "Dong2022",
                 {"d = " + at_most(found.slack) + " set aside"},
                 approximate_text(epsilon, delta),
                 {}};
  why.premises.push_back(std::move(found.derivation));
  const std::string note = "mu = " + at_most(found.mu) + " with slack " + at_most(found.slack) + ": an upper bound, as a Gaussian budget charges it";
  return {value, std::nullopt, {note}, std::move(why)};
}

}  // namespace

MethodCost slack_epsilon(const Plan& plan, double delta) {
  const double own = delta == 0 ? 0 : own_of(plan);
  const double tenth = ((Real(delta) - Real(own)) / 10).lower();
  const double slack = delta == 0 ? 0 : own == 0 ? read_number(rounded(tenth * (1 + 1e-9), 6, Side::lower)) : own + tenth;
  if (own > slack) throw OutsideConditions("the plan's own delta comes to " + at_most(own) + ", which is not below what was asked for");
  ApproximateGDP found = approximate_gdp_of(plan, slack);
  const double left = ((Real(delta) - Real(found.slack)) / (1 - Real(found.slack))).lower();
  const double epsilon = left > 0 || found.mu == 0 ? epsilon_of(profile_of(found), std::max(0.0, left), Side::upper) : infinity;
  return told(epsilon, epsilon, delta, std::move(found));
}

MethodCost slack_delta(const Plan& plan, double epsilon) {
  const double own = own_of(plan);
  // from a slack that is surely too large down to about a tenth of what comes out
  std::optional<ApproximateGDP> best;
  double value = 1;
  double slack = std::max(own, (Real(own) + Real(1e-3)).upper());
  for (int turn = 0; turn < 4 && slack < 1; ++turn) {
    ApproximateGDP found = approximate_gdp_of(plan, slack);
    const double delta = std::min(1.0, either(found.slack, profile_of(found).delta(epsilon)).upper());
    const double next = own + (delta - own) / 10;
    if (!best || delta < value) {
      value = delta;
      best = std::move(found);
    }
    if (!(next > own) || !(next < 0.5 * slack) || next < 1e-300) break;
    slack = next;
  }
  if (!best) throw OutsideConditions("the plan's own delta is 1");
  return told(value, epsilon, value, std::move(*best));
}

}  // namespace sotto::accounting_detail
