// Row expressions: SQL's syntax, sotto's meaning. They look at one row, always end, never fail, and mean the same on every engine.
//
// An operation that would fail (division by zero, overflow, a bad cast, not a number) is NULL. docs/reference/expressions.md has the whole
// language, with an example for each line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto {

enum class Dialect { duckdb, postgresql, spark };

class Expression {
 public:
  struct Node;

  /// Parses and types the text. ParseError, with the column in the text, for anything that is not of the language, is unknown or of the
  /// wrong type.
  static Expression parse(const std::string& text, const std::vector<Column>& columns);

  [[nodiscard]] Type type() const;
  /// The canonical text: parses back to the same expression.
  [[nodiscard]] std::string text() const;
  /// The columns it reads, each once.
  [[nodiscard]] std::vector<std::string> columns() const;
  /// As SQL over the cleaned columns (see cleaned()), which go by their own names.
  [[nodiscard]] std::string sql(Dialect dialect) const;
  /// The tree, for sotto's own sources.
  [[nodiscard]] const Node& root() const { return *node_; }

 private:
  explicit Expression(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

/// A stored column, of its declared type, as expressions see it: a real that is not a number, infinite or 1e150 or more in size is NULL, one
/// below 1e-151 is 0; a day outside the years 1 to 9999 is NULL; a text compares by its bytes.
std::string cleaned(const Column& column, Dialect dialect);
/// A name as expressions write it. InvalidValue for what is not UTF-8.
std::string quoted(const std::string& name);
/// A name and a constant, safe inside SQL. InvalidValue for what is not UTF-8 or of another type, and for a real that no expression can hold.
std::string quoted(const std::string& name, Dialect dialect);
std::string literal(const Value& value, Type type, Dialect dialect);
/// SQL of any type but a real as a text.
std::string as_text(const std::string& sql, Dialect dialect);

}  // namespace sotto
