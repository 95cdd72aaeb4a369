// The method theorem: the bound on ε that the paper of the plan's only mechanism states, to compare
// with the exact one.
#include "accounting/events/events.hpp"
#include "accounting/methods/methods.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

std::optional<Leaf::PublishedBound> published_bound_of(const std::vector<Event>& events) {
  if (events.size() != 1 || events.front().leaf == nullptr) return std::nullopt;
  return events.front().leaf->published_bound(events.front().count);
}

}  // namespace

bool has_published_bound(const Plan& plan) {
  return published_bound_of(events_of(plan)).has_value();
}

MethodCost published_epsilon(const Plan& plan, double delta) {
  const auto bound = published_bound_of(events_of(plan));
  if (!bound) {
    throw OutsideConditions(
        "theorem is for one mechanism, or repetitions of it, whose paper states a bound of its "
        "own: use tight or pld",
        Remedy::method);
  }
  if (!(delta > 0))
    throw OutsideConditions("the paper's bound needs delta > 0: use tight or pld", Remedy::method);
  Proved<Real> own = (*bound)(delta);
  const double epsilon = own.value.upper();
  return {epsilon,
          std::nullopt,
          {},
          Derivation{print(plan),
                     std::move(own.theorem),
                     std::move(own.reference),
                     std::move(own.conditions),
                     approximate_text(epsilon, delta),
                     {}}};
}

}  // namespace sotto::accounting_detail
