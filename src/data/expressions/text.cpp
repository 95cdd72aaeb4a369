// Prints row expressions: their canonical text.
#include <algorithm>
#include <string_view>

#include "data/expressions/quoting.hpp"
#include "data/expressions/tree.hpp"

namespace sotto::expression {
namespace {

// How tightly an operation binds, from OR to expressions that never need parentheses.
enum Level {
  level_or = 1,
  level_and,
  level_not,
  level_comparison,
  level_sum,
  level_product,
  level_sign,
  level_primary
};

bool is_plain(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); }) &&
         !is_reserved(lower(name));
}

std::string constant(const Node& node) {
  switch (node.type) {
    case Type::boolean: return std::get<bool>(node.value) ? "TRUE" : "FALSE";
    case Type::integer: return std::to_string(std::get<std::int64_t>(node.value));
    case Type::real: return real_text(std::get<double>(node.value));
    case Type::text: return data_detail::enclosed(std::get<std::string>(node.value), '\'');
    case Type::date: return "DATE '" + std::get<std::string>(node.value) + "'";
    case Type::timestamp: return "TIMESTAMP '" + std::get<std::string>(node.value) + "'";
  }
  return "";
}

bool is_constant_number(const Node& node) {
  return node.op == Op::literal && (node.type == Type::integer || node.type == Type::real);
}

Level level_of(const Node& node) {
  switch (node.op) {
    case Op::widen: return level_of(*node.inputs[0]);
    case Op::either: return level_or;
    case Op::both: return level_and;
    case Op::negation: {
      const Op inner = node.inputs[0]->op;
      return inner == Op::is_null || inner == Op::in || inner == Op::between ? level_comparison
                                                                             : level_not;
    }
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::is_null:
    case Op::in:
    case Op::between: return level_comparison;
    case Op::add:
    case Op::subtract: return level_sum;
    case Op::multiply:
    case Op::divide: return level_product;
    case Op::negate: return level_sign;
    case Op::literal:
      return is_constant_number(node) && constant(node).front() == '-' ? level_sign : level_primary;
    default: return level_primary;
  }
}

std::string at_least(Level level, const Node& node) {
  return level_of(node) >= level ? print(node) : "(" + print(node) + ")";
}

std::string list(const Node& node, std::size_t first, const char* separator, Level level) {
  std::string out;
  for (std::size_t i = first; i < node.inputs.size(); ++i)
    out += (i == first ? "" : separator) + at_least(level, *node.inputs[i]);
  return out;
}

std::string infix(const Node& node, const char* sign, Level left, Level right) {
  return at_least(left, *node.inputs[0]) + " " + sign + " " + at_least(right, *node.inputs[1]);
}

// IS NULL, IN and BETWEEN, with or without a NOT.
std::string test(const Node& node, bool is_negated) {
  const std::string what = at_least(level_sum, *node.inputs[0]);
  if (node.op == Op::is_null) return what + (is_negated ? " IS NOT NULL" : " IS NULL");
  if (node.op == Op::in)
    return what + (is_negated ? " NOT IN (" : " IN (") + list(node, 1, ", ", level_or) + ")";
  return what + (is_negated ? " NOT BETWEEN " : " BETWEEN ") + list(node, 1, " AND ", level_sum);
}

std::string cases(const Node& node) {
  std::string out = "CASE";
  std::size_t i = 0;
  if (node.op == Op::simple_case) out += " " + print(*node.inputs[i++]);
  for (; i + 1 < node.inputs.size(); i += 2)
    out += " WHEN " + print(*node.inputs[i]) + " THEN " + print(*node.inputs[i + 1]);
  if (i < node.inputs.size()) out += " ELSE " + print(*node.inputs[i]);
  return out + " END";
}

}  // namespace

std::string print(const Node& node) {
  const auto input = [&]() -> const Node& { return *node.inputs[0]; };
  switch (node.op) {
    case Op::null: return "NULL";
    case Op::literal: return constant(node);
    case Op::column: return is_plain(node.name) ? node.name : data_detail::enclosed(node.name, '"');
    case Op::widen: return print(input());
    case Op::negate:
      return is_constant_number(input()) ? "-(" + print(input()) + ")"
                                         : "-" + at_least(level_primary, input());
    case Op::add: return infix(node, "+", level_sum, level_product);
    case Op::subtract: return infix(node, "-", level_sum, level_product);
    case Op::multiply: return infix(node, "*", level_product, level_sign);
    case Op::divide: return infix(node, "/", level_product, level_sign);
    case Op::equal: return infix(node, "=", level_sum, level_sum);
    case Op::not_equal: return infix(node, "<>", level_sum, level_sum);
    case Op::less: return infix(node, "<", level_sum, level_sum);
    case Op::less_equal: return infix(node, "<=", level_sum, level_sum);
    case Op::greater: return infix(node, ">", level_sum, level_sum);
    case Op::greater_equal: return infix(node, ">=", level_sum, level_sum);
    case Op::both: return list(node, 0, " AND ", level_not);
    case Op::either: return list(node, 0, " OR ", level_and);
    case Op::negation:
      return level_of(node) == level_comparison ? test(input(), true)
                                                : "NOT " + at_least(level_not, input());
    case Op::is_null:
    case Op::in:
    case Op::between: return test(node, false);
    case Op::searched_case:
    case Op::simple_case: return cases(node);
    case Op::coalesce: return "COALESCE(" + list(node, 0, ", ", level_or) + ")";
    case Op::least: return "LEAST(" + list(node, 0, ", ", level_or) + ")";
    case Op::greatest: return "GREATEST(" + list(node, 0, ", ", level_or) + ")";
    case Op::floor: return "floor(" + print(input()) + ")";
    case Op::abs: return "abs(" + print(input()) + ")";
    case Op::extract: return "EXTRACT(" + node.name + " FROM " + print(input()) + ")";
    case Op::try_cast: return "TRY_CAST(" + print(input()) + " AS " + name_of(node.type) + ")";
  }
  return "";
}

}  // namespace sotto::expression
