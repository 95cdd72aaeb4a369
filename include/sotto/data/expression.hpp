// Row expressions: SQL's syntax with sotto's semantics. An expression reads one row, always
// terminates, never fails, and means the same on every engine.
//
// An operation that would fail (division by zero, overflow, a cast, a result that is not a number)
// returns NULL. docs/reference/expressions.md describes the language line by line, with examples.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto {

enum class Dialect { duckdb, postgresql, spark };

/// A parsed and typed row expression. Immutable; copies share the tree.
class Expression {
 public:
  struct Node;

  /// Parses and types the text. Throws ParseError, with a column of the text, if it is not in the
  /// language, names an unknown column or function, or has a type error.
  static Expression parse(const std::string& text, const std::vector<Column>& columns);

  [[nodiscard]] Type type() const;
  /// Returns the canonical text, which parses to an equal expression.
  [[nodiscard]] std::string text() const;
  /// Returns the columns that the expression reads, each once.
  [[nodiscard]] std::vector<std::string> columns() const;
  /// Returns SQL that reads cleaned columns (see cleaned()) by their names.
  [[nodiscard]] std::string sql(Dialect dialect) const;
  /// Returns the tree, whose type is private to this folder.
  [[nodiscard]] const Node& root() const { return *node_; }

 private:
  explicit Expression(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

/// Returns SQL for a stored column, of its declared type, as expressions see it. A real number
/// becomes NULL if it is NaN, infinite, or at least 1e150 in magnitude, and 0 below 1e-151. A day
/// outside the years 1 to 9999 becomes NULL. Texts compare by their bytes.
std::string cleaned(const Column& column, Dialect dialect);
/// Returns a name in double quotes, as expressions write it. Throws InvalidValue if it is empty or
/// not UTF-8.
std::string quoted(const std::string& name);
/// Returns a name in the quotes of the dialect. Throws InvalidValue if it is empty or not UTF-8.
std::string quoted(const std::string& name, Dialect dialect);
/// Returns a constant as SQL. Throws InvalidValue if it is not of the type, is a text that is not
/// UTF-8, or a real number that expressions cannot hold.
std::string literal(const Value& value, Type type, Dialect dialect);
/// Returns a cast to text of SQL of any type but a real number.
std::string as_text(const std::string& sql, Dialect dialect);

}  // namespace sotto
