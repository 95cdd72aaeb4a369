#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "accounting/events/dominating_pairs.hpp"
#include "accounting/leaves/description.hpp"
#include "accounting/api/composition.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {

void refuse(const Plan& plan, const std::string& why, Remedy remedy) {
  const std::string text = print(plan);
  throw OutsideConditions((text.size() <= 80 ? text : text.substr(0, 77) + "...") + " " + why, remedy);
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
    const std::optional<Real> own_epsilon = event.leaf == nullptr ? std::nullopt : event.leaf->pure_epsilon(1);
    if (own_epsilon && !(own_epsilon->upper() < std::numeric_limits<double>::infinity())) {
      refuse(sampled, "samples a mechanism with a loss beyond the largest double");
    }
    const Base base = event.leaf == nullptr ? NoBase{} : event.leaf->base();
    const auto* canonical = std::get_if<CanonicalBase>(&base);
    if (const auto* gaussian = std::get_if<GaussianBase>(&base)) {
      result.squared_mu += real(event.count) * gaussian->squared_mu;
    } else if (own_epsilon && own_epsilon->upper() < negligible_loss) {  // reveals next to nothing: any other such mechanism is dominated too
      const bool attained = canonical == nullptr || canonical->attained;
      if (side == Side::upper || attained) result.failure = either(result.failure, failures(event.leaf->delta(), event.count));
      if (side == Side::upper) result.attained = result.attained && attained && own_epsilon->upper() == 0;
      if (side == Side::upper && own_epsilon->upper() > 0) {
        result.canonical.emplace_back(max(real(event.count) * *own_epsilon, negligible_loss), 1);
      }
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
      refuse(sampled, "samples a mechanism with no known worst pair (" + print(event.plan) + "): use rdp, which needs none", Remedy::method);
    }
  }
  const double least_squared_mu = negligible_loss * negligible_loss;
  if (result.gaussian() && !(result.squared_mu.lower() > least_squared_mu)) {
    result.attained = false;
    result.squared_mu = side == Side::upper ? max(result.squared_mu, least_squared_mu) : Real(0);
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

// How many sums of losses may be listed as atoms.
constexpr double most_atoms = 4096;

// What runs on the sample, one loss a kind.
std::vector<LossStep> losses_of(const Body& body) {
  std::vector<LossStep> losses;
  if (body.gaussian()) losses.push_back({gaussian_loss(body.squared_mu), 1});
  for (const auto& [x, times] : body.laplace) losses.push_back({laplace_loss(x), static_cast<double>(times)});
  for (const auto& [epsilon, times] : body.canonical) losses.push_back({response_loss(epsilon), static_cast<double>(times)});
  return losses;
}

void tell_product(Proved<DominatingPair>& result) {
  result.value.discretized = true;
  result.conditions.emplace_back("several mechanisms on one sample: the discretised product of their pairs");
}

[[noreturn]] void refuse_product(const Plan& plan) {
  refuse(plan, "has several mechanisms on one sample, too many or with losses too large for a grid of their joint loss: use rdp", Remedy::method);
}

[[noreturn]] void refuse_lattice(const Plan& plan) {
  refuse(plan, "has discrete noise beside other steps on one sample, or too much of it for its losses to be listed: use rdp", Remedy::method);
}

// Whether the losses on lattices can be listed: with no continuous noise beside them.
bool lists_lattices(const Body& body) { return !body.gaussian() && body.laplace.empty() && body.atoms() <= most_atoms; }

// The body without lattices that cannot be listed: on the upper side as canonical steps, on the lower side left out, which cannot cost more.
Body with_listed_lattices(const Plan& plan, Body body, Side side) {
  if (body.lattices.empty() || lists_lattices(body)) return body;
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

// One Gaussian, one Laplace, atoms alone, or the discretised product of several kinds.
PoissonPair poisson_pair(const Plan& plan, const Body& body, const Real& rate, Side side, Proved<DominatingPair>& result) {
  const auto both = [](const auto& one) { return PoissonPair{one(Direction::remove), one(Direction::add)}; };
  const std::int64_t laplaces = body.laplaces();
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 0) {
    return both([&](Direction direction) { return poisson_gaussian_loss(sqrt_of_nonnegative(body.squared_mu), rate, direction); });
  }
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 1 && !body.gaussian()) {
    return both([&](Direction direction) { return poisson_laplace_loss(body.laplace.front().first, rate, direction); });
  }
  if (!body.gaussian() && laplaces == 0 && body.atoms() <= most_atoms) {
    const std::vector<Atom> atoms = atoms_of(body);
    return both([&](Direction direction) { return poisson_atoms_loss(atoms, rate, direction); });
  }
  const auto pair = poisson_product_losses(losses_of(body), rate, side);
  if (!pair) refuse_product(plan);
  result.value.attained = side == Side::lower;  // the two sides have losses of their own
  tell_product(result);
  return *pair;
}

// Without replacement: the pair of the amplified profile, made symmetric.
PrivacyLossPtr without_replacement_loss(const Plan& plan, const Body& body, const Real& rate, Proved<DominatingPair>& result) {
  const std::int64_t laplaces = body.laplaces();
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 0)
    return without_replacement_gaussian_loss(sqrt_of_nonnegative(body.squared_mu), rate);
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 1 && !body.gaussian())
    return without_replacement_laplace_loss(body.laplace.front().first, rate);
  if (laplaces > 0 || body.gaussian() || body.atoms() > most_atoms) {
    const auto truncated = without_replacement_product_loss(losses_of(body), rate);
    if (!truncated) refuse_product(plan);
    result.value.failure = either(result.value.failure, truncated->failure);
    tell_product(result);
    return truncated->loss;
  }
  std::vector<SymmetricAtom> atoms;
  for (const Atom& atom : atoms_of(body)) {
    if (!std::isfinite(atom.loss.upper())) refuse_product(plan);
    if (!(atom.loss.estimate() > 0) || atom.loss.lower() <= 0) continue;
    const Real u = log1p(rate * expm1(atom.loss));
    atoms.push_back({u, atom.mass * exp(u / 2)});
  }
  return symmetric_atoms_loss(atoms, atoms.size() == 1 ? std::optional<Lattice>(spaced(atoms.front().loss, 1)) : std::nullopt);
}

}  // namespace

Proved<DominatingPair> sampled_pair(const Plan& plan, const Sampling& sampling, Side side) {
  const Body body = with_listed_lattices(plan, body_of(plan, sampling.body, side), side);
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
    result.value.removed = without_replacement_loss(plan, body, rate, result);
  }
  return result;
}

}  // namespace sotto::accounting_detail
