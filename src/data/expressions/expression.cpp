// The class Expression, and small functions on texts and numbers of expressions.
#include "sotto/data/expression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "data/expressions/tree.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace expression {
namespace {

void collect(const Node& node, std::vector<std::string>& names) {
  if (node.op == Op::column && std::find(names.begin(), names.end(), node.name) == names.end())
    names.push_back(node.name);
  for (const Pointer& input : node.inputs) collect(*input, names);
}

}  // namespace

void Source::fail(std::size_t at, const std::string& what) const {
  const std::string_view before = text_.substr(0, at);
  const auto begins_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  };
  throw ParseError(what, 1 + static_cast<std::size_t>(
                                 std::count_if(before.begin(), before.end(), begins_character)));
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string real_text(double x) {
  std::string text = shortest(x);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace expression

Expression::Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

Expression Expression::parse(const std::string& text, const std::vector<Column>& columns) {
  return Expression(expression::parse(expression::Source(text), columns));
}

Type Expression::type() const { return node_->type; }

std::string Expression::text() const { return expression::print(*node_); }

std::vector<std::string> Expression::columns() const {
  std::vector<std::string> names;
  expression::collect(*node_, names);
  return names;
}

}  // namespace sotto
