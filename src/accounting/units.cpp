#include "units.hpp"

#include <algorithm>

#include "sotto/core/errors.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/privacy/group.hpp"
#include "sotto/privacy/randomized_response.hpp"

namespace sotto::accounting_detail {

std::int64_t times(std::int64_t k, const Parameter& p) {
  const double product = static_cast<double>(k) * p.value();
  if (product > 0x1p53) throw InvalidValue("the plan's steps, groups or sensitivities multiply to more than 2^53");
  return static_cast<std::int64_t>(product);
}

std::optional<Real> gaussian_mu(const Plan& leaf, std::int64_t k) {
  if (const auto* g = leaf.as<Gaussian>()) return real(k) * reading(g->sensitivity) / reading(g->sigma);
  if (const auto* g = leaf.as<Gdp>()) return real(k) * reading(g->mu);
  return std::nullopt;
}

std::optional<Real> pure_epsilon_of(const Plan& leaf, std::int64_t k, const Real& repeated) {
  const Real n = repeated * real(k);
  if (const auto* l = leaf.as<Laplace>()) return n * reading(l->sensitivity) / reading(l->b);
  if (const auto* l = leaf.as<DiscreteLaplace>()) return n * reading(l->sensitivity) / reading(l->b);
  if (const auto* r = leaf.as<RandomizedResponse>()) return n * response_epsilon(response_probabilities(reading(r->p), count(r->k)));
  if (const auto* e = leaf.as<Exponential>()) return n * reading(e->eps);
  if (const auto* p = leaf.as<Pure>()) return n * reading(p->eps);
  if (const auto* a = leaf.as<Approx>()) return n * reading(a->eps);
  if (const auto* c = leaf.as<Catastrophe>()) return n * reading(c->eps);
  // what reveals nothing
  if (const auto* g = leaf.as<Gdp>(); g != nullptr && g->mu.value() == 0) return 0;
  if (const auto* z = leaf.as<Zcdp>(); z != nullptr && z->rho.value() == 0) return 0;
  if (const auto* t = leaf.as<Tcdp>(); t != nullptr && t->rho.value() == 0) return 0;
  if (const auto* r = leaf.as<Rdp>(); r != nullptr && r->eps.value() == 0) return 0;
  return std::nullopt;
}

std::optional<Real> pure_epsilon(const Plan& leaf, std::int64_t k) { return pure_epsilon_of(leaf, k, 1); }

std::optional<Sampling> sampling_of(const Plan& plan) {
  if (const auto* without = plan.as<WithoutReplacement>()) {
    return Sampling{reading(without->batch) / reading(without->population), without->plan, false};
  }
  const auto* poisson = plan.as<Poisson>();
  if (poisson == nullptr) return std::nullopt;
  Real rate = min(1, reading(poisson->rate));
  while (const auto* inner = poisson->plan.as<Poisson>()) {
    rate *= min(1, reading(inner->rate));
    poisson = inner;
  }
  return Sampling{rate, poisson->plan, true};
}

namespace {

// Whether `leaf_holds` for any leaf of the plan.
bool any_leaf(const Plan& plan, bool (*leaf_holds)(const Plan&)) {
  const auto any = [leaf_holds](const Plan& part) { return any_leaf(part, leaf_holds); };
  if (const auto* sum = plan.as<Sum>()) return std::any_of(sum->parts.begin(), sum->parts.end(), any);
  if (const auto* parallel = plan.as<Parallel>()) return std::any_of(parallel->parts.begin(), parallel->parts.end(), any);
  if (const auto* repeat = plan.as<Repeat>()) return any(repeat->plan);
  if (const auto* group = plan.as<Group>()) return any(group->plan);
  if (const auto sampling = sampling_of(plan)) return any(sampling->body);
  return leaf_holds(plan);
}

}  // namespace

bool needs_share(const Plan& plan) {
  return any_leaf(plan, [](const Plan& leaf) { return !pure_epsilon(leaf, 1); });
}

bool can_fail(const Plan& plan) {
  return any_leaf(plan, [](const Plan& leaf) { return own_delta(leaf, 1).upper() > 0; });
}

bool contains_catastrophe(const Plan& plan) {
  return any_leaf(plan, [](const Plan& leaf) { return leaf.as<Catastrophe>() != nullptr && leaf.as<Catastrophe>()->delta.value() > 0; });
}

Real own_delta(const Plan& leaf, std::int64_t k) {
  const auto grouped = [k](const Parameter& eps, const Parameter& delta) {
    if (k == 1) return delta.value() == 0 ? Real(0) : reading(delta);
    return group_of(k, ApproximateDP{reading(eps), delta.value() == 0 ? Real(0) : reading(delta)}).delta;
  };
  if (const auto* a = leaf.as<Approx>()) return grouped(a->eps, a->delta);
  if (const auto* c = leaf.as<Catastrophe>()) return grouped(c->eps, c->delta);
  return 0;
}

}  // namespace sotto::accounting_detail
