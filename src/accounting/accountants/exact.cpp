#include "accounting/api/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "accounting/events/dominating_part.hpp"
#include "accounting/events/events.hpp"
#include "accounting/api/amplification.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/api/pld.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/pure.hpp"

namespace sotto {
namespace {

using accounting_detail::Event;
using accounting_detail::events_of;
using accounting_detail::Noise;
using accounting_detail::real;

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::int64_t longest_sum = 2000;

ExactProfile told(Profile profile, const Plan& plan, const std::string& theorem, const std::string& reference, std::vector<Condition> conditions) {
  return {std::move(profile), Derivation{print(plan), theorem, reference, std::move(conditions), "the whole curve δ(ε)", {}}};
}

std::optional<ExactProfile> gaussians(const Plan& plan, const std::vector<Event>& events, Side side) {
  Real total = 0;
  for (const Event& event : events) {
    const auto one = event.leaf == nullptr ? std::nullopt : event.leaf->squared_mu(side);
    if (!one) return std::nullopt;
    total += real(event.count) * *one;
  }
  if (total.upper() == 0) return told(pure_profile(0), plan, "nothing is revealed", "Dong2022", {});
  const double mu = std::max(0.0, sqrt_of_nonnegative(total).at(side));
  return told(gaussian_profile(mu), plan, "Gaussians merge into one: μ² adds; exact profile", "Balle2018a", {"μ = " + about(mu)});
}

std::optional<ExactProfile> equal_steps(const Plan& plan, const std::vector<Event>& events, Side side) {
  std::optional<double> epsilon;
  std::int64_t count = 0;
  Real aside = 0;
  for (const Event& event : events) {
    const auto one = event.leaf == nullptr ? std::nullopt : event.leaf->canonical(side);
    if (!one || (epsilon && *epsilon != one->epsilon.at(side))) return std::nullopt;
    epsilon = one->epsilon.at(side);
    count += event.count;
    aside = either(aside, failures(one->delta, event.count));
  }
  const Real rounded_aside = aside.at(side);
  if (count > longest_sum) return std::nullopt;  // the contour integral is as good, and does not grow with the number
  return told(optimal_profile(count, *epsilon, rounded_aside, side), plan, "optimal composition of equal (ε, δ)-DP steps, at every real ε",
              "Kairouz2015", {std::to_string(count) + " steps with ε = " + at_most(*epsilon), "failures come to δ = " + at_most(rounded_aside)});
}

// One use of a sampled body: the base's profile, amplified.
std::optional<ExactProfile> single_sampled(const Plan& plan, const accounting_detail::Sampling& sampling, Side side) {
  const auto base = exact_profile(sampling.body, side);
  if (!base) return std::nullopt;
  // On the lower side the line is known to be attained for Poisson sampling of a pair of real-valued noise alone.
  const std::vector<Event> events = events_of(sampling.body);
  const bool laplace = accounting_detail::leaf_of(sampling.body, 1) != nullptr && events.front().leaf->noise() == Noise::laplace;
  const bool noise = laplace || gaussians(sampling.body, events, Side::upper).has_value();
  if (side == Side::lower && !(sampling.poisson && noise)) return std::nullopt;
  ExactProfile result =
      told(amplified(std::min(1.0, sampling.rate.at(side)), base->profile, side), plan, "amplification of one use: s δ(log(1 + (e^ε - 1)/s))",
           "Balle2018b",
           {sampling.poisson ? "Poisson sampling with add-remove" : "sampling without replacement with replace-one", "rate " + about(sampling.rate)});
  result.derivation.premises.push_back(base->derivation);
  return result;
}

std::optional<ExactProfile> single(const Plan& plan, const Event& event, Side side) {
  if (event.sampling && event.units == 1) return single_sampled(plan, *event.sampling, side);
  if (event.leaf == nullptr) return std::nullopt;
  auto own = event.leaf->profile(side);
  if (!own) return std::nullopt;
  return told(std::move(own->value), plan, own->theorem, own->reference, std::move(own->conditions));
}

}  // namespace

std::optional<ExactProfile> exact_profile(const Plan& plan, Side side) {
  if (const auto* parallel = plan.as<Parallel>()) {  // pointwise maximum
    std::vector<Profile> parts;
    Derivation why{print(plan), "parallel composition: the pointwise maximum of profiles", "McSherry2009", {"add-remove"}, "the whole curve δ(ε)",
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

// The plan's own profile if it has a closed form; else whatever of its parts has a pair that is reached, composed (leaving
// parts out cannot cost more); parts in parallel one by one.
double reached(const Plan& plan, const std::function<double(const Profile&)>& by_profile, const std::function<double(const PlanLoss&)>& by_loss) {
  if (const auto whole = exact_profile(plan, Side::lower)) return by_profile(whole->profile);
  double most = -infinity;
  for (const Event& event : events_of(plan)) {
    if (const auto* parallel = event.parallel()) {
      for (const Plan& part : parallel->parts) most = std::max(most, reached(part, by_profile, by_loss));
    } else if (const auto one = exact_profile(event.with_group(), Side::lower)) {
      most = std::max(most, by_profile(one->profile));  // one use may be known where several are not
    }
  }
  for (std::size_t part = 0; part < accounting_detail::undecided_parts(plan); ++part) {  // a record in one part throughout
    const PlanLoss loss = loss_of(plan, Side::lower, part);
    if (!loss.removed.empty() || loss.failure.upper() > 0) most = std::max(most, by_loss(loss));
  }
  return most;
}

}  // namespace

double epsilon_lower(const Plan& plan, double delta) {
  return reached(
      plan, [delta](const Profile& p) { return epsilon_of(p, delta, Side::lower); },
      [delta](const PlanLoss& loss) {
        return composed_epsilon(loss, Bound{delta, delta}).lower;
      });
}

double delta_lower(const Plan& plan, double epsilon) {
  return reached(
      plan, [epsilon](const Profile& p) { return std::max(0.0, p.delta(epsilon).lower()); },
      [epsilon](const PlanLoss& loss) {
        return composed_delta(loss, Bound{epsilon, epsilon}).lower;
      });
}

}  // namespace sotto
