// Holes by recursion over the nodes of a plan.
#include "sotto/plan/holes.hpp"

#include "plan/fields.hpp"

namespace sotto {
namespace {

// Returns a hole in this field, with the range of the field.
HolePlace place(std::string_view node, const plan_detail::Field& field) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least = 0;
  double most = infinity;
  switch (field.range) {
    case plan_detail::Range::positive:
    case plan_detail::Range::non_negative: break;
    case plan_detail::Range::rate:
    case plan_detail::Range::open_unit:
    case plan_detail::Range::probability_below_one: most = 1; break;
    case plan_detail::Range::above_one: least = 1; break;
    case plan_detail::Range::count: least = 1, most = 0x1p53; break;
    case plan_detail::Range::count_from_two: least = 2, most = 0x1p53; break;
  }
  return {std::string(node),
          std::string(field.name),
          field.effect,
          least,
          most,
          plan_detail::is_whole(field.range)};
}

// Appends the holes of the plan. Bounds between two parameters narrow the range of a hole.
void collect(const Plan& plan, std::vector<HolePlace>& out) {
  std::visit(
      [&out]<class T>(const T& node) {
        plan_detail::each_field(node, [&](const Parameter& p, const plan_detail::Field& field) {
          if (!p.is_hole()) return;
          out.push_back(place(plan_detail::name_of<T>, field));
          out.back().factor = p.factor();
          // colluders < users
          if constexpr (std::is_same_v<T, WalkSum> || std::is_same_v<T, WalkSgd>) {
            if (field.name == "colluders" && !node.users.is_hole())
              out.back().most = node.users.value() - 1;
            if (field.name == "users" && !node.colluders.is_hole())
              out.back().least = node.colluders.value() + 1;
          }
          if constexpr (std::is_same_v<T, WithoutReplacement>) {  // batch <= population
            if (field.name == "batch")
              out.back().most =
                  node.population.is_hole() ? out.back().most : node.population.value();
            if (field.name == "population")
              out.back().least = node.batch.is_hole() ? out.back().least : node.batch.value();
          }
        });
        if constexpr (plan_detail::HasPlan<T>) collect(node.plan, out);
        if constexpr (plan_detail::HasParts<T>) {
          for (const Plan& part : node.parts) collect(part, out);
        }
      },
      plan.node());
}

}  // namespace

std::vector<HolePlace> holes_of(const Plan& plan) {
  std::vector<HolePlace> out;
  collect(plan, out);
  return out;
}

Plan fill(const Plan& plan, double value) {
  return std::visit(
      [value]<class T>(T node) -> Plan {
        plan_detail::each_field(node, [value](Parameter& p, const plan_detail::Field&) {
          if (p.is_hole()) p = p.factor() * value;
        });
        if constexpr (plan_detail::HasPlan<T>) node.plan = fill(node.plan, value);
        if constexpr (plan_detail::HasParts<T>) {
          for (Plan& part : node.parts) part = fill(part, value);
        }
        return node;
      },
      plan.node());
}

std::optional<Plan> with_noise_holes(const Plan& plan) {
  return std::visit(
      []<class T>(T node) -> std::optional<Plan> {
        if constexpr (std::is_same_v<T, Gaussian> || std::is_same_v<T, DiscreteGaussian>) {
          node.sigma = node.sigma.value() * hole;
        } else if constexpr (std::is_same_v<T, Laplace> || std::is_same_v<T, DiscreteLaplace>) {
          node.b = node.b.value() * hole;
        } else if constexpr (plan_detail::HasPlan<T>) {
          const auto inner = with_noise_holes(node.plan);
          if (!inner) return std::nullopt;
          node.plan = *inner;
        } else if constexpr (plan_detail::HasParts<T>) {
          for (Plan& part : node.parts) {
            const auto inner = with_noise_holes(part);
            if (!inner) return std::nullopt;
            part = *inner;
          }
        } else {
          return std::nullopt;
        }
        return Plan(std::move(node));
      },
      plan.node());
}

}  // namespace sotto
