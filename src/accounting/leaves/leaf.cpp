// Visits the leaves of a plan.
#include "accounting/leaves/leaf.hpp"

#include <algorithm>
#include <type_traits>

#include "sotto/core/errors.hpp"

namespace sotto::accounting_detail {

std::int64_t times(std::int64_t k, const Parameter& p) {
  const double product = static_cast<double>(k) * p.value();
  if (product > 0x1p53)
    throw InvalidValue(
        "the plan's steps, groups or sensitivities multiply to more than 2^53: use smaller "
        "numbers");
  return static_cast<std::int64_t>(product);
}

namespace {

template <class T>
concept HasParts = std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>;
template <class T>
concept HasPlan = std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> ||
                  std::is_same_v<T, WithoutReplacement> || std::is_same_v<T, Group>;

}  // namespace

LeafPtr leaf_of(const Plan& plan, std::int64_t units) {
  return std::visit(
      [units]<class T>(const T& node) -> LeafPtr {
        if constexpr (HasParts<T> || HasPlan<T>) {
          return nullptr;
        } else {
          return describe(node, units);
        }
      },
      plan.node());
}

bool any_leaf(const Plan& plan, const std::function<bool(const Leaf&)>& holds) {
  const auto any = [&holds](const Plan& part) { return any_leaf(part, holds); };
  return std::visit(
      [&]<class T>(const T& node) {
        if constexpr (HasParts<T>) {
          return std::any_of(node.parts.begin(), node.parts.end(), any);
        } else if constexpr (HasPlan<T>) {
          return any(node.plan);
        } else {
          return holds(*describe(node, 1));
        }
      },
      plan.node());
}

bool needs_share(const Plan& plan) {
  return any_leaf(plan, [](const Leaf& leaf) { return !leaf.pure_epsilon(1); });
}

bool can_fail(const Plan& plan) {
  return any_leaf(plan, [](const Leaf& leaf) { return leaf.delta().upper() > 0; });
}

bool contains_catastrophe(const Plan& plan) {
  return any_leaf(plan, [](const Leaf& leaf) { return !leaf.can_set_delta_aside(); });
}

}  // namespace sotto::accounting_detail
