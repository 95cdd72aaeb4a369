#include "sotto/accounting/pld.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dearest.hpp"
#include "sotto/accounting/approximate.hpp"
#include "sotto/accounting/composition.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/randomized_response.hpp"
#include "units.hpp"

namespace sotto {
namespace {

using detail::count;
using detail::reading;
using detail::real;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A part's losses, and whether they are those of a mechanism that the words allow.
struct Part {
  LossPtr removed;
  LossPtr added;  // null where it is the same
  Real failure = 0;
  bool attained = true;
  std::string theorem;
  std::string reference;
  std::vector<Condition> conditions = {};
};

Part same(LossPtr loss, std::string theorem, std::string reference) {
  Part part;
  part.removed = std::move(loss);
  part.theorem = std::move(theorem);
  part.reference = std::move(reference);
  return part;
}

[[noreturn]] void refuse(const Plan& plan, const std::string& why) {
  const std::string text = print(plan);
  throw OutsideConditions((text.size() <= 80 ? text : text.substr(0, 77) + "...") + " " + why);
}

// Randomized response on losses ±ε: P puts e^ε/(1+e^ε) on ε.
MirroredAtom response_atom(const Real& epsilon) { return {epsilon, 1 / (exp(epsilon / 2) + exp(-(epsilon / 2)))}; }

Lattice spaced(const Real& loss, double spacings) {
  const double value = loss.estimate();
  return {value, spacings * value, (loss.upper() - loss.lower()) / value + 0x1p-50};
}

LossPtr response_loss(const Real& epsilon) { return mirrored_loss({response_atom(epsilon)}, spaced(epsilon, 2)); }

// The discrete Laplace loss of sensitivity d: (d - 2j)/b for 0 < j < d, and ±d/b beyond.
LossPtr discrete_laplace_loss(const Real& b, std::int64_t d) {
  const Real t = exp(-1 / b);
  std::vector<MirroredAtom> atoms;
  for (std::int64_t j = 0; 2 * j < d; ++j) {
    const Real loss = real(d - 2 * j) / b;
    const Real mass = j == 0 ? 1 / (1 + t) : (1 - t) / (1 + t) * exp(-(real(j) / b));
    atoms.push_back({loss, mass * exp(-(loss / 2))});
  }
  const Real largest = real(d) / b;
  Lattice lattice = spaced(largest, 1);
  lattice.spacing = (2 / b).estimate();
  return mirrored_loss(atoms, lattice);
}

// The steps inside a sample: Gaussians merged, and everything else as (ε, δ)-DP canonical steps.
struct Body {
  Real squared_mu = 0;
  std::vector<std::pair<Real, std::int64_t>> canonical;  // ε and how often
  std::vector<std::pair<Real, std::int64_t>> laplace;
  Real failure = 0;
  bool attained = true;
};

Body body_of(const Plan& sampled, const Plan& body) {
  Body result;
  for (const Step& step : steps_of(body, GaussianLine::exact)) {
    const auto* group = step.plan.as<Group>();
    const Plan& leaf = group == nullptr ? step.plan : group->plan;
    const std::int64_t k = group == nullptr ? 1 : count(group->size);
    if (const auto mu = detail::gaussian_mu(leaf, k)) {
      result.squared_mu += real(step.count) * square(*mu);
    } else if (leaf.as<Laplace>() != nullptr) {
      result.laplace.emplace_back(*detail::pure_epsilon(leaf, k), step.count);
    } else if (const auto epsilon = detail::pure_epsilon(leaf, k); epsilon && epsilon->upper() < 300) {
      result.canonical.emplace_back(*epsilon, step.count);
      result.failure = either(result.failure, failures(detail::own_delta(leaf, k), step.count));
      result.attained = result.attained && leaf.as<Pure>() != nullptr && k == 1;
    } else {
      refuse(sampled, "samples a mechanism with no known worst pair (" + print(leaf) + "): use --by rdp, which needs none");
    }
  }
  return result;
}

// All sums of the canonical steps' losses, with their masses under Q.
std::vector<Atom> atoms_of(const Plan& sampled, const Body& body) {
  std::vector<Atom> atoms{{0, 1}};
  for (const auto& [epsilon, times] : body.canonical) {
    if (static_cast<double>(atoms.size()) * (static_cast<double>(times) + 1) > 4096) {
      refuse(sampled, "runs too many different steps on one sample for its privacy loss to be listed: use --by rdp");
    }
    const Real rise = 1 / (1 + exp(epsilon));  // Q's mass on +ε
    const Real fall = 1 / (1 + exp(-epsilon));
    for (std::int64_t step = 0; step < times; ++step) {
      // equal steps: the sums after n of them are start + (2j - n)ε, so merging keeps n + 1 of each
      std::vector<Atom> next;
      if (step == 0) {
        for (const Atom& atom : atoms) {
          next.push_back({atom.loss - epsilon, atom.mass * fall});
          next.push_back({atom.loss + epsilon, atom.mass * rise});
        }
      } else {
        const std::size_t each = static_cast<std::size_t>(step) + 1;
        for (std::size_t first = 0; first < atoms.size(); first += each) {
          for (std::size_t j = 0; j <= each; ++j) {
            Real mass = 0;
            if (j < each) mass += atoms[first + j].mass * fall;
            if (j > 0) mass += atoms[first + j - 1].mass * rise;
            next.push_back({j < each ? atoms[first + j].loss - epsilon : atoms[first + j - 1].loss + epsilon, mass});
          }
        }
      }
      atoms = std::move(next);
    }
  }
  return atoms;
}

// Noise beside steps of known ε on one sample. 1 - q + q e^(l+ℓ) = w (1 - q' + q' e^ℓ) with w = 1 - q + q e^l and q' = q e^l / w: an
// outcome of loss l moves the odds that the record was drawn, and the noise is sampled at the new rate.
template <class Noise>
LossPtr sampled_beside_atoms(const Plan& plan, const Body& body, const Real& rate, Direction direction, Noise noise) {
  const std::vector<Atom> atoms = atoms_of(plan, body);
  if (atoms.size() > 32) refuse(plan, "runs too many different steps on one sample beside noise for its privacy loss to be listed: use --by rdp");
  std::vector<Branch> branches;
  for (const Atom& atom : atoms) {
    const Real odds = rate * exp(atom.loss);
    const Real w = 1 + rate * expm1(atom.loss);
    const Real moved = odds / w;
    if (!(moved.upper() < 1 - 0x1p-30)) refuse(plan, "has steps on one sample whose outcome all but shows the record: use --by rdp");
    const Real v = log1p(rate * expm1(atom.loss));
    const bool removed = direction == Direction::remove;
    branches.push_back({removed ? atom.mass * w : atom.mass, removed ? v : -v, noise(moved, direction)});
  }
  return branched_loss(branches);
}

Part sampled_part(const Plan& plan, const detail::Sampling& sampling) {
  const Body body = body_of(plan, sampling.body);
  const bool gaussian = body.squared_mu.upper() > 0;
  const bool one_laplace = body.laplace.size() == 1 && body.laplace.front().second == 1;
  if (!body.laplace.empty() && (gaussian || !one_laplace)) {
    refuse(plan,
           "adds Laplace noise to one sample beside other noise; their joint loss is not composed here: use --by rdp, or sample for each of them");
  }
  const bool mixed = !body.canonical.empty() && (gaussian || one_laplace);
  if (mixed && !sampling.poisson) {
    refuse(plan, "runs mechanisms of different kinds on one sample without replacement; their joint loss is not composed here: use --by rdp");
  }
  const Real& rate = sampling.rate;
  Part part;
  part.failure = rate * body.failure;
  part.attained = body.attained && sampling.poisson;
  part.theorem = sampling.poisson ? "Poisson sampling: the pairs ((1-s)Q + sP, Q) and (P, (1-s)P + sQ)"
                                  : "sampling without replacement: the amplified profile, made symmetric, is a dominating pair";
  part.reference = "Zhu2022";
  part.conditions = {sampling.poisson ? "add-remove" : "replace-one", "rate " + about(rate)};
  if (!gaussian && body.canonical.empty() && body.laplace.empty()) {  // nothing is revealed
    part.removed = gaussian_loss(0);
    return part;
  }
  if (sampling.poisson) {
    const auto noise = [&](const Real& q, Direction direction) {
      return gaussian ? sampled_gaussian_loss(sqrt(body.squared_mu), q, direction) : sampled_laplace_loss(body.laplace.front().first, q, direction);
    };
    if (mixed) {
      part.removed = sampled_beside_atoms(plan, body, rate, Direction::remove, noise);
      part.added = sampled_beside_atoms(plan, body, rate, Direction::add, noise);
      part.conditions.emplace_back("the steps of known ε first, each outcome changing the odds of the record");
    } else if (gaussian || one_laplace) {
      part.removed = noise(rate, Direction::remove);
      part.added = noise(rate, Direction::add);
    } else {
      const std::vector<Atom> atoms = atoms_of(plan, body);
      part.removed = sampled_atoms_loss(atoms, rate, Direction::remove);
      part.added = sampled_atoms_loss(atoms, rate, Direction::add);
    }
    return part;
  }
  if (gaussian) {
    part.removed = replaced_gaussian_loss(sqrt(body.squared_mu), rate);
  } else if (!body.canonical.empty()) {
    std::vector<MirroredAtom> atoms;
    for (const Atom& atom : atoms_of(plan, body)) {
      if (!(atom.loss.estimate() > 0) || atom.loss.lower() <= 0) continue;
      const Real u = log1p(rate * expm1(atom.loss));
      atoms.push_back({u, atom.mass * exp(u / 2)});
    }
    part.removed = mirrored_loss(atoms, atoms.size() == 1 ? std::optional<Lattice>(spaced(atoms.front().loss, 1)) : std::nullopt);
  } else {
    part.removed = replaced_laplace_loss(body.laplace.front().first, rate);
  }
  return part;
}

Part part_of(const Plan& leaf, std::int64_t k, Side side) {
  if (leaf.as<Parallel>() != nullptr) {
    refuse(leaf, "has parts none of which is plainly the dearest at every epsilon: their worst is no pair that is composed here; use --by rdp");
  }
  if (const auto sampling = detail::sampling_of(leaf)) {
    if (k > 1) refuse(leaf, "stands in a group: no pair is proved for several units in one sample; the group's conversion is applied to the total");
    if (sampling->rate.lower() >= 1) refuse(leaf, "samples everything: leave the sampling out");
    return sampled_part(leaf, *sampling);
  }
  if (leaf.as<Laplace>() != nullptr) return same(laplace_loss(*detail::pure_epsilon(leaf, k)), "Laplace noise", "Balle2018b");
  if (const auto* c = leaf.as<Catastrophe>(); c != nullptr && k == 1) {
    Part part = same(laplace_loss(*detail::pure_epsilon(leaf, 1)), "Laplace noise, or everything with probability δ", "Dwork2014");
    part.failure = detail::own_delta(leaf, 1);
    return part;
  }
  if (const auto* r = leaf.as<RandomizedResponse>(); r != nullptr && k == 1) {
    const ResponseProbabilities response = response_probabilities(reading(r->p), count(r->k));
    const Real epsilon = response_epsilon(response);
    if (count(r->k) == 2) return same(response_loss(epsilon), "binary randomized response", "Kairouz2015");
    const std::vector<MirroredAtom> atoms{{epsilon, sqrt(response.truth * response.other)}};
    return same(mirrored_loss(atoms, spaced(epsilon, 1)), "randomized response over k values", "Kairouz2015");
  }
  if (const auto* e = leaf.as<Exponential>(); e != nullptr) {
    Part part = same(exponential_loss(*detail::pure_epsilon(leaf, k)), "exponential mechanism: the pair of its worst profile", "Dong2020");
    part.attained = false;
    return part;
  }
  if (const auto* l = leaf.as<DiscreteLaplace>()) {
    const std::int64_t d = detail::times(k, l->sensitivity);
    if (d > 20000) refuse(leaf, "has a sensitivity too large for its losses to be listed: use --by rdp");
    return same(discrete_laplace_loss(reading(l->b), d), "discrete Laplace noise, from its pmf", "Canonne2020");
  }
  if (const auto* g = leaf.as<DiscreteGaussian>()) {
    return same(discrete_gaussian_loss(reading(g->sigma), detail::times(k, g->sensitivity)), "discrete Gaussian noise, from its pmf", "Canonne2020");
  }
  if (const auto epsilon = detail::pure_epsilon(leaf, k); epsilon && (leaf.as<Pure>() != nullptr || leaf.as<Approx>() != nullptr || k > 1)) {
    Part part = same(response_loss(*epsilon), "(ε, δ)-DP: randomized response, with an atom δ at infinity, dominates", "Kairouz2015");
    part.failure = detail::own_delta(leaf, k);
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

// The steps of a plan, parts in parallel replaced by the dearest of them where there is one.
std::vector<Step> steps_with_dearest(const Plan& plan, Derivation& why) {
  std::vector<Step> steps;
  for (const Step& step : steps_of(plan, GaussianLine::exact)) {
    const auto* parallel = step.plan.as<Parallel>();
    const auto dearest = parallel == nullptr ? std::nullopt : detail::dearest_part(*parallel);
    if (!dearest) {
      steps.push_back(step);
      continue;
    }
    why.conditions.push_back("a record is in one part of those in parallel; the dearest is " + print(*dearest));
    for (Step& inner : steps_with_dearest(*dearest, why)) {
      inner.count = detail::times(inner.count, static_cast<double>(step.count));
      steps.push_back(std::move(inner));
    }
  }
  return steps;
}

}  // namespace

PlanLoss loss_of(const Plan& plan, Side side) {
  PlanLoss result;
  result.derivation = {print(plan), "independent privacy losses: their transforms multiply", "Zhu2022", {}, "the whole curve δ(ε)", {}};
  std::vector<LossStep> added;
  bool two_sided = false;
  Real squared_mu = 0;
  for (const Step& step : steps_with_dearest(plan, result.derivation)) {
    const auto* group = step.plan.as<Group>();
    const Plan& leaf = group == nullptr ? step.plan : group->plan;
    const std::int64_t k = group == nullptr ? 1 : count(group->size);
    const auto times = static_cast<double>(step.count);
    if (const auto mu = detail::gaussian_mu(leaf, k)) {
      squared_mu += real(step.count) * square(*mu);
      continue;
    }
    if (side == Side::lower && k == 1) {  // a Gaussian satisfies zcdp(ρ) and tcdp(ρ, ω) with equality
      if (const auto* z = leaf.as<Zcdp>()) squared_mu += real(step.count) * 2 * reading(z->rho);
      if (const auto* t = leaf.as<Tcdp>()) squared_mu += real(step.count) * 2 * reading(t->rho);
    }
    if (const auto epsilon = detail::pure_epsilon(leaf, k); epsilon && epsilon->upper() == 0) {
      result.failure = either(result.failure, failures(detail::own_delta(leaf, k), step.count));
      continue;  // nothing else is revealed
    }
    Part part;
    try {
      part = part_of(leaf, k, side);
    } catch (const OutsideConditions&) {
      if (side == Side::upper) throw;
    }
    if (side == Side::lower && (part.removed == nullptr || !part.attained)) {
      result.attained = false;
      continue;
    }
    result.attained = result.attained && part.attained;
    result.failure = either(result.failure, failures(part.failure, step.count));
    result.removed.push_back({part.removed, times});
    added.push_back({part.added == nullptr ? part.removed : part.added, times});
    two_sided = two_sided || part.added != nullptr;
    const std::string repeated = step.count == 1 ? "" : std::to_string(step.count) + " steps";
    if (!repeated.empty()) part.conditions.push_back(repeated);
    result.derivation.premises.push_back({print(step.plan), part.theorem, part.reference, part.conditions, "its privacy loss", {}});
  }
  if (squared_mu.upper() > 0) {
    const LossPtr loss = gaussian_loss(squared_mu);
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

Bound composed_delta(const PlanLoss& loss, Bound epsilon, const Precision& precision) {
  Bound worst{0, 0};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    // the second direction is mostly below the first: a quick bound shows it
    if (worst.lower > 0 && surely_below(*steps, epsilon.lower, worst.lower)) continue;
    const Bound one = composed_delta(*steps, epsilon, precision);
    worst = {std::max(worst.lower, one.lower), std::max(worst.upper, one.upper)};
  }
  return {std::max(0.0, either(loss.failure, worst.lower).lower()), std::min(1.0, either(loss.failure, worst.upper).upper())};
}

Bound composed_epsilon(const PlanLoss& loss, Bound delta, const Precision& precision) {
  // δ = 1 - (1 - failure)(1 - rest)
  const bool fails = loss.failure.upper() > 0;
  if (loss.failure.lower() > delta.upper) return {infinity, infinity};
  const auto rest = [&](double total) { return fails ? (Real(total) - loss.failure) / (1 - loss.failure) : Real(total); };
  const Bound left{rest(delta.lower).lower(), rest(delta.upper).upper()};
  Bound worst{0, 0};
  for (const auto* steps : {&loss.removed, &loss.added}) {
    if (steps->empty()) continue;
    if (worst.lower > 0 && left.lower > 0 && surely_below(*steps, worst.lower, left.lower)) continue;
    Bound one{0, 0};
    if (left.lower > 0) {
      one = composed_epsilon(*steps, left, precision);
    } else {
      one = {left.upper > 0 ? composed_epsilon(*steps, Bound{left.upper, left.upper}, precision).lower : 0, infinity};
    }
    worst = {std::max(worst.lower, one.lower), std::max(worst.upper, one.upper)};
  }
  if (!(left.lower > 0) && fails) worst.upper = infinity;
  return worst;
}

}  // namespace sotto
