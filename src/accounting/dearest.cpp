#include "dearest.hpp"

#include <algorithm>

#include "sotto/accounting/approximate.hpp"
#include "sotto/numerics/elementary.hpp"
#include "units.hpp"

namespace sotto::accounting_detail {
namespace {

bool at_most(const Real& a, const Real& b) { return a.upper() <= b.lower(); }

// μ² of a plan of Gaussians alone.
std::optional<Real> squared_mu(const std::vector<Step>& steps) {
  Real sum = 0;
  for (const Step& step : steps) {
    const auto mu = gaussian_mu(step.plan, 1);
    if (!mu) return std::nullopt;
    sum += real(step.count) * square(*mu);
  }
  return sum;
}

bool dominated(const Plan& a, const Plan& b);

bool leaf_dominated(const Plan& a, const Plan& b) {
  if (a == b) return true;
  const auto* p = a.as<Poisson>();
  const auto* q = b.as<Poisson>();
  if (p != nullptr && q != nullptr) return p->rate.value() <= q->rate.value() && dominated(p->plan, q->plan);
  const auto less = pure_epsilon(a, 1);
  const auto more = pure_epsilon(b, 1);
  if (!less || !more || !at_most(*less, *more)) return false;
  if (a.as<Laplace>() != nullptr && b.as<Laplace>() != nullptr) return true;
  // among all (ε, δ)-DP mechanisms randomized response is the worst; the same δ is the same real, whatever its reading
  const auto* first = a.as<Approx>();
  const auto* second = b.as<Approx>();
  const bool same_delta = first != nullptr && second != nullptr && first->delta.value() == second->delta.value();
  return (b.as<Pure>() != nullptr || second != nullptr) && (same_delta || at_most(own_delta(a, 1), own_delta(b, 1)));
}

bool dominated(const Plan& a, const Plan& b) {
  if (a == b) return true;
  const std::vector<Step> less = steps_of(a, GaussianLine::exact);
  const std::vector<Step> more = steps_of(b, GaussianLine::exact);
  const auto mu = squared_mu(less);
  const auto nu = squared_mu(more);
  if (mu && nu) return at_most(*mu, *nu);
  return less.size() == 1 && more.size() == 1 && less.front().count <= more.front().count && leaf_dominated(less.front().plan, more.front().plan);
}

}  // namespace

std::optional<Plan> dearest_part(const Parallel& parallel) {
  for (const Plan& one : parallel.parts) {
    if (std::all_of(parallel.parts.begin(), parallel.parts.end(), [&](const Plan& other) { return dominated(other, one); })) return one;
  }
  return std::nullopt;
}

std::size_t undecided_parts(const Plan& plan) {
  std::size_t most = 1;
  for (const Step& step : steps_of(plan, GaussianLine::exact)) {
    const auto* parallel = step.plan.as<Parallel>();
    if (parallel == nullptr) continue;
    if (!dearest_part(*parallel)) most = std::max(most, parallel->parts.size());
    for (const Plan& part : parallel->parts) most = std::max(most, undecided_parts(part));
  }
  return most;
}

}  // namespace sotto::accounting_detail
