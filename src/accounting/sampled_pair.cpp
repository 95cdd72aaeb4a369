#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "dominating_pairs.hpp"
#include "leaves/description.hpp"
#include "sotto/accounting/composition.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {

void refuse(const Plan& plan, const std::string& why) {
  const std::string text = print(plan);
  throw OutsideConditions((text.size() <= 80 ? text : text.substr(0, 77) + "...") + " " + why);
}

namespace {

using Repeated = std::pair<Real, std::int64_t>;  // an ε, and how often

// A symmetric pair on a lattice, and how often.
struct RepeatedLattice {
  LatticeBase base;
  std::int64_t times;
  std::optional<ApproximateDP> canonical;  // that dominates it, if it is (ε, δ)-DP by itself

  [[nodiscard]] double losses() const { return static_cast<double>(times) * (static_cast<double>(base.masses.size()) - 1) + 1; }
};

// The steps inside a sample: Gaussians merged, pairs on lattices, and everything else as (ε, δ)-DP canonical steps.
struct Body {
  Real squared_mu = 0;
  std::vector<Repeated> canonical;
  std::vector<Repeated> laplace;
  std::vector<RepeatedLattice> lattices;
  Real failure = 0;
  Real blank = 0;  // on the lower side, the probability of an outcome that tells nothing, in place of those that lattices leave out
  bool attained = true;

  [[nodiscard]] bool gaussian() const { return squared_mu.upper() > 0; }
  [[nodiscard]] std::int64_t laplaces() const {
    std::int64_t sum = 0;
    for (const auto& [x, times] : laplace) sum += times;
    return sum;
  }
  // How many sums of losses all but the noise has.
  [[nodiscard]] double atoms() const {
    double product = 1;
    for (const auto& [epsilon, times] : canonical) product *= static_cast<double>(times) + 1;
    for (const RepeatedLattice& lattice : lattices) product *= lattice.losses();
    return product;
  }
  // The largest loss, but for the Gaussian's.
  [[nodiscard]] Real bounded() const {
    Real sum = 0;
    for (const auto* steps : {&laplace, &canonical}) {
      for (const auto& [epsilon, times] : *steps) sum += real(times) * epsilon;
    }
    for (const RepeatedLattice& lattice : lattices) sum += Real(lattice.losses() - 1) / 2 * lattice.base.spacing;
    return sum;
  }
};

Body body_of(const Plan& sampled, const Plan& body, Side side) {
  Body result;
  for (const Event& event : events_of(body)) {
    if (event.leaf != nullptr) {
      const auto epsilon = event.leaf->pure_epsilon(1);
      if (epsilon && !(epsilon->upper() < std::numeric_limits<double>::infinity()))
        refuse(sampled, "samples a mechanism with a loss beyond the largest double");
    }
    const Base base = event.leaf == nullptr ? NoBase{} : event.leaf->base();
    const auto* canonical = std::get_if<CanonicalBase>(&base);
    if (const auto* gaussian = std::get_if<GaussianBase>(&base)) {
      result.squared_mu += real(event.count) * gaussian->squared_mu;
    } else if (const auto* laplace = std::get_if<LaplaceBase>(&base)) {
      result.laplace.emplace_back(laplace->max_loss, event.count);
    } else if (const auto* lattice = std::get_if<LatticeBase>(&base)) {
      std::optional<ApproximateDP> own;
      if (const auto epsilon = event.leaf->pure_epsilon(1)) own = ApproximateDP{*epsilon, event.leaf->delta()};
      result.lattices.push_back({*lattice, event.count, own});
      const Real truncated = failures(lattice->truncated, event.count);
      if (side == Side::upper) {
        result.failure = either(result.failure, truncated);
        result.attained = result.attained && lattice->truncated == 0;
      } else {
        result.blank = either(result.blank, truncated);
      }
    } else if (side == Side::lower && (canonical == nullptr || !canonical->attained)) {
      continue;
    } else if (canonical != nullptr && canonical->guarantee.epsilon.upper() < 300) {
      const ApproximateDP& one = canonical->guarantee;
      if (one.epsilon.upper() > 0) result.canonical.emplace_back(one.epsilon, event.count);
      result.failure = either(result.failure, failures(one.delta, event.count));
      result.attained = result.attained && canonical->attained;
    } else {
      refuse(sampled, "samples a mechanism with no known worst pair (" + print(event.plan) + "): use --by rdp, which needs none");
    }
  }
  if (!(result.squared_mu.upper() < std::numeric_limits<double>::infinity()))
    refuse(sampled, "samples Gaussian noise with losses beyond the largest double");
  return result;
}

// The masses of the sum of so many losses on one lattice.
std::vector<Real> convolved(const RepeatedLattice& lattice) {
  std::vector<Real> masses = lattice.base.masses;
  for (std::int64_t step = 1; step < lattice.times; ++step) {
    std::vector<Real> next(masses.size() + lattice.base.masses.size() - 1, Real(0));
    for (std::size_t i = 0; i < masses.size(); ++i) {
      for (std::size_t j = 0; j < lattice.base.masses.size(); ++j) next[i + j] += masses[i] * lattice.base.masses[j];
    }
    masses = std::move(next);
  }
  return masses;
}

// All sums of losses but the noise's, with their masses under Q. An outcome may be replaced by a blank with a probability of its own, so
// that blanks are as likely as stated where lattices leave out no more: a post-processing, of loss 0.
std::vector<Atom> atoms_of(const Body& body) {
  std::vector<Atom> atoms{{0, 1 - body.blank}};
  for (const RepeatedLattice& lattice : body.lattices) {
    const std::vector<Real> masses = convolved(lattice);
    std::vector<Atom> next;
    for (const Atom& atom : atoms) {
      for (std::size_t i = 0; i < masses.size(); ++i) {
        const double places = static_cast<double>(i) - (static_cast<double>(masses.size()) - 1) / 2;
        next.push_back({atom.loss + places * lattice.base.spacing, atom.mass * masses[i]});
      }
    }
    atoms = std::move(next);
  }
  for (const auto& [epsilon, times] : body.canonical) {
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
  if (body.blank.upper() > 0) atoms.push_back({0, body.blank});
  return atoms;
}

// What lists of sums may hold: alone, and beside one Laplace or Gaussian.
constexpr double most_atoms = 4096;
constexpr double most_beside_noise = 32;
// The least μ whose density beside losses up to 1 is computed, and what a smaller one is raised to.
constexpr double least_mu = 1.0 / 300;
constexpr double raised_mu = 1.0 / 200;
// The largest μ, and the largest loss beside it, of a joint density: beyond, a step is worth nothing, and the density is not computed.
constexpr double most_mu = 30;
constexpr double most_rest = 60;
constexpr double least_squared_mu = 1e-60;

// Noise beside steps of known ε on one sample. 1 - q + q e^(l+ℓ) = w (1 - q' + q' e^ℓ) with w = 1 - q + q e^l and q' = q e^l / w: an
// outcome of loss l moves the odds that the record was drawn, and the noise is sampled at the new rate. Null where some q' is all but 1.
template <class Noise>
PrivacyLossPtr sampled_beside_atoms(const Body& body, const Real& rate, Direction direction, Noise noise) {
  std::vector<Branch> branches;
  for (const Atom& atom : atoms_of(body)) {
    const Real odds = rate * exp(atom.loss);
    const Real w = 1 + rate * expm1(atom.loss);
    const Real moved = odds / w;
    if (!(moved.upper() < 1 - 0x1p-30)) return nullptr;
    const Real v = log1p(rate * expm1(atom.loss));
    const bool removed = direction == Direction::remove;
    branches.push_back({removed ? atom.mass * w : atom.mass, removed ? v : -v, noise(moved, direction)});
  }
  return branched_loss(branches);
}

// The steps on a sample that listed sums can handle.
std::optional<PoissonPair> listed(const Body& body, const Real& rate, Proved<DominatingPair>& result) {
  const std::int64_t laplaces = body.laplaces();
  const auto both = [](const auto& one) { return PoissonPair{one(Direction::remove), one(Direction::add)}; };
  if (!body.gaussian() && laplaces == 0) {
    if (body.atoms() > most_atoms) return std::nullopt;
    const std::vector<Atom> atoms = atoms_of(body);
    return both([&](Direction direction) { return poisson_atoms_loss(atoms, rate, direction); });
  }
  if (!body.gaussian() && (laplaces > 1 || body.atoms() > most_beside_noise)) {
    if (!body.lattices.empty()) return std::nullopt;
    std::vector<SumStep> steps;
    for (const auto& [x, times] : body.laplace) steps.push_back({x, true, times});
    for (const auto& [epsilon, times] : body.canonical) steps.push_back({epsilon, false, times});
    const auto pair = poisson_sum_losses(steps, rate);
    if (pair) result.conditions.emplace_back("several Laplace steps on one sample: the distribution of their joint loss");
    return pair;
  }
  if (body.gaussian() && (laplaces > 0 || body.atoms() > most_beside_noise)) return std::nullopt;
  const auto noise = [&](const Real& q, Direction direction) {
    return body.gaussian() ? poisson_gaussian_loss(sqrt(body.squared_mu), q, direction)
                           : poisson_laplace_loss(body.laplace.front().first, q, direction);
  };
  if (body.atoms() == 1) return both([&](Direction direction) { return noise(rate, direction); });
  const PoissonPair pair = both([&](Direction direction) { return sampled_beside_atoms(body, rate, direction, noise); });
  if (pair.removed == nullptr) return std::nullopt;
  result.conditions.emplace_back("the steps of known ε first, each outcome changing the odds of the record");
  return pair;
}

// What is on the sample beside Gaussian noise.
std::vector<LossStep> rest_of(const Body& body) {
  std::vector<LossStep> rest;
  for (const auto& [x, times] : body.laplace) rest.push_back({laplace_loss(x), static_cast<double>(times)});
  for (const auto& [epsilon, times] : body.canonical) rest.push_back({response_loss(epsilon), static_cast<double>(times)});
  return rest;
}

bool is_computed(const Body& body, const Real& squared_mu) {
  return body.squared_mu.upper() <= most_mu * most_mu && body.bounded().upper() <= most_rest && squared_mu.lower() >= least_squared_mu;
}

// The μ² of the Gaussian with which the joint density is computed: the body's own, or more, which can only cost more.
Real joint_squared_mu(const Plan& plan, const Body& body, Proved<DominatingPair>& result) {
  const bool exact = certainly_at_most(square(least_mu * body.bounded()), body.squared_mu);
  const Real found = exact ? body.squared_mu : max(body.squared_mu, square(raised_mu * body.bounded()));
  if (!is_computed(body, found)) {
    refuse(plan,
           "has several kinds of steps on one sample, and losses so large, or so small, that their joint density is not computed: use --by rdp");
  }
  if (!exact) {
    result.value.attained = false;
    result.conditions.emplace_back("a small Gaussian step added to the sample, which can only cost more");
  }
  return found;
}

// Less than the body, of what can be listed: the largest Laplace steps, or the largest steps of known ε.
Body lessened(const Body& body) {
  const auto by_size = [](const Repeated& a, const Repeated& b) { return a.first.estimate() > b.first.estimate(); };
  Body less;
  if (body.laplace.empty()) {
    less.canonical.push_back(*std::min_element(body.canonical.begin(), body.canonical.end(), by_size));
    less.canonical.front().second = std::min<std::int64_t>(less.canonical.front().second, 1000);
    return less;
  }
  std::vector<Repeated> sorted = body.laplace;
  std::sort(sorted.begin(), sorted.end(), by_size);
  std::int64_t left = 6;
  for (const auto& [x, times] : sorted) {
    if (left > 0) less.laplace.emplace_back(x, std::min(times, left));
    left -= times;
  }
  return less;
}

[[noreturn]] void refuse_lattice(const Plan& plan) {
  refuse(plan, "has discrete noise beside other steps on one sample, or too much of it for its losses to be listed: use --by rdp");
}

// Whether the losses on lattices can be listed, with what else is on the sample.
bool lists_lattices(const Body& body, const Sampling& sampling) {
  if (!body.gaussian() && body.laplace.empty()) return body.atoms() <= most_atoms;
  return sampling.poisson && body.laplaces() + (body.gaussian() ? 1 : 0) == 1 && body.atoms() <= most_beside_noise;
}

// The body without lattices that cannot be listed: on the upper side as canonical steps, on the lower side left out, which cannot cost more.
Body with_listed_lattices(const Plan& plan, Body body, const Sampling& sampling, Side side) {
  if (body.lattices.empty() || lists_lattices(body, sampling)) return body;
  for (const RepeatedLattice& lattice : body.lattices) {
    if (side == Side::lower) continue;
    if (!lattice.canonical || !(lattice.canonical->epsilon.upper() < 300)) refuse_lattice(plan);
    body.canonical.emplace_back(lattice.canonical->epsilon, lattice.times);
    body.attained = false;
  }
  body.lattices.clear();
  body.blank = 0;
  return body;
}

PoissonPair poisson_pair(const Plan& plan, const Body& body, const Real& rate, Side side, Proved<DominatingPair>& result) {
  if (!body.lattices.empty()) {
    if (const auto pair = listed(body, rate, result)) return *pair;
    refuse_lattice(plan);
  }
  const bool exact = certainly_at_most(square(least_mu * body.bounded()), body.squared_mu);
  const bool joint = body.gaussian() && body.bounded().upper() > 0 && exact && is_computed(body, body.squared_mu);
  if (!joint) {
    if (const auto pair = listed(body, rate, result)) return *pair;
  }
  if (side == Side::lower && !exact) {
    if (const auto pair = listed(lessened(body), rate, result)) return *pair;
    refuse(plan, "has several kinds of steps on one sample, of which no smaller one is known from below");
  }
  const Real squared_mu = joint_squared_mu(plan, body, result);
  result.conditions.emplace_back("Gaussian noise beside other steps on one sample: the density of their joint loss");
  return poisson_joint_losses(squared_mu, rest_of(body), rate);
}

// Without replacement: the pair of the amplified profile, made symmetric.
PrivacyLossPtr replaced_loss(const Plan& plan, const Body& body, const Real& rate, Proved<DominatingPair>& result) {
  const std::int64_t laplaces = body.laplaces();
  if (body.bounded().upper() == 0) return without_replacement_gaussian_loss(sqrt(body.squared_mu), rate);
  if (body.canonical.empty() && laplaces == 1 && !body.gaussian()) return without_replacement_laplace_loss(body.laplace.front().first, rate);
  if (laplaces > 0 || body.gaussian() || body.atoms() > most_atoms) {
    result.conditions.emplace_back("several kinds of steps on one sample: the density of their joint loss");
    return without_replacement_joint_loss(joint_squared_mu(plan, body, result), rest_of(body), rate);
  }
  std::vector<SymmetricAtom> atoms;
  for (const Atom& atom : atoms_of(body)) {
    if (!(atom.loss.estimate() > 0) || atom.loss.lower() <= 0) continue;
    const Real u = log1p(rate * expm1(atom.loss));
    atoms.push_back({u, atom.mass * exp(u / 2)});
  }
  return symmetric_atoms_loss(atoms, atoms.size() == 1 ? std::optional<Lattice>(spaced(atoms.front().loss, 1)) : std::nullopt);
}

}  // namespace

Proved<DominatingPair> sampled_pair(const Plan& plan, const Sampling& sampling, Side side) {
  const Body body = with_listed_lattices(plan, body_of(plan, sampling.body, side), sampling, side);
  const Real& rate = sampling.rate;
  Proved<DominatingPair> result{{.removed = nullptr, .added = nullptr, .failure = rate * body.failure, .attained = body.attained && sampling.poisson},
                                sampling.poisson ? "Poisson sampling: the pairs ((1-s)Q + sP, Q) and (P, (1-s)P + sQ)"
                                                 : "sampling without replacement: the amplified profile, made symmetric, is a dominating pair",
                                "Zhu2022",
                                {sampling.poisson ? "add-remove" : "replace-one", "rate " + about(rate)}};
  if (!body.gaussian() && body.bounded().upper() == 0) {  // nothing is revealed
    result.value.removed = gaussian_loss(0);
  } else if (sampling.poisson) {
    const PoissonPair pair = poisson_pair(plan, body, rate, side, result);
    result.value.removed = pair.removed;
    result.value.added = pair.added;
  } else {
    result.value.removed = replaced_loss(plan, body, rate, result);
  }
  return result;
}

}  // namespace sotto::accounting_detail
