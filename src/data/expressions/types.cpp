// Type checking: all nodes of expression trees are constructed here, so that a tree is well typed
// and within the limits on depth and size.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "data/expressions/tree.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::expression {
namespace {

bool is_number(Type type) { return type == Type::integer || type == Type::real; }
std::string with_article(Type type) {
  return (type == Type::integer ? "an " : "a ") + name_of(type);
}

// Returns the size of the tree that an engine makes of the node: engines copy the operand of
// BETWEEN, IN and CASE for each comparison.
std::size_t size_of(Op op, const std::vector<Pointer>& inputs) {
  std::size_t copies = 1;
  if (op == Op::between) copies = 3;
  if (op == Op::simple_case) copies = 1 + inputs.size() / 2;
  if (op == Op::in) {
    copies += static_cast<std::size_t>(std::count_if(
        inputs.begin() + 1, inputs.end(), [](const Pointer& p) { return p->op != Op::literal; }));
  }
  std::size_t size = 1 + (copies - 1) * (inputs.empty() ? 0 : inputs.front()->size);
  for (const Pointer& input : inputs) size += input->size;
  return size;
}

Pointer make_node(const Source& source, std::size_t at, Op op, Type type,
                  std::vector<Pointer> inputs, std::string name = {}) {
  auto node = std::make_shared<Node>(Node{op, type, std::move(inputs), {}, std::move(name), 1, 1});
  for (const Pointer& input : node->inputs)
    node->height = std::max(node->height, input->height + 1);
  node->size = size_of(op, node->inputs);
  if (node->height > most_height)
    source.fail(at, "the expression is nested too deeply: more than " +
                        std::to_string(most_height) + " operations");
  if (node->size > most_nodes) {
    source.fail(at, "the expression is too large: more than " + std::to_string(most_nodes) +
                        " operations, where the operand of BETWEEN, IN and CASE counts once for "
                        "each comparison");
  }
  return node;
}

Pointer as_real(const Source& source, std::size_t at, Pointer input) {
  if (input->type != Type::integer) return input;
  return make_node(source, at, Op::widen, Type::real, {std::move(input)});
}

std::string advice(Type one, Type other, const std::vector<const Pointer*>& all) {
  const auto with = [&](Type wanted) { return one == wanted || other == wanted; };
  if (with(Type::text) && (with(Type::date) || with(Type::timestamp))) {
    const Type wanted = with(Type::date) ? Type::date : Type::timestamp;
    const std::string word = wanted == Type::date ? "DATE" : "TIMESTAMP";
    for (const Pointer* p : all) {
      if ((*p)->op == Op::literal && (*p)->type == Type::text) {
        const auto& text = std::get<std::string>((*p)->value);
        const std::string good =
            wanted == Type::date ? canonical_date(text) : canonical_timestamp(text);
        if (!good.empty()) return ": write " + word + " '" + good + "'";
      }
    }
    return ": write TRY_CAST(… AS " + name_of(wanted) + ")";
  }
  if (with(Type::date) && with(Type::timestamp))
    return ": write TRY_CAST(… AS date) or TRY_CAST(… AS timestamp)";
  if (with(Type::text) && (with(Type::integer) || with(Type::real))) {
    return ": write TRY_CAST(… AS " + name_of(with(Type::integer) ? Type::integer : Type::real) +
           "), or a text in single quotes";
  }
  if (with(Type::boolean)) return ": compare a boolean with TRUE or FALSE";
  return "";
}

// Gives all inputs one type, and returns it: if one is real, integers become real; NULLs take the
// type of the other inputs.
Type unify(const Source& source, std::size_t at, const std::string& what,
           const std::vector<Pointer*>& inputs) {
  const Pointer* first = nullptr;
  bool real = false;
  for (const Pointer* input : inputs) {
    if ((*input)->op == Op::null) continue;
    if (first == nullptr) first = input;
    real = real || (*input)->type == Type::real;
    const Type one = (*first)->type;
    const Type other = (*input)->type;
    if (one != other && !(is_number(one) && is_number(other))) {
      source.fail(at, what + " needs values of one type, not " + with_article(one) + " and " +
                          with_article(other) + advice(one, other, {first, input}));
    }
  }
  if (first == nullptr)
    source.fail(at, what + " has no type: write TRY_CAST(NULL AS integer) for one of the NULLs");
  const Type type = real ? Type::real : (*first)->type;
  for (Pointer* input : inputs) {
    if ((*input)->op == Op::null) {
      *input = null_node(type);
    } else if (real) {
      *input = as_real(source, at, *input);
    }
  }
  return type;
}

std::vector<Pointer*> all_of(std::vector<Pointer>& inputs) {
  std::vector<Pointer*> all;
  for (Pointer& input : inputs) all.push_back(&input);
  return all;
}

const char* sign(Op op) {
  switch (op) {
    case Op::add: return "+";
    case Op::subtract: return "-";
    case Op::multiply: return "*";
    case Op::divide: return "/";
    case Op::both: return "AND";
    case Op::either: return "OR";
    case Op::negation: return "NOT";
    case Op::in: return "IN";
    case Op::between: return "BETWEEN";
    case Op::coalesce: return "COALESCE";
    case Op::least: return "LEAST";
    case Op::greatest: return "GREATEST";
    case Op::floor: return "floor";
    case Op::abs: return "abs";
    default: return "a comparison";
  }
}

struct Part {
  std::string_view name;
  bool of_time;  // a part of the time of day, which a date does not have
};
constexpr std::array<Part, 12> all_parts{{{"year", false},
                                          {"quarter", false},
                                          {"month", false},
                                          {"week", false},
                                          {"day", false},
                                          {"dow", false},
                                          {"isodow", false},
                                          {"doy", false},
                                          {"isoyear", false},
                                          {"hour", true},
                                          {"minute", true},
                                          {"second", true}}};

constexpr std::array<std::pair<Type, Type>, 14> casts{{{Type::text, Type::boolean},
                                                       {Type::text, Type::integer},
                                                       {Type::text, Type::real},
                                                       {Type::text, Type::date},
                                                       {Type::text, Type::timestamp},
                                                       {Type::integer, Type::real},
                                                       {Type::integer, Type::boolean},
                                                       {Type::integer, Type::text},
                                                       {Type::real, Type::integer},
                                                       {Type::boolean, Type::integer},
                                                       {Type::boolean, Type::text},
                                                       {Type::date, Type::text},
                                                       {Type::date, Type::timestamp},
                                                       {Type::timestamp, Type::date}}};

}  // namespace

Pointer null_node(Type type) {
  return std::make_shared<Node>(Node{Op::null, type, {}, {}, {}, 1, 1});
}
Pointer literal_node(Type type, Value value) {
  return std::make_shared<Node>(Node{Op::literal, type, {}, std::move(value), {}, 1, 1});
}
Pointer column_node(const Column& column) {
  return std::make_shared<Node>(Node{Op::column, column.type, {}, {}, column.name, 1, 1});
}

Pointer arithmetic(const Source& source, std::size_t at, Op op, Pointer left, Pointer right) {
  const Type one = left->type;
  const Type other = right->type;
  if (op == Op::subtract && one == Type::date && other == Type::date) {
    return make_node(source, at, op, Type::integer, {std::move(left), std::move(right)});
  }
  if (!is_number(one) || !is_number(other)) {
    const Type wrong = is_number(one) ? other : one;
    std::string hint = ": write TRY_CAST(… AS integer) or TRY_CAST(… AS real)";
    if (wrong == Type::date) hint = "; the difference of two dates is a number of days";
    if (wrong == Type::timestamp)
      hint = "; the difference of two dates is a number of days: write TRY_CAST(… AS date)";
    if (wrong == Type::boolean) hint = ": write TRY_CAST(… AS integer)";
    source.fail(at, std::string(sign(op)) + " needs numbers, not " + with_article(wrong) + hint);
  }
  if (op != Op::divide && one == Type::integer && other == Type::integer) {
    return make_node(source, at, op, Type::integer, {std::move(left), std::move(right)});
  }
  return make_node(source, at, op, Type::real,
                   {as_real(source, at, std::move(left)), as_real(source, at, std::move(right))});
}

Pointer negated(const Source& source, std::size_t at, Pointer input) {
  const Type type = input->type;
  if (!is_number(type)) source.fail(at, "- needs a number, not " + with_article(type));
  return make_node(source, at, Op::negate, type, {std::move(input)});
}

Pointer comparison(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs) {
  unify(source, at, sign(op), all_of(inputs));
  return make_node(source, at, op, Type::boolean, std::move(inputs));
}

Pointer logic(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs) {
  if (op == Op::is_null) return make_node(source, at, op, Type::boolean, std::move(inputs));
  for (const Pointer& input : inputs) {
    if (input->type != Type::boolean) {
      source.fail(at, std::string(sign(op)) + " needs booleans, not " + with_article(input->type) +
                          ": write a comparison, such as x <> 0");
    }
  }
  if (op == Op::negation) return make_node(source, at, op, Type::boolean, std::move(inputs));
  std::vector<Pointer> flat;  // (a AND b) AND c is a AND b AND c
  for (const Pointer& input : inputs) {
    if (input->op == op) {
      flat.insert(flat.end(), input->inputs.begin(), input->inputs.end());
    } else {
      flat.push_back(input);
    }
  }
  return make_node(source, at, op, Type::boolean, std::move(flat));
}

Pointer choice(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs) {
  const std::size_t first = op == Op::simple_case ? 1 : 0;
  std::vector<Pointer*> conditions;
  std::vector<Pointer*> results;
  if (first == 1) conditions.push_back(&inputs[0]);
  for (std::size_t i = first; i < inputs.size(); i += 2) {
    const bool is_else = i + 1 == inputs.size();
    if (!is_else) conditions.push_back(&inputs[i]);
    results.push_back(&inputs[is_else ? i : i + 1]);
  }
  if (op == Op::simple_case) {
    unify(source, at, "CASE … WHEN", conditions);
  } else {
    for (const Pointer* condition : conditions) {
      if ((*condition)->type != Type::boolean)
        source.fail(at, "WHEN needs a boolean, not " + with_article((*condition)->type));
    }
  }
  const Type type = unify(source, at, "CASE", results);
  return make_node(source, at, op, type, std::move(inputs));
}

Pointer call(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs) {
  if (op == Op::floor || op == Op::abs) {
    if (inputs.size() != 1) source.fail(at, std::string(sign(op)) + " takes one number");
    const Type type = inputs[0]->type;
    if (!is_number(type))
      source.fail(at, std::string(sign(op)) + " needs a number, not " + with_article(type));
    return make_node(source, at, op, type, std::move(inputs));
  }
  if (inputs.size() < 2) source.fail(at, std::string(sign(op)) + " takes two or more values");
  const Type type = unify(source, at, sign(op), all_of(inputs));
  if (op != Op::coalesce && type == Type::boolean)
    source.fail(at, std::string(sign(op)) + " does not accept booleans: write AND or OR");
  return make_node(source, at, op, type, std::move(inputs));
}

std::string parts() {
  std::string names;
  for (const Part& part : all_parts) names += (names.empty() ? "" : ", ") + std::string(part.name);
  return names;
}

Pointer extraction(const Source& source, std::size_t at, const std::string& part, Pointer input) {
  const auto* part_entry = std::find_if(all_parts.begin(), all_parts.end(),
                                        [&](const Part& p) { return p.name == part; });
  if (part_entry == all_parts.end())
    source.fail(at, "EXTRACT has no part \"" + part + "\"; there are: " + parts());
  if (input->type != Type::date && input->type != Type::timestamp) {
    source.fail(at, "EXTRACT needs a date or a timestamp, not " + with_article(input->type) +
                        ": write TRY_CAST(… AS date)");
  }
  if (part_entry->of_time && input->type == Type::date)
    source.fail(at, "a date has no " + part + ": use a timestamp");
  return make_node(source, at, Op::extract, Type::integer, {std::move(input)}, part);
}

Pointer cast(const Source& source, std::size_t at, Pointer input, Type type) {
  if (input->op == Op::null) input = null_node(type);
  const std::pair<Type, Type> wanted{input->type, type};
  if (input->type != type && std::find(casts.begin(), casts.end(), wanted) == casts.end()) {
    std::string others;
    for (const auto& [from, to] : casts) {
      if (from == input->type) others += (others.empty() ? "" : ", ") + name_of(to);
    }
    source.fail(at, with_article(input->type) + " cannot be cast to " + with_article(type) +
                        "; it can be cast to: " + others);
  }
  return make_node(source, at, Op::try_cast, type, {std::move(input)});
}

}  // namespace sotto::expression
