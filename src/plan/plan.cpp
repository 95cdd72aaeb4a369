// The checks of plans, their equality, and the functions that make them.
#include "sotto/plan/plan.hpp"

#include <cmath>
#include <string>

#include "plan/fields.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace plan_detail {

bool is_whole(Range range) { return range == Range::count || range == Range::count_from_two; }

namespace {

void check_count(double value, double least, const char* name) {
  if (!(value >= least && value <= 0x1p53) || value != std::floor(value)) {
    throw InvalidValue(std::string(name) + " = " + shortest(value) +
                       " is not allowed: it must be a whole number from " + shortest(least) +
                       " to 2^53");
  }
}

void check_factor(double factor, const Field& field) {
  require_positive(factor, "the factor of '?'");
  if (is_whole(field.range) && (factor != std::floor(factor) || factor > 0x1p53)) {
    throw InvalidValue(std::string(field.name) + " = " + shortest(factor) +
                       "*? is not allowed: a count takes '?' or a whole multiple of it");
  }
}

}  // namespace

void check(const Parameter& parameter, const Field& field) {
  if (parameter.is_hole()) return check_factor(parameter.factor(), field);
  const std::string name(field.name);
  const double value = parameter.value();
  switch (field.range) {
    case Range::positive: require_positive(value, name.c_str()); break;
    case Range::non_negative: require_non_negative(value, name.c_str()); break;
    case Range::rate: require_rate(value, name.c_str()); break;
    case Range::open_unit: require_open_unit(value, name.c_str()); break;
    case Range::probability_below_one: require_probability_below_one(value, name.c_str()); break;
    case Range::above_one: require_above_one(value, name.c_str()); break;
    case Range::count: check_count(value, 1, name.c_str()); break;
    case Range::count_from_two: check_count(value, 2, name.c_str()); break;
  }
}

}  // namespace plan_detail

namespace {

// Throws InvalidValue unless every sampling without replacement inside a batch has the batch for
// its population.
void check_populations(const Plan& plan, double batch) {
  std::visit(
      [batch]<class T>(const T& node) {
        if constexpr (std::is_same_v<T, WithoutReplacement>) {
          if (!node.population.is_hole() && node.population.value() != batch) {
            throw InvalidValue("population = " + shortest(node.population.value()) +
                               " is not allowed inside a batch of " + shortest(batch) +
                               ": it must be the size of that batch");
          }
        } else if constexpr (plan_detail::HasPlan<T>) {
          check_populations(node.plan, batch);
        } else if constexpr (plan_detail::HasParts<T>) {
          for (const Plan& part : node.parts) check_populations(part, batch);
        }
      },
      plan.node());
}

// Throws InvalidValue if a count exceeds another one. `of_what` describes the other one.
void check_below(const Parameter& count, const Parameter& most, const char* name,
                 const char* of_what) {
  if (count.is_hole() || most.is_hole() || count.value() <= most.value()) return;
  throw InvalidValue(std::string(name) + " = " + shortest(count.value()) +
                     " is not allowed: it must be at most " + of_what + ", " +
                     shortest(most.value()));
}

}  // namespace

// Checks the fields, then the conditions between them, and merges sums inside a sum.
std::shared_ptr<const AnyNode> Plan::checked(AnyNode node) {
  std::visit(
      []<class T>(T& n) {
        plan_detail::each_field(n, [](const Parameter& p, const plan_detail::Field& field) {
          plan_detail::check(p, field);
        });
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          if (n.parts.empty())
            throw InvalidValue(std::string(plan_detail::name_of<T>) + " needs at least one plan");
        }
        if constexpr (std::is_same_v<T, Sum>) {
          std::vector<Plan> flat;
          for (const Plan& part : n.parts) {
            if (const auto* inner = part.as<Sum>()) {
              flat.insert(flat.end(), inner->parts.begin(), inner->parts.end());
            } else {
              flat.push_back(part);
            }
          }
          n.parts = std::move(flat);
        }
        if constexpr (std::is_same_v<T, GopaRandom>) {
          check_below(n.honest, n.users, "honest", "the number of users");
          check_below(n.k, n.users, "k", "the number of users");
        }
        if constexpr (std::is_same_v<T, WalkSum> || std::is_same_v<T, WalkSgd>) {
          if (!n.users.is_hole())
            check_below(n.colluders, n.users.value() - 1, "colluders", "all users but one");
        }
        if constexpr (std::is_same_v<T, WithoutReplacement>) {
          if (!n.batch.is_hole() && !n.population.is_hole() &&
              n.batch.value() > n.population.value()) {
            throw InvalidValue(
                "batch = " + shortest(n.batch.value()) +
                " is not allowed: it must be a whole number from 1 to the population, " +
                shortest(n.population.value()));
          }
          if (!n.batch.is_hole()) check_populations(n.plan, n.batch.value());
        }
      },
      node.value);
  // a sum of one part is that part
  if (auto* sum = std::get_if<Sum>(&node.value); sum != nullptr && sum->parts.size() == 1)
    return sum->parts.front().node_;
  return std::make_shared<const AnyNode>(std::move(node));
}

bool operator==(const Plan& a, const Plan& b) {
  if (a.node_ == b.node_) return true;
  if (a.node().index() != b.node().index()) return false;
  return std::visit(
      [&b]<class T>(const T& x) {
        const T& y = *b.as<T>();
        std::vector<Parameter> left;
        std::vector<Parameter> right;
        plan_detail::each_field(
            x, [&](const Parameter& p, const plan_detail::Field&) { left.push_back(p); });
        plan_detail::each_field(
            y, [&](const Parameter& p, const plan_detail::Field&) { right.push_back(p); });
        if (left != right) return false;
        if constexpr (plan_detail::HasParts<T>) return x.parts == y.parts;
        if constexpr (plan_detail::HasPlan<T>) return x.plan == y.plan;
        return true;
      },
      a.node());
}

Plan parallel(std::vector<Plan> parts) { return Parallel{std::move(parts)}; }
Plan poisson(Parameter rate, Plan plan) { return Poisson{rate, std::move(plan)}; }
Plan without_replacement(Parameter batch, Parameter population, Plan plan) {
  return WithoutReplacement{batch, population, std::move(plan)};
}
Plan group(Parameter size, Plan plan) { return Group{size, std::move(plan)}; }
Plan operator+(const Plan& a, const Plan& b) { return Sum{{a, b}}; }
Plan operator*(Parameter steps, const Plan& plan) { return Repeat{steps, plan}; }

}  // namespace sotto
