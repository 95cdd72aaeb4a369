// SELECT statements as trees, which one function prints.
//
// An SqlExpression is made by the functions below and by nothing else: they check or quote every
// name, quote every text, and add the parentheses that precedence requires. What a dialect or a row
// expression wrote enters by trusted_sql().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "data/sql/dialect.hpp"

namespace sotto::data_detail {

/// How tightly the outermost operation of an expression binds, from loose to tight. Engines
/// disagree on the precedence of operations on bits: these are always put in parentheses.
enum class Binding {
  bits,
  disjunction,
  conjunction,
  comparison,
  concatenation,
  sum,
  product,
  primary,
};

/// An expression of SQL.
class SqlExpression {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Binding binding() const { return binding_; }
  /// Returns the text as an operand of an operation that binds like `least`: in parentheses if the
  /// expression binds less tightly.
  [[nodiscard]] std::string operand(Binding least) const;

 private:
  SqlExpression(std::string text, Binding binding) : text_(std::move(text)), binding_(binding) {}
  friend SqlExpression trusted_sql(std::string text, Binding binding);

  std::string text_;
  Binding binding_;
};

/// Returns SQL that sotto's own sources wrote. `text` must not contain a name or value from outside
/// unless a dialect quoted it.
SqlExpression trusted_sql(std::string text, Binding binding = Binding::primary);

/// Returns a name of sotto's own: lower-case letters, digits and underscores, which no engine wants
/// quoted. Throws std::logic_error for any other name.
SqlExpression identifier(const std::string& name);
/// Returns `relation`.`name`, both as identifier().
SqlExpression identifier(const std::string& relation, const std::string& name);
/// Returns any name, or `relation`.name, in the quotes of the dialect.
SqlExpression quoted_identifier(const SqlDialect& sql, const std::string& name);
SqlExpression quoted_identifier(const SqlDialect& sql, const std::string& relation,
                                const std::string& name);
/// Returns all columns of the relations that are read, or of one of them.
SqlExpression all_columns();
SqlExpression all_columns(const std::string& relation);

SqlExpression integer(std::int64_t number);
SqlExpression real(const SqlDialect& sql, double number);
/// Returns a text in single quotes. It must be printable ASCII without backslashes.
SqlExpression text_constant(const std::string& text);

SqlExpression call(const std::string& function, const std::vector<SqlExpression>& arguments);
SqlExpression count_rows();
SqlExpression cast(const SqlDialect& sql, const SqlExpression& x, Type type);
/// Returns x in parentheses, whether they are needed or not.
SqlExpression parenthesised(const SqlExpression& x);

SqlExpression operator-(const SqlExpression& x);
SqlExpression operator+(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator-(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator*(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator/(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator%(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator&(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator<<(const SqlExpression& left, const SqlExpression& right);
SqlExpression concatenation(const std::vector<SqlExpression>& texts);

SqlExpression equal(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator<(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator<=(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator>(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator>=(const SqlExpression& left, const SqlExpression& right);
SqlExpression between(const SqlExpression& x, const SqlExpression& low, const SqlExpression& high);
SqlExpression is_null(const SqlExpression& x);
SqlExpression is_not_null(const SqlExpression& x);
SqlExpression operator&&(const SqlExpression& left, const SqlExpression& right);
SqlExpression operator||(const SqlExpression& left, const SqlExpression& right);

/// The branches of a CASE: a condition (or a value to compare with) and its result.
using CaseBranches = std::vector<std::pair<SqlExpression, SqlExpression>>;
/// Returns CASE WHEN condition THEN result … ELSE otherwise END.
SqlExpression case_when(const CaseBranches& branches,
                        const std::optional<SqlExpression>& otherwise = std::nullopt);
/// Returns CASE x WHEN value THEN result … ELSE otherwise END.
SqlExpression case_of(const SqlExpression& x, const CaseBranches& branches,
                      const std::optional<SqlExpression>& otherwise = std::nullopt);

/// Returns `function` OVER (PARTITION BY … ORDER BY …).
SqlExpression over(const SqlExpression& function, const std::vector<SqlExpression>& partition_by,
                   const std::vector<SqlExpression>& order_by);

/// Returns x AS name, for the columns of a SELECT. The name is as for identifier() or, with a
/// dialect, any name.
SqlExpression alias(const SqlExpression& x, const std::string& name);
SqlExpression alias(const SqlExpression& x, const SqlDialect& sql, const std::string& name);

struct Select;

/// An engine's table, as Engine::table() writes it.
struct EngineTable {
  std::string sql;
};
/// A query of Select::with, by its name.
struct NamedRelation {
  std::string name;
};
/// One query, or several put together by UNION ALL, read under a name.
struct Subquery {
  std::vector<std::shared_ptr<const Select>> parts;
  std::string name;
};
/// A list of rows, read under a name and with names for its columns.
struct ValuesList {
  std::vector<std::vector<SqlExpression>> rows;
  std::string name;
  std::vector<std::string> columns;
};
/// A relation that a SELECT reads.
using Relation = std::variant<EngineTable, NamedRelation, Subquery, ValuesList>;

Relation subquery(Select select, std::string name);
Relation union_all(Select first, Select second, std::string name);

struct Join {
  Relation relation;
  std::vector<SqlExpression> on;  ///< conditions that must all hold
};

/// Whether an engine stores the rows of a named query that is used more than once.
enum class Reuse { engine_decides, compute_again, store };

/// A query before a SELECT that it reads by name: WITH name AS (query).
struct NamedQuery {
  std::string name;
  std::shared_ptr<const Select> query;
  Reuse reuse = Reuse::engine_decides;
};
NamedQuery named_query(std::string name, Select query, Reuse reuse = Reuse::engine_decides);

/// A SELECT statement.
struct Select {
  std::vector<NamedQuery> with = {};
  bool distinct = false;
  std::vector<SqlExpression> columns;
  Relation from;
  std::vector<Join> joins = {};
  std::vector<SqlExpression> where = {};  ///< conditions that must all hold
  std::vector<SqlExpression> group_by = {};
  std::vector<SqlExpression> order_by = {};
  std::optional<std::int64_t> limit = std::nullopt;
};

/// Prints the statement. The dialect decides how it says whether a named query is stored.
std::string print(const Select& select, const SqlDialect& sql);

}  // namespace sotto::data_detail
