// Compares parts in parallel by their parameters: Gaussians by μ, Laplace noise by Δ/b, (ε, δ)-DP
// steps by ε and δ.
#include "accounting/events/dominating_part.hpp"

#include <algorithm>

#include "accounting/events/events.hpp"
#include "numerics/api/elementary.hpp"

namespace sotto::accounting_detail {
namespace {

// Whether every real in the first ball is at most every real in the second.
bool surely_at_most(const Real& a, const Real& b) { return a.upper() <= b.lower(); }

// μ² of a plan that consists of Gaussians only; empty for any other plan.
std::optional<Real> squared_mu(const std::vector<Event>& events) {
  Real sum = 0;
  for (const Event& event : events) {
    const auto one = event.leaf == nullptr || event.units > 1 ? std::nullopt
                                                              : event.leaf->squared_mu(Side::upper);
    if (!one) return std::nullopt;
    sum += real(event.count) * *one;
  }
  return sum;
}

bool dominated(const Plan& a, const Plan& b);

// Whether the pair of event b dominates that of event a, for one use.
bool event_dominated(const Event& a, const Event& b) {
  if (a.units == b.units && a.plan == b.plan) return true;
  if (a.units > 1 || b.units > 1) return false;
  const auto* p = a.plan.as<Poisson>();
  const auto* q = b.plan.as<Poisson>();
  if (p != nullptr && q != nullptr)
    return p->rate.value() <= q->rate.value() && dominated(p->plan, q->plan);
  if (a.leaf == nullptr || b.leaf == nullptr) return false;
  const auto less = a.leaf->pure_epsilon(1);
  const auto more = b.leaf->pure_epsilon(1);
  if (!less || !more || !surely_at_most(*less, *more)) return false;
  if (a.leaf->noise() == Noise::laplace && b.leaf->noise() == Noise::laplace) return true;
  // The pair of randomized response dominates all (ε, δ)-DP mechanisms. Equal typed δ are equal
  // reals, although the balls that hold them overlap.
  const auto first = a.leaf->stated();
  const auto second = b.leaf->stated();
  const bool same_delta = first && second && first->delta == second->delta;
  return second && (same_delta || surely_at_most(a.leaf->delta(), b.leaf->delta()));
}

// Whether the parameters show that the pair of plan b dominates that of plan a.
bool dominated(const Plan& a, const Plan& b) {
  if (a == b) return true;
  const std::vector<Event> less = events_of(a);
  const std::vector<Event> more = events_of(b);
  const auto mu = squared_mu(less);
  const auto nu = squared_mu(more);
  if (mu && nu) return surely_at_most(*mu, *nu);
  return less.size() == 1 && more.size() == 1 && less.front().count <= more.front().count &&
         event_dominated(less.front(), more.front());
}

}  // namespace

std::optional<Plan> dominating_part(const Parallel& parallel) {
  for (const Plan& one : parallel.parts) {
    if (std::all_of(parallel.parts.begin(), parallel.parts.end(),
                    [&](const Plan& other) { return dominated(other, one); }))
      return one;
  }
  return std::nullopt;
}

std::size_t undecided_parts(const Plan& plan) {
  std::size_t most = 1;
  for (const Event& event : events_of(plan)) {
    const auto* parallel = event.parallel();
    if (parallel == nullptr) continue;
    if (!dominating_part(*parallel)) most = std::max(most, parallel->parts.size());
    for (const Plan& part : parallel->parts) most = std::max(most, undecided_parts(part));
  }
  return most;
}

}  // namespace sotto::accounting_detail
