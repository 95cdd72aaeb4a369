#include "sotto/accounting/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dearest.hpp"
#include "sotto/accounting/amplification.hpp"
#include "sotto/accounting/approximate.hpp"
#include "sotto/accounting/composition.hpp"
#include "sotto/accounting/pld.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/discrete.hpp"
#include "sotto/privacy/exponential.hpp"
#include "sotto/privacy/gaussian.hpp"
#include "sotto/privacy/laplace.hpp"
#include "sotto/privacy/pure.hpp"
#include "sotto/privacy/randomized_response.hpp"
#include "units.hpp"

namespace sotto {
namespace {

using accounting_detail::reading;
using accounting_detail::real;

constexpr double infinity = std::numeric_limits<double>::infinity();

Side opposite(Side side) { return side == Side::upper ? Side::lower : Side::upper; }

constexpr std::int64_t longest_sum = 2000;

// One kind of leaf, how often it runs, and the group it is costed for.
struct Unit {
  Plan leaf;
  std::int64_t count;
  std::int64_t k;
};

std::vector<Unit> units_of(const Plan& plan) {
  std::vector<Unit> units;
  for (const Step& step : steps_of(plan, GaussianLine::exact)) {
    const auto* group = step.plan.as<Group>();
    units.push_back({group == nullptr ? step.plan : group->plan, step.count, group == nullptr ? 1 : accounting_detail::count(group->size)});
  }
  return units;
}

// μ² of one use of a leaf that is, or on the lower side can be, a Gaussian.
std::optional<Real> squared_mu(const Unit& unit, Side side) {
  if (const auto mu = accounting_detail::gaussian_mu(unit.leaf, unit.k)) return square(*mu);
  if (side == Side::lower && unit.k == 1) {  // a Gaussian satisfies zcdp(ρ) and tcdp(ρ, ω) with equality
    if (const auto* z = unit.leaf.as<Zcdp>()) return 2 * reading(z->rho);
    if (const auto* t = unit.leaf.as<Tcdp>()) return 2 * reading(t->rho);
  }
  return std::nullopt;
}

// ε₀ and δ₀ of a leaf that is dominated by, and on the lower side can be, the canonical (ε₀, δ₀) pair. For a group
// that is an upper bound alone.
std::optional<ApproximateDP> canonical(const Unit& unit, Side side) {
  if (side == Side::lower && unit.k != 1) return std::nullopt;
  const Plan& leaf = unit.leaf;
  const bool stated = leaf.as<Pure>() != nullptr || leaf.as<Approx>() != nullptr;
  const auto* response = leaf.as<RandomizedResponse>();
  const auto* laplace = leaf.as<DiscreteLaplace>();
  const bool binary = response != nullptr && response->k.value() == 2;
  const bool lattice = laplace != nullptr && laplace->sensitivity.value() == 1 && unit.k == 1;
  if (!stated && !binary && !lattice) return std::nullopt;
  const Real epsilon = *accounting_detail::pure_epsilon(leaf, unit.k);
  if (!std::isfinite(epsilon.upper())) return std::nullopt;
  return ApproximateDP{epsilon, accounting_detail::own_delta(leaf, unit.k)};
}

ExactProfile told(Profile profile, const Plan& plan, const std::string& theorem, const std::string& reference, std::vector<Condition> conditions) {
  return {std::move(profile), Derivation{print(plan), theorem, reference, std::move(conditions), "the whole curve δ(ε)", {}}};
}

std::optional<ExactProfile> gaussians(const Plan& plan, const std::vector<Unit>& units, Side side) {
  Real total = 0;
  for (const Unit& unit : units) {
    const auto one = squared_mu(unit, side);
    if (!one) return std::nullopt;
    total += real(unit.count) * *one;
  }
  if (total.upper() == 0) return told(pure_profile(0), plan, "nothing is revealed", "Dong2022", {});
  const double mu = sqrt(total).at(side);
  return told(gaussian_profile(mu), plan, "Gaussians merge into one: μ² adds; exact profile", "Balle2018a", {"μ = " + about(mu)});
}

std::optional<ExactProfile> equal_steps(const Plan& plan, const std::vector<Unit>& units, Side side) {
  std::optional<double> epsilon;
  std::int64_t count = 0;
  Real aside = 0;
  for (const Unit& unit : units) {
    const auto one = canonical(unit, side);
    if (!one || (epsilon && *epsilon != one->epsilon.at(side))) return std::nullopt;
    epsilon = one->epsilon.at(side);
    count += unit.count;
    aside = either(aside, failures(one->delta, unit.count));
  }
  const Real rounded_aside = aside.at(side);
  if (count > longest_sum) return std::nullopt;  // the contour integral is as good, and does not grow with the number
  return told(optimal_profile(count, *epsilon, rounded_aside, side), plan, "optimal composition of equal (ε, δ)-DP steps, at every real ε",
              "Kairouz2015", {std::to_string(count) + " steps with ε = " + at_most(*epsilon), "failures come to δ = " + at_most(rounded_aside)});
}

std::optional<ExactProfile> single(const Plan& plan, const Unit& unit, Side side);

// One use of a sampled body: the base's profile, amplified.
std::optional<ExactProfile> single_sampled(const Plan& plan, const accounting_detail::Sampling& sampling, Side side) {
  const auto base = exact_profile(sampling.body, side);
  if (!base) return std::nullopt;
  // On the lower side the line is known to be attained for Poisson sampling of a pair of real-valued noise alone.
  const bool noise = sampling.body.as<Laplace>() != nullptr || gaussians(sampling.body, units_of(sampling.body), Side::upper).has_value();
  if (side == Side::lower && !(sampling.poisson && noise)) return std::nullopt;
  ExactProfile result =
      told(amplified(std::min(1.0, sampling.rate.at(side)), base->profile, side), plan, "amplification of one use: s δ(log(1 + (e^ε - 1)/s))",
           "Balle2018b",
           {sampling.poisson ? "Poisson sampling with add-remove" : "sampling without replacement with replace-one", "rate " + about(sampling.rate)});
  result.derivation.premises.push_back(base->derivation);
  return result;
}

std::optional<ExactProfile> single(const Plan& plan, const Unit& unit, Side side) {
  const Plan& leaf = unit.leaf;
  if (const auto sampling = accounting_detail::sampling_of(leaf); sampling && unit.k == 1) return single_sampled(plan, *sampling, side);
  if (leaf.as<Laplace>() != nullptr) {
    const double x = accounting_detail::pure_epsilon(leaf, unit.k)->at(side);
    return told(laplace_profile(x), plan, "Laplace noise, exact profile", "Balle2018b", {"Δ1/b = " + about(x)});
  }
  if (const auto* r = leaf.as<RandomizedResponse>(); r != nullptr && unit.k == 1) {
    const ResponseProbabilities response = response_probabilities(reading(r->p), accounting_detail::count(r->k));
    return told({[response](double epsilon) { return response_delta(epsilon, response); }, response_epsilon(response).at(side)}, plan,
                "randomized response, exact profile", "Kairouz2015", {"replace-one"});
  }
  if (leaf.as<Exponential>() != nullptr) {
    const double epsilon = accounting_detail::pure_epsilon(leaf, unit.k)->at(side);
    if (epsilon == 0) return told(pure_profile(0), plan, "nothing is revealed", "Dong2020", {});
    return told(exponential_profile(epsilon), plan, "exponential mechanism, one use: the pointwise maximum over its pairs", "Dong2020", {});
  }
  if (const auto* l = leaf.as<DiscreteLaplace>()) {
    return told(discrete_laplace_profile(reading(l->b).at(opposite(side)), accounting_detail::times(unit.k, l->sensitivity), side), plan,
                "discrete Laplace noise, from its pmf", "Canonne2020", {"integer sensitivity"});
  }
  if (const auto* g = leaf.as<DiscreteGaussian>()) {
    if (g->sigma.value() > 1e4) return std::nullopt;  // its distribution function is summed term by term
    return told(discrete_gaussian_profile(reading(g->sigma), accounting_detail::times(unit.k, g->sensitivity)), plan,
                "discrete Gaussian noise, from its pmf", "Canonne2020", {"integer sensitivity"});
  }
  if (const auto* c = leaf.as<Catastrophe>(); c != nullptr && unit.k == 1) {
    const double x = accounting_detail::pure_epsilon(leaf, 1)->at(side);
    const Real failure = accounting_detail::own_delta(leaf, 1).at(side);
    return told({[=](double epsilon) { return either(failure, laplace_delta(epsilon, x)); }, c->delta.value() > 0 ? infinity : x, failure}, plan,
                "Laplace noise, or everything with probability δ", "Dwork2014", {"δ = " + about(failure)});
  }
  return std::nullopt;
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
  const std::vector<Unit> units = units_of(plan);
  if (auto result = gaussians(plan, units, side)) return result;
  if (units.size() == 1 && units.front().count == 1) {
    if (auto result = single(plan, units.front(), side)) return result;
  }
  return equal_steps(plan, units, side);
}

namespace {

// The plan's own profile if it has a closed form; else whatever of its parts has a pair that is reached, composed (leaving
// parts out cannot cost more); parts in parallel one by one.
double reached(const Plan& plan, const std::function<double(const Profile&)>& by_profile, const std::function<double(const PlanLoss&)>& by_loss) {
  if (const auto whole = exact_profile(plan, Side::lower)) return by_profile(whole->profile);
  double most = -infinity;
  for (const Step& step : steps_of(plan, GaussianLine::exact)) {
    if (const auto* parallel = step.plan.as<Parallel>()) {
      for (const Plan& part : parallel->parts) most = std::max(most, reached(part, by_profile, by_loss));
    } else if (const auto one = exact_profile(step.plan, Side::lower)) {
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
