// Computes the values that parts of an expression can have, and finds constants that never occur.
#include "data/api/listed_values.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "data/expressions/tree.hpp"

namespace sotto {
namespace {

using expression::Node;

using Values = std::set<Value>;

// The values other than NULL that a part of an expression can have. Lists can be long and are
// shared.
struct Range {
  bool is_known = true;  // false: it can have any value
  std::shared_ptr<const Values> values = std::make_shared<Values>();
  std::string column = {};  // the first column that the part reads; empty: it has constants only
};

Range any_value(const std::string& column = {}) {
  return {false, std::make_shared<Values>(), column};
}

Value canonical(const Value& value, Type type) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || (type != Type::date && type != Type::timestamp)) return value;
  return type == Type::date ? expression::canonical_date(*text)
                            : expression::canonical_timestamp(*text);
}

Range joined(const Range& one, const Range& other) {
  Range all{one.is_known && other.is_known, one.values,
            one.column.empty() ? other.column : one.column};
  if (!all.is_known) return any_value(all.column);
  if (one.values->empty()) {
    all.values = other.values;
  } else if (!std::includes(one.values->begin(), one.values->end(), other.values->begin(),
                            other.values->end())) {
    auto values = std::make_shared<Values>(*one.values);
    values->insert(other.values->begin(), other.values->end());
    all.values = std::move(values);
  }
  return all;
}

Range widened(const Range& range) {
  auto values = std::make_shared<Values>();
  for (const Value& value : *range.values) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    values->insert(whole != nullptr ? Value(static_cast<double>(*whole)) : value);
  }
  return {range.is_known, std::move(values), range.column};
}

class Finder {
 public:
  explicit Finder(const ListedValues& listed) : listed_(listed) {}

  [[nodiscard]] Range range_of(const Node& node) const {
    switch (node.op) {
      case Op::null: return {};
      case Op::literal:
        return {true, std::make_shared<Values>(Values{canonical(node.value, node.type)})};
      case Op::column: return range_of_column(node);
      case Op::widen: return widened(range_of(*node.inputs[0]));
      case Op::coalesce:
      case Op::least:
      case Op::greatest: return range_of_all(node, 0, 1);
      // inputs are condition, result, …, ELSE; a simple CASE has its operand before them
      case Op::searched_case: return range_of_all(node, 1, 2);
      case Op::simple_case: return range_of_all(node, 2, 2);
      case Op::try_cast:
        return node.inputs[0]->type == node.type ? range_of(*node.inputs[0]) : any_value();
      default: return any_value();
    }
  }

  [[nodiscard]] std::optional<UnlistedConstant> first(const Node& node) const {
    if (auto constant = unlisted_in(node)) return constant;
    for (const auto& input : node.inputs) {
      if (auto constant = first(*input)) return constant;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] Range range_of_column(const Node& node) const {
    const auto it = listed_.find(node.name);
    if (it == listed_.end() || it->second.empty()) return any_value(node.name);
    auto& values = columns_[node.name];
    if (values == nullptr) {
      auto all = std::make_shared<Values>();
      for (const Value& value : it->second) all->insert(canonical(value, node.type));
      values = std::move(all);
    }
    return {true, values, node.name};
  }

  // Returns the union over every `step`th input from `start` on. With a step of 2, the last input
  // is included, too, if it is the result of ELSE.
  [[nodiscard]] Range range_of_all(const Node& node, std::size_t start, std::size_t step) const {
    Range range;
    for (std::size_t i = start; i < node.inputs.size(); i += step)
      range = joined(range, range_of(*node.inputs[i]));
    const bool has_else = step == 2 && (node.inputs.size() - start) % 2 == 0;
    if (has_else) range = joined(range, range_of(*node.inputs.back()));
    return range;
  }

  // Returns an unlisted constant in the comparison that this node makes, if there is one.
  [[nodiscard]] std::optional<UnlistedConstant> unlisted_in(const Node& node) const {
    switch (node.op) {
      case Op::equal:
      case Op::not_equal:
      case Op::in: return compare(node, 0, 1);
      case Op::simple_case: return compare(node, 0, 2);
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
      case Op::between:
        return node.inputs[0]->type == Type::text ? compare(node, 0, 1) : std::nullopt;
      default: return std::nullopt;
    }
  }

  // Compares the operand with each value of the list, and the list with the operand. The list
  // starts at input 1 and has every `step`th input.
  [[nodiscard]] std::optional<UnlistedConstant> compare(const Node& node, std::size_t operand,
                                                        std::size_t step) const {
    const Range left = range_of(*node.inputs[operand]);
    Range right;
    const std::size_t end = node.op == Op::simple_case
                                ? node.inputs.size() - (node.inputs.size() % 2 == 0 ? 1 : 0)
                                : node.inputs.size();
    for (std::size_t i = 1; i < end; i += step) {
      const Range other = range_of(*node.inputs[i]);
      if (auto constant = constant_outside(other, left)) return constant;
      right = joined(right, other);
    }
    return constant_outside(left, right);
  }

  // Returns the first of the constants that is not in the range of a column.
  static std::optional<UnlistedConstant> constant_outside(const Range& constants,
                                                          const Range& range) {
    const bool applies =
        constants.is_known && constants.column.empty() && range.is_known && !range.column.empty();
    if (!applies) return std::nullopt;
    for (const Value& constant : *constants.values) {
      if (!range.values->contains(constant))
        return UnlistedConstant{
            range.column, constant, {range.values->begin(), range.values->end()}};
    }
    return std::nullopt;
  }

  const ListedValues& listed_;
  mutable std::map<std::string, std::shared_ptr<const Values>> columns_;
};

}  // namespace

std::optional<UnlistedConstant> unlisted_constant(const Expression& expression,
                                                  const ListedValues& listed) {
  return Finder(listed).first(expression.root());
}

std::optional<std::vector<Value>> values_of(const Expression& expression,
                                            const ListedValues& listed) {
  const Range range = Finder(listed).range_of(expression.root());
  if (!range.is_known) return std::nullopt;
  return std::vector<Value>(range.values->begin(), range.values->end());
}

}  // namespace sotto
