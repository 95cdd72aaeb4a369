// The tree of a row expression, and the functions that parse, construct and print it.
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
  null,     // NULL, which has the type of the other operands
  literal,  // `value`
  column,   // `name`
  widen,    // converts an integer to the nearest real number; not in the text
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
  in,             // inputs: the operand, then the list
  between,        // inputs: the operand, the lower and the upper limit
  searched_case,  // inputs: condition, result, …, and the result of ELSE if there is one
  simple_case,    // inputs: the operand, value, result, …, and the result of ELSE if there is one
  coalesce,
  least,
  greatest,
  floor,
  abs,
  extract,  // `name` is the part
  try_cast  // to the type of the node
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
  std::size_t size =
      1;  // of the engine's tree, in which the operand of BETWEEN, IN and CASE is copied
};

namespace expression {

using Node = Expression::Node;
using Pointer = Node::Pointer;

// Engines refuse expressions that are about ten times as deep.
constexpr std::size_t most_height = 100;
constexpr std::size_t most_nodes = 10'000;
constexpr std::size_t most_bytes = 100'000;

// The real numbers of expressions are 0 and magnitudes from 2^-501 to below 1e150. No operation on
// two of them overflows or underflows a double.
constexpr double most_real = 1e150;
constexpr double least_real = 1e-150;  // the smallest magnitude of a constant
constexpr double grain = 0x1p-448;     // (x + grain) - grain is 0 or at least 2^-501

// The text that is parsed.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text) {}
  [[nodiscard]] std::string_view text() const { return text_; }
  // Throws ParseError at this byte.
  [[noreturn]] void fail(std::size_t at, const std::string& what) const;

 private:
  std::string_view text_;
};

// Each returns a well-typed node, or throws ParseError at byte `at`, that of the operator or
// function.
Pointer literal_node(Type type, Value value);
Pointer column_node(const Column& column);
Pointer arithmetic(const Source& source, std::size_t at, Op op, Pointer left, Pointer right);
Pointer negated(const Source& source, std::size_t at, Pointer input);
Pointer comparison(const Source& source, std::size_t at, Op op,
                   std::vector<Pointer> inputs);  // also IN and BETWEEN
Pointer logic(const Source& source, std::size_t at, Op op,
              std::vector<Pointer> inputs);  // AND, OR, NOT, IS NULL
Pointer choice(const Source& source, std::size_t at, Op op, std::vector<Pointer> inputs);  // CASE
Pointer call(const Source& source, std::size_t at, Op op,
             std::vector<Pointer> inputs);  // COALESCE, LEAST, GREATEST, floor, abs
Pointer extraction(const Source& source, std::size_t at, const std::string& part, Pointer input);
Pointer cast(const Source& source, std::size_t at, Pointer input, Type type);
Pointer null_node(Type type);

// Returns a list of the parts of EXTRACT, for messages.
std::string parts();

Pointer parse(const Source& source, const std::vector<Column>& columns);
std::string print(const Node& node);

// Whether a column of this name must be written in double quotes.
bool is_reserved(std::string_view lower_case_word);

// Return the canonical form of a date, "2026-01-31", or a timestamp, "2026-01-31 23:59:59" with up
// to six decimals, in the years 1 to 9999. Empty if the text is not one.
std::string canonical_date(std::string_view text);
std::string canonical_timestamp(std::string_view text);

std::string lower(std::string_view word);
// Returns a real number as expressions and SQL write it: 1.0, 2.5, 1e-05.
std::string real_text(double x);

}  // namespace expression
}  // namespace sotto
