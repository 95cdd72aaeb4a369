#include "accounting/api/relation.hpp"

#include <algorithm>
#include <tuple>

#include "accounting/leaves/leaf.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// The relations a part can be costed under, and the part that leaves only those.
struct Allowed {
  bool add_remove = true;
  bool replace_one = true;
  bool zero_out = true;
  std::string fixed_by;
  bool by_group = false;  // replace-one holds because group(2, ·) stands for one replacement

  [[nodiscard]] bool all() const { return add_remove && replace_one && zero_out; }
  [[nodiscard]] bool none() const { return !add_remove && !replace_one && !zero_out; }
};

std::string fixes(const Allowed& a) { return a.fixed_by + " fixes " + (a.replace_one ? "replace-one" : "add-remove"); }

// `inside`: b stands within a, so that no group can be put between them.
Allowed meet(const Allowed& a, const Allowed& b, bool inside = false) {
  if (a.all()) return b;
  if (b.all()) return a;
  Allowed both{a.add_remove && b.add_remove, a.replace_one && b.replace_one, a.zero_out && b.zero_out, a.fixed_by, a.by_group || b.by_group};
  if (both.none()) {
    const std::string& sampled = a.add_remove ? a.fixed_by : b.fixed_by;
    std::string way_out = "group(2, " + sampled + ") counts as replace-one";
    if (inside) {
      way_out = b.replace_one ? "put pure(eps), with the eps that holds when a record is added or removed, in place of what fixes replace-one"
                              : "put group(2, " + sampled + ") there, which counts as replace-one";
    }
    throw OutsideConditions(fixes(a) + ", but " + fixes(b) + ": no theorem covers both at once; " + way_out);
  }
  return both;
}

std::string short_text(const Plan& plan) {
  const std::string text = print(plan);
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

Allowed allowed(const Plan& plan);

// Some leaf is a token's walk, for which a group is so many users: one user who is replaced is not two of them.
bool holds_walk(const Plan& plan) {
  return std::visit(
      []<class T>(const T& node) {
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          return std::any_of(node.parts.begin(), node.parts.end(), holds_walk);
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> || std::is_same_v<T, WithoutReplacement> ||
                             std::is_same_v<T, Group>) {
          return holds_walk(node.plan);
        } else {
          return std::is_same_v<T, WalkSum> || std::is_same_v<T, WalkSgd>;
        }
      },
      plan.node());
}

// group(2, ·) of what is known under add-remove alone: one removal and one addition.
bool may_replace(const Group& group, const Allowed& inner) {
  return group.size.value() == 2 && inner.add_remove && !inner.replace_one && !holds_walk(group.plan);
}

// A group of units that would have to enter a sample together. group(2, ·) of an add-remove part is no such group: inside
// sampling without replacement it stands for one replacement.
bool groups_units(const Plan& plan, bool replacement_is_fine) {
  return std::visit(
      [replacement_is_fine]<class T>(const T& node) {
        const auto inside = [replacement_is_fine](const Plan& part) { return groups_units(part, replacement_is_fine); };
        if constexpr (std::is_same_v<T, Group>) {
          const bool replacement = replacement_is_fine && node.size.value() == 2 && !allowed(node.plan).all() && !holds_walk(node.plan);
          return (node.size.value() > 1 && !replacement) || inside(node.plan);
        } else if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          return std::any_of(node.parts.begin(), node.parts.end(), inside);
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> || std::is_same_v<T, WithoutReplacement>) {
          return inside(node.plan);
        } else {
          return false;
        }
      },
      plan.node());
}

void refuse_groups(const Plan& sampled, const Plan& body, bool replacement_is_fine) {
  if (!groups_units(body, replacement_is_fine)) return;
  throw OutsideConditions("no theorem covers a group inside a sample, as in " + short_text(sampled) +
                          ": units enter a sample one by one; put group(k, ·) around the sample");
}

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
          return {*fixed == Relation::add_remove, *fixed == Relation::replace_one, *fixed == Relation::zero_out, short_text(plan)};
        }
      },
      plan.node());
}

// How many units a plan's parts are costed for, together, and the parts for the fewest and for the most.
struct Units {
  double fewest = 1;
  double most = 1;
  std::string few;
  std::string many;
};

Units units_of(const Plan& plan, Relation relation) {
  const auto together = [&plan](double fewest, double most, const Units& inner) {
    if (fewest != most) return Units{fewest, most, inner.few, inner.many};
    return Units{most, most, short_text(plan), short_text(plan)};
  };
  return std::visit(
      [&]<class T>(const T& node) {
        if constexpr (std::is_same_v<T, Group>) {
          const Units inner = units_of(node.plan, relation);
          const bool replacement = relation == Relation::replace_one && may_replace(node, allowed(node.plan));
          const double size = replacement ? 1 : node.size.value();
          return together(size * inner.fewest, size * inner.most, inner);
        } else if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          Units result = units_of(node.parts.front(), relation);
          for (const Plan& part : node.parts) {
            const Units units = units_of(part, relation);
            if (units.fewest < result.fewest) std::tie(result.fewest, result.few) = std::tie(units.fewest, units.few);
            if (units.most > result.most) std::tie(result.most, result.many) = std::tie(units.most, units.many);
          }
          return together(result.fewest, result.most, result);
        } else if constexpr (std::is_same_v<T, Repeat>) {
          const Units inner = units_of(node.plan, relation);
          return together(inner.fewest, inner.most, inner);
        } else {
          return together(1, 1, {});  // in a sample, too: units enter one by one
        }
      },
      plan.node());
}

std::string units_text(double units) { return units == 1 ? "one unit" : shortest(units) + " units together"; }

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

PlanRelation relation_of(const Plan& plan, std::optional<Relation> asked) {
  const Allowed a = allowed(plan);
  if (asked && !holds(a, *asked)) {
    std::string way_out = "ask for the relation " + std::string(a.add_remove ? "add-remove" : "replace-one");
    if (a.add_remove && *asked == Relation::replace_one && !holds_walk(plan)) way_out += ", or put group(2, ·) around the whole plan";
    throw OutsideConditions("no theorem covers " + a.fixed_by + " under " + std::string(name(*asked)) + ": " + way_out, Remedy::relation);
  }
  PlanRelation result{asked.value_or(a.all() ? Relation::as_stated : a.add_remove ? Relation::add_remove : Relation::replace_one), {}};
  if (a.by_group && result.relation == Relation::replace_one) {
    result.notes.emplace_back("group(2, ·) of an add-remove part counts as one replacement: one removal and one addition");
  }
  if (const Units units = units_of(plan, result.relation); units.fewest != units.most) {
    std::string note = units.few + " is costed for " + units_text(units.fewest) + ", " + units.many + " for " + units_text(units.most) +
                       ": this holds for whoever counts as so many in each; for the same units everywhere put the group around the whole plan";
    if (a.by_group && result.relation == Relation::add_remove) note += ", or, for one replacement, ask for the relation replace-one";
    result.notes.push_back(std::move(note));
  }
  return result;
}

}  // namespace sotto
