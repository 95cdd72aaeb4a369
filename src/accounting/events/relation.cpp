// Finds the neighbouring relation under which all parts of a plan can be costed.
#include "accounting/api/relation.hpp"

#include <algorithm>
#include <tuple>

#include "accounting/leaves/leaf.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// The relations under which a part can be costed, and the subplan that excludes the others.
struct Allowed {
  bool add_remove = true;
  bool replace_one = true;
  bool zero_out = true;
  std::string fixed_by;
  bool by_group = false;  // replace-one is allowed because group(2, ·) counts as one replacement

  [[nodiscard]] bool all() const { return add_remove && replace_one && zero_out; }
  [[nodiscard]] bool none() const { return !add_remove && !replace_one && !zero_out; }
};

// "X fixes replace-one".
std::string fixes(const Allowed& a) {
  return a.fixed_by + " fixes " + (a.replace_one ? "replace-one" : "add-remove");
}

// The relations that both parts allow. Throws OutsideConditions if there are none. If `inside`, b
// is a subplan of a, so that no group can be put around it alone.
Allowed meet(const Allowed& a, const Allowed& b, bool inside = false) {
  if (a.all()) return b;
  if (b.all()) return a;
  Allowed both{a.add_remove && b.add_remove, a.replace_one && b.replace_one,
               a.zero_out && b.zero_out, a.fixed_by, a.by_group || b.by_group};
  if (both.none()) {
    const std::string& sampled = a.add_remove ? a.fixed_by : b.fixed_by;
    std::string way_out = "group(2, " + sampled + ") counts as replace-one";
    if (inside) {
      way_out = b.replace_one ? "put pure(eps), with the eps that holds when a record is added or "
                                "removed, in place of what fixes replace-one"
                              : "put group(2, " + sampled + ") there, which counts as replace-one";
    }
    throw OutsideConditions(fixes(a) + ", but " + fixes(b) + ": no theorem covers both at once; " +
                            way_out);
  }
  return both;
}

std::string short_text(const Plan& plan) {
  const std::string text = print(plan);
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

Allowed allowed(const Plan& plan);

// Whether some leaf is a token walk. A group of 2 of a walk is two users, which does not bound one
// user who is replaced.
bool holds_walk(const Plan& plan) {
  return std::visit(
      []<class T>(const T& node) {
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          return std::any_of(node.parts.begin(), node.parts.end(), holds_walk);
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> ||
                             std::is_same_v<T, WithoutReplacement> || std::is_same_v<T, Group>) {
          return holds_walk(node.plan);
        } else {
          return std::is_same_v<T, WalkSum> || std::is_same_v<T, WalkSgd>;
        }
      },
      plan.node());
}

// Whether group(2, ·) counts as one replacement: its plan is known under add-remove only, and a
// replacement is a removal and an addition.
bool may_replace(const Group& group, const Allowed& inner) {
  return group.size.value() == 2 && inner.add_remove && !inner.replace_one &&
         !holds_walk(group.plan);
}

// Whether the plan has a group of units that would have to enter a sample together. With
// `allow_replacement`, as inside sampling without replacement, group(2, ·) of an add-remove part
// counts as one replacement and not as a group.
bool groups_units(const Plan& plan, bool allow_replacement) {
  return std::visit(
      [allow_replacement]<class T>(const T& node) {
        const auto inside = [allow_replacement](const Plan& part) {
          return groups_units(part, allow_replacement);
        };
        if constexpr (std::is_same_v<T, Group>) {
          const bool replacement = allow_replacement && node.size.value() == 2 &&
                                   !allowed(node.plan).all() && !holds_walk(node.plan);
          return (node.size.value() > 1 && !replacement) || inside(node.plan);
        } else if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          return std::any_of(node.parts.begin(), node.parts.end(), inside);
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> ||
                             std::is_same_v<T, WithoutReplacement>) {
          return inside(node.plan);
        } else {
          return false;
        }
      },
      plan.node());
}

// Throws OutsideConditions if the body of a sample has a group.
void refuse_groups(const Plan& sampled, const Plan& body, bool allow_replacement) {
  if (!groups_units(body, allow_replacement)) return;
  throw OutsideConditions("no theorem covers a group inside a sample, as in " +
                          short_text(sampled) +
                          ": units enter a sample one by one; put group(k, ·) around the sample");
}

// The relations under which the plan can be costed.
Allowed allowed(const Plan& plan) {
  return std::visit(
      [&plan]<class T>(const T& node) -> Allowed {
        if constexpr (std::is_same_v<T, Poisson>) {
          if (node.rate.value() == 1) return allowed(node.plan);
          refuse_groups(plan, node.plan, false);
          return meet({true, false, false, short_text(plan)}, allowed(node.plan), true);
        } else if constexpr (std::is_same_v<T, WithoutReplacement>) {
          if (node.batch == node.population) return allowed(node.plan);
          refuse_groups(plan, node.plan, true);
          return meet({false, true, false, short_text(plan)}, allowed(node.plan), true);
        } else if constexpr (std::is_same_v<T, Parallel>) {
          Allowed result{true, false, false, short_text(plan)};
          for (const Plan& part : node.parts) result = meet(result, allowed(part), true);
          return result;
        } else if constexpr (std::is_same_v<T, Sum>) {
          Allowed result;
          for (const Plan& part : node.parts) result = meet(result, allowed(part));
          return result;
        } else if constexpr (std::is_same_v<T, Group>) {
          Allowed inner = allowed(node.plan);
          if (may_replace(node, inner)) {
            inner.replace_one = inner.by_group = true;
            inner.fixed_by = short_text(plan);
          }
          return inner;
        } else if constexpr (std::is_same_v<T, Repeat>) {
          return allowed(node.plan);
        } else {
          const auto fixed = accounting_detail::leaf_of(plan, 1)->fixed_relation();
          if (!fixed) return {};
          return {*fixed == Relation::add_remove, *fixed == Relation::replace_one,
                  *fixed == Relation::zero_out, short_text(plan)};
        }
      },
      plan.node());
}

// The smallest and the largest number of units for which parts of a plan are costed together, and a
// part with each.
struct Units {
  double fewest = 1;
  double most = 1;
  std::string fewest_part;
  std::string most_part;
};

Units units_of(const Plan& plan, Relation relation) {
  const auto together = [&plan](double fewest, double most, const Units& inner) {
    if (fewest != most) return Units{fewest, most, inner.fewest_part, inner.most_part};
    return Units{most, most, short_text(plan), short_text(plan)};
  };
  return std::visit(
      [&]<class T>(const T& node) {
        if constexpr (std::is_same_v<T, Group>) {
          const Units inner = units_of(node.plan, relation);
          const bool replacement =
              relation == Relation::replace_one && may_replace(node, allowed(node.plan));
          const double size = replacement ? 1 : node.size.value();
          return together(size * inner.fewest, size * inner.most, inner);
        } else if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          Units result = units_of(node.parts.front(), relation);
          for (const Plan& part : node.parts) {
            const Units units = units_of(part, relation);
            if (units.fewest < result.fewest)
              std::tie(result.fewest, result.fewest_part) =
                  std::tie(units.fewest, units.fewest_part);
            if (units.most > result.most)
              std::tie(result.most, result.most_part) = std::tie(units.most, units.most_part);
          }
          return together(result.fewest, result.most, result);
        } else if constexpr (std::is_same_v<T, Repeat>) {
          const Units inner = units_of(node.plan, relation);
          return together(inner.fewest, inner.most, inner);
        } else {
          return together(1, 1, {});  // also in a sample, which units enter one by one
        }
      },
      plan.node());
}

std::string units_text(double units) {
  return units == 1 ? "one unit" : shortest(units) + " units together";
}

bool holds(const Allowed& a, Relation relation) {
  switch (relation) {
    case Relation::add_remove: return a.add_remove;
    case Relation::replace_one: return a.replace_one;
    case Relation::zero_out: return a.zero_out;
    case Relation::as_stated: break;
  }
  return true;
}

}  // namespace

PlanRelation relation_of(const Plan& plan, std::optional<Relation> requested) {
  const Allowed a = allowed(plan);
  if (requested && !holds(a, *requested)) {
    std::string way_out =
        "ask for the relation " + std::string(a.add_remove ? "add-remove" : "replace-one");
    if (a.add_remove && *requested == Relation::replace_one && !holds_walk(plan))
      way_out += ", or put group(2, ·) around the whole plan";
    throw OutsideConditions("no theorem covers " + a.fixed_by + " under " +
                                std::string(name(*requested)) + ": " + way_out,
                            Remedy::relation);
  }
  PlanRelation result{requested.value_or(a.all()        ? Relation::as_stated
                                         : a.add_remove ? Relation::add_remove
                                                        : Relation::replace_one),
                      {}};
  if (a.by_group && result.relation == Relation::replace_one) {
    result.notes.emplace_back(
        "group(2, ·) of an add-remove part counts as one replacement: one removal and one "
        "addition");
  }
  if (const Units units = units_of(plan, result.relation); units.fewest != units.most) {
    std::string note =
        units.fewest_part + " is costed for " + units_text(units.fewest) + ", " + units.most_part +
        " for " + units_text(units.most) +
        ": the bound holds for neighbours that differ in these numbers of units in each part; to "
        "cost all parts for the same units, put the group around the whole plan";
    if (a.by_group && result.relation == Relation::add_remove)
      note += ", or, for one replacement, ask for the relation replace-one";
    result.notes.push_back(std::move(note));
  }
  return result;
}

}  // namespace sotto
