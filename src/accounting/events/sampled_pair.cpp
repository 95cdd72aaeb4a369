// Dominating pairs of subsampled mechanisms [Zhu2022]: Poisson sampling, and sampling without
// replacement.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "accounting/api/composition.hpp"
#include "accounting/events/dominating_pairs.hpp"
#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {

void refuse(const Plan& plan, const std::string& why, Remedy remedy) {
  const std::string text = print(plan);
  throw OutsideConditions((text.size() <= 80 ? text : text.substr(0, 77) + "...") + " " + why,
                          remedy);
}

namespace {

using Repeated = std::pair<Real, std::int64_t>;  // the ε of a step, and the number of such steps

// Equal steps with a symmetric pair on a lattice.
struct RepeatedLattice {
  LatticeBase base;
  std::int64_t times;
  std::optional<ApproximateDP> canonical;  // of one step, if it is (ε, δ)-DP at no choice of δ

  // The number of losses of all steps together.
  [[nodiscard]] double losses() const {
    return static_cast<double>(times) * (static_cast<double>(base.masses.size()) - 1) + 1;
  }
};

// The steps that run on one sample, by the form of their pairs: one merged Gaussian, Laplace noise,
// pairs on lattices, and canonical (ε, δ)-DP pairs.
struct Body {
  Real squared_mu = 0;
  std::vector<Repeated> canonical;
  std::vector<Repeated> laplace;
  std::vector<RepeatedLattice> lattices;
  Real failure = 0;
  // On the lower side, the probability of an outcome that reveals nothing, which replaces the
  // truncated outcomes of lattices.
  Real blank = 0;
  bool attained = true;

  [[nodiscard]] bool gaussian() const { return squared_mu.upper() > 0; }
  [[nodiscard]] std::int64_t laplaces() const {
    std::int64_t sum = 0;
    for (const auto& [x, times] : laplace) sum += times;
    return sum;
  }
  // The number of sums of losses of lattices and canonical steps.
  [[nodiscard]] double atoms() const {
    double product = 1;
    for (const auto& [epsilon, times] : canonical) product *= static_cast<double>(times) + 1;
    for (const RepeatedLattice& lattice : lattices) product *= lattice.losses();
    return product;
  }
  // The largest loss of all steps except the Gaussian one.
  [[nodiscard]] Real bounded() const {
    Real sum = 0;
    for (const auto* steps : {&laplace, &canonical}) {
      for (const auto& [epsilon, times] : *steps) sum += real(times) * epsilon;
    }
    for (const RepeatedLattice& lattice : lattices)
      sum += Real(lattice.losses() - 1) / 2 * lattice.base.spacing;
    return sum;
  }
};

// A leaf with a negligible ε. On the upper side randomized response with its ε dominates it.
void add_negligible(Body& body, const Event& event, const Real& epsilon, bool attained, Side side) {
  if (side == Side::upper || attained)
    body.failure = either_failure(body.failure, any_failure(event.leaf->delta(), event.count));
  if (side == Side::upper) body.attained = body.attained && attained && epsilon.upper() == 0;
  if (side == Side::upper && epsilon.upper() > 0)
    body.canonical.emplace_back(max(real(event.count) * epsilon, negligible_loss), 1);
}

// A leaf with losses on a lattice. Outcomes off the lattice are failures on the upper side, and
// blanks on the lower side.
void add_lattice(Body& body, const Event& event, const LatticeBase& lattice, Side side) {
  std::optional<ApproximateDP> own;
  if (const auto epsilon = event.leaf->pure_epsilon(1))
    own = ApproximateDP{*epsilon, event.leaf->delta()};
  body.lattices.push_back({lattice, event.count, own});
  const Real truncated = any_failure(lattice.truncated, event.count);
  if (side == Side::upper) {
    body.failure = either_failure(body.failure, truncated);
    body.attained = body.attained && lattice.truncated == 0;
  } else {
    body.blank = either_failure(body.blank, truncated);
  }
}

void add_event(Body& body, const Event& event, const Plan& sampled, Side side) {
  const std::optional<Real> own_epsilon =
      event.leaf == nullptr ? std::nullopt : event.leaf->pure_epsilon(1);
  if (own_epsilon && !(own_epsilon->upper() < std::numeric_limits<double>::infinity())) {
    refuse(sampled, "samples a mechanism with a loss beyond the largest double");
  }
  const Base base = event.leaf == nullptr ? NoBase{} : event.leaf->base();
  const auto* canonical = std::get_if<CanonicalBase>(&base);
  if (const auto* gaussian = std::get_if<GaussianBase>(&base)) {
    body.squared_mu += real(event.count) * gaussian->squared_mu;
  } else if (own_epsilon && own_epsilon->upper() < negligible_loss) {
    add_negligible(body, event, *own_epsilon, canonical == nullptr || canonical->attained, side);
  } else if (const auto* laplace = std::get_if<LaplaceBase>(&base)) {
    body.laplace.emplace_back(laplace->max_loss, event.count);
  } else if (const auto* lattice = std::get_if<LatticeBase>(&base)) {
    add_lattice(body, event, *lattice, side);
  } else if (side == Side::lower && (canonical == nullptr || !canonical->attained)) {
    return;  // no attained pair is known: the lower side leaves the event out
  } else if (canonical != nullptr && canonical->guarantee.epsilon.upper() < 300) {
    const ApproximateDP& one = canonical->guarantee;
    if (one.epsilon.upper() > 0) body.canonical.emplace_back(one.epsilon, event.count);
    body.failure = either_failure(body.failure, any_failure(one.delta, event.count));
    body.attained = body.attained && canonical->attained;
  } else {
    refuse(sampled,
           "samples a mechanism with no known worst pair (" + print(event.plan) +
               "): use rdp, which needs none",
           Remedy::method);
  }
}

// The steps of the body of a sample.
Body body_of(const Plan& sampled, const Plan& body, Side side) {
  Body result;
  for (const Event& event : events_of(body)) add_event(result, event, sampled, side);

  // A μ below negligible_loss is rounded up on the upper side and left out on the lower side.
  const double least_squared_mu = negligible_loss * negligible_loss;
  if (result.gaussian() && !(result.squared_mu.lower() > least_squared_mu)) {
    result.attained = false;
    result.squared_mu = side == Side::upper ? max(result.squared_mu, least_squared_mu) : Real(0);
  }
  if (!(result.squared_mu.upper() < std::numeric_limits<double>::infinity()))
    refuse(sampled, "samples Gaussian noise with losses beyond the largest double");
  return result;
}

// The masses of the sum of the losses of all steps of a lattice.
std::vector<Real> convolved(const RepeatedLattice& lattice) {
  std::vector<Real> masses = lattice.base.masses;
  for (std::int64_t step = 1; step < lattice.times; ++step) {
    std::vector<Real> next(masses.size() + lattice.base.masses.size() - 1, Real(0));
    for (std::size_t i = 0; i < masses.size(); ++i) {
      for (std::size_t j = 0; j < lattice.base.masses.size(); ++j)
        next[i + j] += masses[i] * lattice.base.masses[j];
    }
    masses = std::move(next);
  }
  return masses;
}

// Returns the distribution of the sum of an atom's loss and an independent lattice loss.
std::vector<Atom> with_lattice(const std::vector<Atom>& atoms, const RepeatedLattice& lattice) {
  const std::vector<Real> masses = convolved(lattice);
  std::vector<Atom> result;
  for (const Atom& atom : atoms) {
    for (std::size_t i = 0; i < masses.size(); ++i) {
      const double places = static_cast<double>(i) - (static_cast<double>(masses.size()) - 1) / 2;
      result.push_back({atom.loss + places * lattice.base.spacing, atom.mass * masses[i]});
    }
  }
  return result;
}

// Adds the losses ±ε of `times` steps of randomized response to each atom.
std::vector<Atom> with_responses(std::vector<Atom> atoms, const Real& epsilon, std::int64_t times) {
  const Real rise = 1 / (1 + exp(epsilon));   // Q's mass on +ε
  const Real fall = 1 / (1 + exp(-epsilon));  // Q's mass on -ε
  for (std::int64_t step = 0; step < times; ++step) {
    std::vector<Atom> next;
    if (step == 0) {
      for (const Atom& atom : atoms) {
        next.push_back({atom.loss - epsilon, atom.mass * fall});
        next.push_back({atom.loss + epsilon, atom.mass * rise});
      }
    } else {
      // The sums after n equal steps are start + (2j - n)ε, so merging keeps n + 1 atoms for each
      // start.
      const std::size_t each = static_cast<std::size_t>(step) + 1;
      for (std::size_t first = 0; first < atoms.size(); first += each) {
        for (std::size_t j = 0; j <= each; ++j) {
          Real mass = 0;
          if (j < each) mass += atoms[first + j].mass * fall;
          if (j > 0) mass += atoms[first + j - 1].mass * rise;
          next.push_back(
              {j < each ? atoms[first + j].loss - epsilon : atoms[first + j - 1].loss + epsilon,
               mass});
        }
      }
    }
    atoms = std::move(next);
  }
  return atoms;
}

// All sums of the losses of lattices and canonical steps, with their masses under Q. On the lower
// side a blank outcome of loss 0 replaces the truncated ones with probability body.blank, whatever
// the input. That is a post-processing, so the pair is attained.
std::vector<Atom> atoms_of(const Body& body) {
  std::vector<Atom> atoms{{0, 1 - body.blank}};
  for (const RepeatedLattice& lattice : body.lattices) atoms = with_lattice(atoms, lattice);
  for (const auto& [epsilon, times] : body.canonical)
    atoms = with_responses(std::move(atoms), epsilon, times);
  if (body.blank.upper() > 0) atoms.push_back({0, body.blank});
  return atoms;
}

// The largest number of sums of losses that are listed as atoms.
constexpr double most_atoms = 4096;

// The losses of the body, one for each kind of step.
std::vector<LossStep> losses_of(const Body& body) {
  std::vector<LossStep> losses;
  if (body.gaussian()) losses.push_back({gaussian_loss(body.squared_mu), 1});
  for (const auto& [x, times] : body.laplace)
    losses.push_back({laplace_loss(x), static_cast<double>(times)});
  for (const auto& [epsilon, times] : body.canonical)
    losses.push_back({response_loss(epsilon), static_cast<double>(times)});
  return losses;
}

// Records that the pair is a discretised product.
void mark_as_product(Proved<DominatingPair>& result) {
  result.value.discretized = true;
  result.conditions.emplace_back(
      "several mechanisms on one sample: the discretised product of their pairs");
}

[[noreturn]] void refuse_product(const Plan& plan) {
  refuse(plan,
         "has several mechanisms on one sample, too many or with losses too large for a grid of "
         "their joint loss: use rdp",
         Remedy::method);
}

[[noreturn]] void refuse_lattice(const Plan& plan) {
  refuse(plan,
         "has discrete noise together with other steps on one sample, or too much of it for its "
         "losses to be listed: use rdp",
         Remedy::method);
}

// Whether the losses on lattices can be listed as atoms. They cannot if the body has continuous
// noise.
bool lists_lattices(const Body& body) {
  return !body.gaussian() && body.laplace.empty() && body.atoms() <= most_atoms;
}

// Replaces lattices that cannot be listed by canonical steps on the upper side. The lower side
// leaves them out, which cannot cost more.
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

// The pair under Poisson sampling: of one Gaussian, of one Laplace, of atoms only, or of the
// discretised product of several kinds of steps.
PoissonPair poisson_pair(const Plan& plan, const Body& body, const Real& rate, Side side,
                         Proved<DominatingPair>& result) {
  const auto both = [](const auto& one) {
    return PoissonPair{one(Direction::remove), one(Direction::add)};
  };
  const std::int64_t laplaces = body.laplaces();
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 0) {
    return both([&](Direction direction) {
      return poisson_gaussian_loss(sqrt_of_nonnegative(body.squared_mu), rate, direction);
    });
  }
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 1 && !body.gaussian()) {
    return both([&](Direction direction) {
      return poisson_laplace_loss(body.laplace.front().first, rate, direction);
    });
  }
  if (!body.gaussian() && laplaces == 0 && body.atoms() <= most_atoms) {
    const std::vector<Atom> atoms = atoms_of(body);
    return both([&](Direction direction) { return poisson_atoms_loss(atoms, rate, direction); });
  }
  const auto pair = poisson_product_losses(losses_of(body), rate, side);
  if (!pair) refuse_product(plan);
  result.value.attained =
      side == Side::lower;  // the upper and the lower side have different losses
  mark_as_product(result);
  return *pair;
}

// The loss under sampling without replacement: of the symmetric pair that has the amplified
// profile.
PrivacyLossPtr without_replacement_loss(const Plan& plan, const Body& body, const Real& rate,
                                        Proved<DominatingPair>& result) {
  const std::int64_t laplaces = body.laplaces();
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 0)
    return without_replacement_gaussian_loss(sqrt_of_nonnegative(body.squared_mu), rate);
  if (body.canonical.empty() && body.lattices.empty() && laplaces == 1 && !body.gaussian())
    return without_replacement_laplace_loss(body.laplace.front().first, rate);
  if (laplaces > 0 || body.gaussian() || body.atoms() > most_atoms) {
    const auto truncated = without_replacement_product_loss(losses_of(body), rate);
    if (!truncated) refuse_product(plan);
    result.value.failure = either_failure(result.value.failure, truncated->failure);
    mark_as_product(result);
    return truncated->loss;
  }
  std::vector<SymmetricAtom> atoms;
  for (const Atom& atom : atoms_of(body)) {
    if (!std::isfinite(atom.loss.upper())) refuse_product(plan);
    if (!(atom.loss.estimate() > 0) || atom.loss.lower() <= 0) continue;
    const Real u = log1p(rate * expm1(atom.loss));
    atoms.push_back({u, atom.mass * exp(u / 2)});
  }
  return symmetric_atoms_loss(atoms, atoms.size() == 1
                                         ? std::optional<Lattice>(spaced(atoms.front().loss, 1))
                                         : std::nullopt);
}

}  // namespace

Proved<DominatingPair> sampled_pair(const Plan& plan, const Sampling& sampling, Side side) {
  const Body body = with_listed_lattices(plan, body_of(plan, sampling.body, side), side);
  const Real& rate = sampling.rate;
  Proved<DominatingPair> result{
      {.removed = nullptr,
       .added = nullptr,
       .failure = rate * body.failure,
       .attained = body.attained && sampling.poisson},
      sampling.poisson ? "Poisson sampling: the pairs ((1-s)Q + sP, Q) and (P, (1-s)P + sQ)"
                       : "sampling without replacement: the amplified profile, made symmetric, is "
                         "a dominating pair",
      "Zhu2022",
      {sampling.poisson ? "add-remove" : "replace-one", "rate " + rounded_to_nearest(rate)}};
  if (!body.gaussian() && body.bounded().upper() == 0) {  // the sample reveals nothing
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
