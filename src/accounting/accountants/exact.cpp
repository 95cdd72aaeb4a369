// Exact profiles: Gaussians, equal (ε, δ)-DP steps, single uses, and the lower bounds that follow
// from them.
#include "accounting/api/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "accounting/api/amplification.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/api/pld.hpp"
#include "accounting/events/dominating_part.hpp"
#include "accounting/events/events.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/pure.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using accounting_detail::Event;
using accounting_detail::events_of;
using accounting_detail::Noise;
using accounting_detail::real;

constexpr double infinity = std::numeric_limits<double>::infinity();

// The largest number of steps for the sum of optimal composition. For more steps the inversion
// integral of the PLD accountant is as good, and its cost does not grow with the number.
constexpr std::int64_t longest_sum = 2000;

ExactProfile make_profile(Profile profile, const Plan& plan, const std::string& theorem,
                          const std::string& reference, std::vector<Condition> conditions) {
  return {std::move(profile),
          Derivation{
              print(plan), theorem, reference, std::move(conditions), "the whole curve δ(ε)", {}}};
}

// Gaussians only: μ² adds [Dong2022], and the profile is exact [Balle2018a].
std::optional<ExactProfile> gaussians(const Plan& plan, const std::vector<Event>& events,
                                      Side side) {
  Real total = 0;
  for (const Event& event : events) {
    const auto one = event.leaf == nullptr ? std::nullopt : event.leaf->squared_mu(side);
    if (!one) return std::nullopt;
    total += real(event.count) * *one;
  }
  if (total.upper() == 0)
    return make_profile(pure_profile(0), plan, "nothing is revealed", "Dong2022", {});
  const double mu = std::max(0.0, sqrt_of_nonnegative(total).at(side));
  return make_profile(gaussian_profile(mu), plan,
                      "Gaussians merge into one: μ² adds; exact profile", "Balle2018a",
                      {"μ = " + rounded_to_nearest(mu)});
}

// Equal steps whose pair is the canonical pair of (ε, δ)-DP: optimal composition [Kairouz2015].
std::optional<ExactProfile> equal_steps(const Plan& plan, const std::vector<Event>& events,
                                        Side side) {
  std::optional<double> epsilon;
  std::int64_t count = 0;
  Real aside = 0;
  for (const Event& event : events) {
    const auto one = event.leaf == nullptr ? std::nullopt : event.leaf->canonical(side);
    if (!one || (epsilon && *epsilon != one->epsilon.at(side))) return std::nullopt;
    epsilon = one->epsilon.at(side);
    count += event.count;
    aside = either_failure(aside, any_failure(one->delta, event.count));
  }
  const Real rounded_aside = aside.at(side);
  if (count > longest_sum) return std::nullopt;
  return make_profile(optimal_profile(count, *epsilon, rounded_aside, side), plan,
                      "optimal composition of equal (ε, δ)-DP steps, at every real ε",
                      "Kairouz2015",
                      {std::to_string(count) + " steps with ε = " + rounded_up(*epsilon),
                       "failures come to δ = " + rounded_up(rounded_aside)});
}

// One use on a sample: the amplified profile of the body [Balle2018b].
std::optional<ExactProfile> single_sampled(const Plan& plan,
                                           const accounting_detail::Sampling& sampling, Side side) {
  const auto base = exact_profile(sampling.body, side);
  if (!base) return std::nullopt;
  // The amplified profile is known to be attained only for Poisson sampling of Gaussian or Laplace
  // noise.
  const std::vector<Event> events = events_of(sampling.body);
  const bool laplace = accounting_detail::leaf_of(sampling.body, 1) != nullptr &&
                       events.front().leaf->noise() == Noise::laplace;
  const bool noise = laplace || gaussians(sampling.body, events, Side::upper).has_value();
  if (side == Side::lower && !(sampling.poisson && noise)) return std::nullopt;
  ExactProfile result =
      make_profile(amplified(std::min(1.0, sampling.rate.at(side)), base->profile, side), plan,
                   "amplification of one use: s δ(log(1 + (e^ε - 1)/s))", "Balle2018b",
                   {sampling.poisson ? "Poisson sampling with add-remove"
                                     : "sampling without replacement with replace-one",
                    "rate " + rounded_to_nearest(sampling.rate)});
  result.derivation.premises.push_back(base->derivation);
  return result;
}

// One use of an event.
std::optional<ExactProfile> single(const Plan& plan, const Event& event, Side side) {
  if (event.sampling && event.units == 1) return single_sampled(plan, *event.sampling, side);
  if (event.leaf == nullptr) return std::nullopt;
  auto own = event.leaf->profile(side);
  if (!own) return std::nullopt;
  return make_profile(std::move(own->value), plan, own->theorem, own->reference,
                      std::move(own->conditions));
}

}  // namespace

std::optional<ExactProfile> exact_profile(const Plan& plan, Side side) {
  if (const auto* parallel = plan.as<Parallel>()) {  // the pointwise maximum [McSherry2009]
    std::vector<Profile> parts;
    Derivation why{print(plan),
                   "parallel composition: the pointwise maximum of profiles",
                   "McSherry2009",
                   {"add-remove"},
                   "the whole curve δ(ε)",
                   {}};
    double worst = 0;
    Real failure = 0;
    for (const Plan& part : parallel->parts) {
      const auto one = exact_profile(part, side);
      if (!one) return std::nullopt;
      failure = max(failure, one->profile.failure);
      parts.push_back(one->profile);
      why.premises.push_back(one->derivation);
      worst = std::max(worst, one->profile.worst_loss);
    }
    const auto largest = [parts](double epsilon) {
      Real most = 0;
      for (const Profile& part : parts) most = max(most, part.delta(epsilon));
      return most;
    };
    return ExactProfile{{largest, worst, failure}, std::move(why)};
  }
  const std::vector<Event> events = events_of(plan);
  if (auto result = gaussians(plan, events, side)) return result;
  if (events.size() == 1 && events.front().count == 1) {
    if (auto result = single(plan, events.front(), side)) return result;
  }
  return equal_steps(plan, events, side);
}

namespace {

// The largest lower bound of a plan: by its exact profile; else by the exact profile of each single
// event and by the composition of all events with an attained pair. Leaving out events cannot cost
// more. Parts in parallel are tried one by one.
double attained_bound(const Plan& plan, const std::function<double(const Profile&)>& by_profile,
                      const std::function<double(const PlanLoss&)>& by_loss) {
  if (const auto whole = exact_profile(plan, Side::lower)) return by_profile(whole->profile);
  double most = -infinity;
  for (const Event& event : events_of(plan)) {
    if (const auto* parallel = event.parallel()) {
      for (const Plan& part : parallel->parts)
        most = std::max(most, attained_bound(part, by_profile, by_loss));
    } else if (const auto one = exact_profile(event.with_group(), Side::lower)) {
      most = std::max(
          most,
          by_profile(
              one->profile));  // a single use may have an exact profile although several do not
    }
  }
  for (std::size_t part = 0; part < accounting_detail::undecided_parts(plan);
       ++part) {  // the record is in one part in all events
    const PlanLoss loss = loss_of(plan, Side::lower, part);
    if (!loss.removed.empty() || loss.failure.upper() > 0) most = std::max(most, by_loss(loss));
  }
  return most;
}

}  // namespace

double epsilon_lower(const Plan& plan, double delta) {
  return attained_bound(
      plan, [delta](const Profile& p) { return epsilon_of(p, delta, Side::lower); },
      [delta](const PlanLoss& loss) {
        return composed_epsilon(loss, Bound{delta, delta}).lower;
      });
}

double delta_lower(const Plan& plan, double epsilon) {
  return attained_bound(
      plan, [epsilon](const Profile& p) { return std::max(0.0, p.delta(epsilon).lower()); },
      [epsilon](const PlanLoss& loss) {
        return composed_delta(loss, Bound{epsilon, epsilon}).lower;
      });
}

}  // namespace sotto
