// The tree of a row expression, and the places in its text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/expression.hpp"

namespace sotto {

namespace data_detail {
enum class Op {
  null,     // has the type of its neighbours
  literal,  // `value`
  column,   // `name`
  widen,    // an integer beside a real, as the nearest real; not written
  negate,
  add,
  subtract,
  multiply,
  divide,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  both,    // AND, of two or more
  either,  // OR, of two or more
  negation,
  is_null,
  in,             // what, then the list
  between,        // what, least, most
  searched_case,  // condition, result, …, and the ELSE if there is one
  simple_case,    // what, value, result, …, and the ELSE if there is one
  coalesce,
  least,
  greatest,
  floor,
  abs,
  extract,  // `name`: the part
  try_cast  // to `type`
};
}  // namespace data_detail
using data_detail::Op;

struct Expression::Node {
  using Pointer = std::shared_ptr<const Node>;
  Op op;
  Type type;
  std::vector<Pointer> inputs;
  Value value;
  std::string name;
  std::size_t height = 1;
  std::size_t size = 1;  // of the tree that an engine makes of it: engines copy what BETWEEN, IN and CASE look at
};

namespace expression {

using Node = Expression::Node;
using Pointer = Node::Pointer;

// Engines refuse expressions nested about ten times as deeply as this in their own operations.
constexpr std::size_t most_height = 100;
constexpr std::size_t most_nodes = 10'000;
constexpr std::size_t most_bytes = 100'000;

// The reals of expressions: 0, or from 2^-501 to below 1e150 in magnitude, so that no operation on two of them leaves the doubles.
constexpr double most_real = 1e150;
constexpr double least_real = 1e-150;  // of a literal
constexpr double grain = 0x1p-448;     // (x + grain) - grain is 0 or at least 2^-501

// What is parsed; fails with a ParseError at a byte of it.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text) {}
  [[nodiscard]] std::string_view text() const { return text_; }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const;

 private:
  std::string_view text_;
};

// A node of the right type, or a ParseError at byte `at` (of the operator, or of the function's name).
Pointer literal_node(Type type, Value value);
Pointer column_node(const Column& column);
Pointer arithmetic(const Source& source, std::size_t at, Op op, Pointer left, Pointer right);
Pointer negated(const Source& source, std::size_t at, Pointer input);
Pointer comparison(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs);  // also IN and BETWEEN
Pointer logic(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs);       // AND, OR, NOT, IS NULL
Pointer choice(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs);      // CASE
Pointer call(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs);        // COALESCE, LEAST, GREATEST, floor, abs
Pointer extraction(const Source& source, std::size_t at, const std::string& part, Pointer input);
Pointer cast(const Source& source, std::size_t at, Pointer input, Type type);
Pointer null_node(Type type);

// The parts of EXTRACT, for messages.
std::string parts();

Pointer parse(const Source& source, const std::vector<Column>& columns);
std::string print(const Node& node);

// A word that must be quoted to be a column's name.
bool is_reserved(std::string_view lower_case_word);

// "2026-01-31", and "2026-01-31 23:59:59" with at most six digits of a second's fraction, in the years 1 to 9999; in their canonical form,
// or empty if the text is none.
std::string canonical_date(std::string_view text);
std::string canonical_timestamp(std::string_view text);

std::string lower(std::string_view word);
// The reals as sotto writes them, in expressions and in SQL: 1.0, 2.5, 1e-05.
std::string real_text(double x);

}  // namespace expression
}  // namespace sotto
