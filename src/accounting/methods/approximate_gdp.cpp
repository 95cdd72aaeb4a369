// Approximate Gaussian DP of an event: exact for Gaussians with failures, else by a cover of its
// profile.
#include "accounting/api/approximate_gdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "accounting/api/composition.hpp"
#include "accounting/api/concentrated.hpp"
#include "accounting/api/exact.hpp"
#include "accounting/api/pld.hpp"
#include "accounting/events/events.hpp"
#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/curve.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string text_of(double mu, double slack) {
  return rounded_up(slack) + "-approximate " + rounded_up(mu) + "-GDP";
}

// --- Events with exactly the pair f_{0,d} ⊗ G_μ ---

// Gaussians together with leaves that only fail, such as approx(0, δ): μ is that of the Gaussians,
// and d is the probability of a failure. Empty for any other event.
std::optional<ApproximateGDP> exact_of(const Plan& event) {
  try {
    Derivation why;
    const double mu = gdp_of(event, &why).mu.upper();
    return ApproximateGDP{.mu = mu, .slack = 0, .exact = true, .derivation = std::move(why)};
  } catch (const OutsideConditions&) {
    // The event has other parts than Gaussians.
  }
  Real squared_mu = 0;
  Real failure = 0;
  Derivation why{print(event), "Gaussians, and failures set aside: μ² adds, and d = 1 - ∏(1-δ)",
                 "Dong2022",   {},
                 "",           {}};
  for (const accounting_detail::Event& one : accounting_detail::events_of(event)) {
    if (one.leaf == nullptr) return std::nullopt;
    if (const auto squared = one.leaf->squared_mu(Side::upper)) {
      squared_mu += accounting_detail::real(one.count) * *squared;
    } else if (const auto epsilon = one.leaf->pure_epsilon(1); epsilon && epsilon->upper() == 0) {
      failure = either_failure(failure, any_failure(one.leaf->delta(), one.count));
    } else {
      return std::nullopt;
    }
  }
  const double mu = squared_mu.upper() == 0 ? 0 : sqrt_of_nonnegative(squared_mu).upper();
  const double slack = failure.upper();
  if (!(mu < infinity && slack < 1)) return std::nullopt;
  why.guarantee = text_of(mu, slack);
  return ApproximateGDP{.mu = mu, .slack = slack, .exact = true, .derivation = std::move(why)};
}

// --- The profiles of other events ---

// The profile of an event: `above` with probability 1 - failure; else everything is revealed.
struct Curve {
  ProfileAbove above;
  Real failure;
  Derivation why;
};

// The profile of an event with a closed form.
Curve by_closed_form(ExactProfile exact) {
  const Profile profile = exact.profile;
  return {
      {.delta = [profile](double epsilon) { return std::min(1.0, profile.delta(epsilon).upper()); },
       .epsilon = [profile](double delta) { return epsilon_of(profile, delta, Side::upper); },
       .worst = profile.worst_loss},
      0,
      std::move(exact.derivation)};
}

// The profile of an event with known dominating pairs.
Curve by_losses(const PlanLoss& loss) {
  const auto directions = std::make_shared<std::vector<ComposedCurve>>();
  double worst = 0;
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    directions->emplace_back(*steps);
    worst = std::max(worst, directions->back().max_loss());
  }
  const auto above = [directions](double epsilon) {
    double most = 0;
    for (ComposedCurve& one : *directions) most = std::max(most, one.delta(epsilon).upper);
    return most;
  };
  PlanLoss without_failure = loss;
  without_failure.failure = 0;
  const auto end = [without_failure](double delta) {
    return composed_epsilon(without_failure, {delta, delta}, {.smooth = 1e-6, .atoms = 1e-3}).upper;
  };
  return {{above, end, worst}, loss.failure, loss.derivation};
}

// The profile of any event, by the best method at each ε.
Curve by_any_method(const Plan& event) {
  Derivation why{print(event),           "the least δ by any method, ε by ε",
                 "Balle2018b",           {},
                 "the whole curve δ(ε)", {}};
  const auto above = [event](double epsilon) {
    const WorkLimit limit(0.05 * work_left());
    return delta(event, Epsilon(epsilon)).value.upper;
  };
  const auto end = [event](double delta) { return epsilon(event, Delta(delta)).value.upper; };
  return {{above, end, infinity}, 0, std::move(why)};
}

Curve curve_of(const Plan& event) {
  if (auto exact = exact_profile(event, Side::upper); exact && exact->profile.failure.upper() == 0)
    return by_closed_form(std::move(*exact));
  try {
    return by_losses(loss_of(event, Side::upper));
  } catch (const OutsideConditions&) {  // a part has no known pair
    return by_any_method(event);
  }
}

}  // namespace

ApproximateGDP approximate_gdp_of(const Plan& event, double slack) {
  require_probability_below_one(slack, "slack");
  // Returns the slack that the event uses. The tolerance lets approx(ε, δ) fit into a slack of the
  // number δ.
  const auto require_within_slack = [&](double failure) {
    if (failure <= slack * (1 + 0x1p-50)) return std::max(slack, failure);
    throw OutsideConditions(print(event) + " fails with probability " + rounded_up(failure) +
                            " by itself, which is above its slack of " + shortest(slack) +
                            ": choose a slack of at least " + rounded_up(failure));
  };
  if (auto exact = exact_of(event)) {
    require_within_slack(exact->slack);
    return *exact;
  }
  const WorkLimit limit(allowance_of({}));
  Curve curve = curve_of(event);
  const double whole = require_within_slack(curve.failure.upper());
  // The slack d' for the part of the event that does not fail: f + (1-f)(d' + (1-d') δ_μ) = d +
  // (1-d) δ_μ.
  const double left =
      curve.failure.upper() == 0
          ? whole
          : std::max(0.0, ((Real(whole) - curve.failure) / (1 - curve.failure)).lower());
  std::optional<GaussianCover> cover;
  finishes_within(1, [&] { cover = gaussian_cover(curve.above, left); });
  if (!cover) {
    throw OutsideConditions(
        print(event) + (slack == 0
                            ? " has no finite mu at slack 0: choose a slack above 0, such as 1e-8"
                            : " has no finite mu at slack " + rounded_up(slack) +
                                  " that is proved within the work limit: choose a larger slack"));
  }
  Derivation why{"",
                 "δ(ε) <= d + (1-d) δ_μ(ε) for every ε and both directions: the event is a "
                 "post-processing of N(μ, 1) against N(0, 1), which "
                 "reveals everything with probability d",
                 "Dong2022",
                 {"compared at " + std::to_string(cover->nodes) +
                      " ε, and between them by chords and tangents",
                  "they touch at ε = " + rounded_to_nearest(cover->touch) +
                      ", where δ = " + rounded_up(cover->touch_delta)},
                 text_of(cover->mu, whole),
                 {}};
  why.premises.push_back(std::move(curve.why));
  return {cover->mu, whole, cover->touch, cover->touch_delta, false, std::move(why)};
}

double gdp_budget_mu(double epsilon, double delta, double slack) {
  require_positive(epsilon, "epsilon");
  require_open_unit(delta, "delta");
  require_probability_below_one(slack, "slack");
  const Real aside = Real::reading(slack) * Real(1 + 0x1p-49);  // rounded up as in Filter::limit()
  const double left = ((Real(Real::reading(delta).lower()) - aside) / (1 - aside)).lower();
  if (!(left > 0))
    throw InvalidValue("slack = " + shortest(slack) +
                       " is not allowed: it must be less than delta = " + shortest(delta));
  const double sigma = gaussian_exact_sigma(Real::reading(epsilon).lower(), left, Side::upper);
  return read_number(rounded((1 / Real(sigma) * Real(1 - 0x1p-48)).lower(), 6, Side::lower));
}

}  // namespace sotto
