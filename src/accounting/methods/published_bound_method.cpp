// The line that the paper of the plan's one mechanism states, beside what is exact.
#include "accounting/events/events.hpp"
#include "accounting/methods/methods.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

std::optional<Leaf::PublishedLine> line_of(const std::vector<Event>& events) {
  if (events.size() != 1 || events.front().leaf == nullptr) return std::nullopt;
  return events.front().leaf->published_line(events.front().count);
}

}  // namespace

bool has_theorem(const Plan& plan) { return line_of(events_of(plan)).has_value(); }

MethodCost theorem_epsilon(const Plan& plan, double delta) {
  const auto line = line_of(events_of(plan));
  if (!line) {
    throw OutsideConditions("theorem is for one mechanism, or repetitions of it, whose paper states a line of its own: use tight or pld",
                            Remedy::method);
  }
  if (!(delta > 0)) throw OutsideConditions("the paper's line needs delta > 0: use tight or pld", Remedy::method);
  Proved<Real> own = (*line)(delta);
  const double epsilon = own.value.upper();
  return {epsilon,
          std::nullopt,
          {},
          Derivation{print(plan), std::move(own.theorem), std::move(own.reference), std::move(own.conditions), approximate_text(epsilon, delta), {}}};
}

}  // namespace sotto::accounting_detail
