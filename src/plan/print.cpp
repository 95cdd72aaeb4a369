// The printer of plans.
#include <string>

#include "plan/fields.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

std::string text_of(const Parameter& p, bool whole) {
  if (p.is_hole()) return p.factor() == 1 ? "?" : shortest(p.factor()) + "*?";
  return whole ? std::to_string(static_cast<std::int64_t>(p.value())) : shortest(p.value());
}

std::string list(const std::vector<Plan>& plans, const char* separator) {
  std::string out;
  for (const Plan& plan : plans) out += (out.empty() ? "" : separator) + print(plan);
  return out;
}

}  // namespace

std::string print(const Plan& plan) {
  return std::visit(
      []<class T>(const T& node) -> std::string {
        if constexpr (std::is_same_v<T, Sum>) {
          return list(node.parts, " + ");
        } else if constexpr (std::is_same_v<T, Repeat>) {
          const bool sum = node.plan.template as<Sum>() != nullptr;
          std::string steps = text_of(node.steps, true);
          // without parentheses, 2 * ? * A repeats ? * A twice
          if (node.steps.is_hole() && node.steps.factor() != 1) steps = "(" + steps + ")";
          return steps + " * " + (sum ? "(" + print(node.plan) + ")" : print(node.plan));
        } else {
          std::string arguments;
          const auto add = [&arguments](const std::string& text) {
            arguments += (arguments.empty() ? "" : ", ") + text;
          };
          plan_detail::each_field(node, [&](const Parameter& p, const plan_detail::Field& field) {
            if (field.has_default && p == Parameter(field.default_value)) return;
            add((field.has_default ? std::string(field.name) + "=" : "") +
                text_of(p, plan_detail::is_whole(field.range)));
          });
          if constexpr (plan_detail::HasPlan<T>) add(print(node.plan));
          if constexpr (plan_detail::HasParts<T>) add(list(node.parts, ", "));
          return std::string(plan_detail::name_of<T>) + "(" + arguments + ")";
        }
      },
      plan.node());
}

}  // namespace sotto
