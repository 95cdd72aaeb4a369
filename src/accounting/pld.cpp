#include "sotto/accounting/pld.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dearest.hpp"
#include "part.hpp"
#include "sotto/accounting/approximate.hpp"
#include "sotto/accounting/composition.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/randomized_response.hpp"
#include "units.hpp"

namespace sotto {
namespace {

using accounting_detail::count;
using accounting_detail::Part;
using accounting_detail::reading;
using accounting_detail::real;
using accounting_detail::refuse;
using accounting_detail::response_loss;
using accounting_detail::spaced;

constexpr double infinity = std::numeric_limits<double>::infinity();

Part same(PrivacyLossPtr loss, std::string theorem, std::string reference) {
  Part part;
  part.removed = std::move(loss);
  part.theorem = std::move(theorem);
  part.reference = std::move(reference);
  return part;
}

// The discrete Laplace loss of sensitivity d: (d - 2j)/b for 0 < j < d, and ±d/b beyond.
PrivacyLossPtr discrete_laplace_loss(const Real& b, std::int64_t d) {
  const Real t = exp(-1 / b);
  std::vector<SymmetricAtom> atoms;
  for (std::int64_t j = 0; 2 * j < d; ++j) {
    const Real loss = real(d - 2 * j) / b;
    const Real mass = j == 0 ? 1 / (1 + t) : (1 - t) / (1 + t) * exp(-(real(j) / b));
    atoms.push_back({loss, mass * exp(-(loss / 2))});
  }
  const Real largest = real(d) / b;
  Lattice lattice = spaced(largest, 1);
  lattice.spacing = (2 / b).estimate();
  return symmetric_atoms_loss(atoms, lattice);
}

Part part_of(const Plan& leaf, std::int64_t k, Side side) {
  if (const auto* parallel = leaf.as<Parallel>()) {
    if (k > 1) refuse(leaf, "stands in a group: the group's conversion is applied to the total");
    return accounting_detail::parallel_part(leaf, *parallel);
  }
  if (const auto sampling = accounting_detail::sampling_of(leaf)) {
    if (k > 1) refuse(leaf, "stands in a group: no pair is proved for several units in one sample; the group's conversion is applied to the total");
    if (sampling->rate.lower() >= 1) refuse(leaf, "samples everything: leave the sampling out");
    return accounting_detail::sampled_part(leaf, *sampling, side);
  }
  if (leaf.as<Laplace>() != nullptr) return same(laplace_loss(*accounting_detail::pure_epsilon(leaf, k)), "Laplace noise", "Balle2018b");
  if (const auto* c = leaf.as<Catastrophe>(); c != nullptr && k == 1) {
    Part part = same(laplace_loss(*accounting_detail::pure_epsilon(leaf, 1)), "Laplace noise, or everything with probability δ", "Dwork2014");
    part.failure = accounting_detail::own_delta(leaf, 1);
    return part;
  }
  if (const auto* r = leaf.as<RandomizedResponse>(); r != nullptr && k == 1) {
    const ResponseProbabilities response = response_probabilities(reading(r->p), count(r->k));
    const Real epsilon = response_epsilon(response);
    if (count(r->k) == 2) return same(response_loss(epsilon), "binary randomized response", "Kairouz2015");
    const std::vector<SymmetricAtom> atoms{{epsilon, sqrt(response.truth * response.other)}};
    return same(symmetric_atoms_loss(atoms, spaced(epsilon, 1)), "randomized response over k values", "Kairouz2015");
  }
  if (const auto* e = leaf.as<Exponential>(); e != nullptr) {
    Part part = same(exponential_loss(*accounting_detail::pure_epsilon(leaf, k)), "exponential mechanism: the pair of its worst profile", "Dong2020");
    part.attained = false;
    return part;
  }
  if (const auto* l = leaf.as<DiscreteLaplace>()) {
    const std::int64_t d = accounting_detail::times(k, l->sensitivity);
    if (d > 20000) refuse(leaf, "has a sensitivity too large for its losses to be listed: use --by rdp");
    return same(discrete_laplace_loss(reading(l->b), d), "discrete Laplace noise, from its pmf", "Canonne2020");
  }
  if (const auto* g = leaf.as<DiscreteGaussian>()) {
    return same(discrete_gaussian_loss(reading(g->sigma), accounting_detail::times(k, g->sensitivity)), "discrete Gaussian noise, from its pmf",
                "Canonne2020");
  }
  if (const auto epsilon = accounting_detail::pure_epsilon(leaf, k);
      epsilon && (leaf.as<Pure>() != nullptr || leaf.as<Approx>() != nullptr || k > 1)) {
    Part part = same(response_loss(*epsilon), "(ε, δ)-DP: randomized response, with an atom δ at infinity, dominates", "Kairouz2015");
    part.failure = accounting_detail::own_delta(leaf, k);
    part.attained = k == 1;
    return part;
  }
  if (const auto* noise = leaf.as<Arsinh>()) {
    const Real ratio = reading(noise->a) / reading(noise->sensitivity);
    const Real kappa = reading(noise->rho) * square(ratio);  // A²/(2σ²) with σ² = Δ²/(2ρ)
    if (kappa.lower() >= 1 && ratio.lower() > 4 * static_cast<double>(k)) {
      Part part = same(arsinh_loss(kappa, real(k) / ratio), "arsinh noise, from its density", "Bun2018");
      part.conditions = {"log-concave: ρA²/Δ² = " + at_least(kappa) + " >= 1"};
      return part;
    }
    refuse(leaf, "has a worst pair that is known here only where rho (a/sensitivity)^2 >= 1 and a > 4 sensitivity: use --by rdp or --by tcdp");
  }
  if (side == Side::lower) return {};
  refuse(leaf, "is a guarantee that many mechanisms satisfy: no pair of distributions is worst among them; use --by rdp or --by tight");
}

// The steps of a plan, parts in parallel replaced by the dearest of them where there is one; on the lower side by the one named.
std::vector<Step> steps_with_dearest(const Plan& plan, Side side, std::size_t part, Derivation& why) {
  std::vector<Step> steps;
  for (const Step& step : steps_of(plan, GaussianLine::exact)) {
    const auto* parallel = step.plan.as<Parallel>();
    auto one = parallel == nullptr ? std::nullopt : accounting_detail::dearest_part(*parallel);
    if (one) {
      why.conditions.push_back("a record is in one part of those in parallel; the dearest is " + print(*one));
    } else if (parallel != nullptr && side == Side::lower) {
      one = parallel->parts[part % parallel->parts.size()];
    }
    if (!one) {
      steps.push_back(step);
      continue;
    }
    for (Step& inner : steps_with_dearest(*one, side, part, why)) {
      inner.count = accounting_detail::times(inner.count, static_cast<double>(step.count));
      steps.push_back(std::move(inner));
    }
  }
  return steps;
}

}  // namespace

PlanLoss loss_of(const Plan& plan, Side side, std::size_t part) {
  PlanLoss result;
  result.derivation = {print(plan), "independent privacy losses: their transforms multiply", "Zhu2022", {}, "the whole curve δ(ε)", {}};
  std::vector<LossStep> added;
  bool two_sided = false;
  Real squared_mu = 0;
  for (const Step& step : steps_with_dearest(plan, side, part, result.derivation)) {
    const auto* group = step.plan.as<Group>();
    const Plan& leaf = group == nullptr ? step.plan : group->plan;
    const std::int64_t k = group == nullptr ? 1 : count(group->size);
    const auto times = static_cast<double>(step.count);
    if (const auto mu = accounting_detail::gaussian_mu(leaf, k)) {
      squared_mu += real(step.count) * square(*mu);
      continue;
    }
    if (side == Side::lower && k == 1) {  // a Gaussian satisfies zcdp(ρ) and tcdp(ρ, ω) with equality
      if (const auto* z = leaf.as<Zcdp>()) squared_mu += real(step.count) * 2 * reading(z->rho);
      if (const auto* t = leaf.as<Tcdp>()) squared_mu += real(step.count) * 2 * reading(t->rho);
    }
    if (const auto epsilon = accounting_detail::pure_epsilon(leaf, k); epsilon && epsilon->upper() == 0) {
      result.failure = either(result.failure, failures(accounting_detail::own_delta(leaf, k), step.count));
      continue;  // nothing else is revealed
    }
    Part one;
    try {
      if (const auto epsilon = accounting_detail::pure_epsilon(leaf, k); epsilon && !(epsilon->upper() < infinity)) {
        refuse(step.plan, "has a loss beyond the largest double");
      }
      one = part_of(leaf, k, side);
    } catch (const OutsideConditions&) {
      if (side == Side::upper) throw;
    }
    if (side == Side::lower && (one.removed == nullptr || !one.attained)) {
      result.attained = false;
      continue;
    }
    result.attained = result.attained && one.attained;
    result.failure = either(result.failure, failures(one.failure, step.count));
    result.removed.push_back({one.removed, times});
    added.push_back({one.added == nullptr ? one.removed : one.added, times});
    two_sided = two_sided || one.added != nullptr;
    const std::string repeated = step.count == 1 ? "" : std::to_string(step.count) + " steps";
    if (!repeated.empty()) one.conditions.push_back(repeated);
    result.derivation.premises.push_back({print(step.plan), one.theorem, one.reference, one.conditions, "its privacy loss", {}});
  }
  if (side == Side::lower && !(squared_mu.upper() < infinity)) {
    squared_mu = 0;
    result.attained = false;
  }
  if (!(squared_mu.upper() < infinity)) refuse(plan, "has losses beyond the largest double");
  if (squared_mu.upper() > 0) {
    const PrivacyLossPtr loss = gaussian_loss(squared_mu);
    result.removed.push_back({loss, 1});
    added.push_back({loss, 1});
    result.derivation.premises.push_back(
        {"", "Gaussians merge into one: μ² adds", "Dong2022", {"μ = " + about(sqrt(squared_mu))}, "its privacy loss", {}});
  }
  if (two_sided) {
    result.added = std::move(added);
    result.derivation.conditions.emplace_back("the worse of adding and removing a record");
  }
  if (result.failure.upper() > 0) result.derivation.conditions.push_back("failures come to δ = " + at_most(result.failure) + ", carried apart");
  return result;
}

namespace {

// The worse of two directions, end by end.
Bracket worse(const Bracket& a, const Bracket& b) {
  Bracket worst = a;
  if (b.upper > a.upper) {
    worst.upper = b.upper;
    worst.above = b.above;
  }
  if (b.lower > a.lower) {
    worst.lower = b.lower;
    worst.below = b.below;
  }
  return worst;
}

// Of the work that is left the first of two directions gets most: the second is mostly below it.
double share_of(const PlanLoss& loss, const std::vector<LossStep>* steps) { return steps == &loss.added || loss.added.empty() ? 1 : 0.7; }

}  // namespace

Bracket composed_delta(const PlanLoss& loss, Bound epsilon, const Precision& precision) {
  Bracket worst{{0, 0}};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    // the second direction is mostly below the first: a quick bound shows it
    if (worst.lower > 0 && surely_below(*steps, epsilon.lower, worst.lower)) continue;
    const WorkLimit limit(share_of(loss, steps) * work_left());
    worst = worse(worst, composed_delta(*steps, epsilon, precision));
  }
  worst.lower = std::max(0.0, either(loss.failure, worst.lower).lower());
  worst.upper = std::min(1.0, either(loss.failure, worst.upper).upper());
  return worst;
}

Bracket composed_epsilon(const PlanLoss& loss, Bound delta, const Precision& precision) {
  // δ = 1 - (1 - failure)(1 - rest)
  const bool fails = loss.failure.upper() > 0;
  if (loss.failure.lower() > delta.upper) return {{infinity, infinity}};
  const auto rest = [&](double total) { return fails ? (Real(total) - loss.failure) / (1 - loss.failure) : Real(total); };
  const Bound left{rest(delta.lower).lower(), rest(delta.upper).upper()};
  Bracket worst{{0, 0}};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    if (worst.lower > 0 && left.lower > 0 && surely_below(*steps, worst.lower, left.lower)) continue;
    const WorkLimit limit(share_of(loss, steps) * work_left());
    Bracket one{{0, 0}};
    if (left.lower > 0) {
      one = composed_epsilon(*steps, left, precision);
    } else {
      if (left.upper > 0) one = composed_epsilon(*steps, Bound{left.upper, left.upper}, precision);
      one.upper = infinity;
    }
    worst = worse(worst, one);
  }
  if (!(left.lower > 0) && fails) worst.upper = infinity;
  return worst;
}

}  // namespace sotto
