// The rows that count in an aggregate, as a query.
#include "data/sql/base_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "data/sql/clamp.hpp"

namespace sotto::data_detail {
namespace {

/// Whether the expression is a stored column and nothing else.
bool is_bare(const Expression& expression) {
  const auto names = expression.columns();
  return names.size() == 1 &&
         (expression.text() == names.front() || expression.text() == sotto::quoted(names.front()));
}

}  // namespace

std::string key_name(std::size_t k) { return "k" + std::to_string(k); }

std::vector<SqlExpression> key_columns(const Aggregate& aggregate) {
  std::vector<SqlExpression> all;
  for (std::size_t k = 0; k < aggregate.keys.size(); ++k) all.push_back(identifier(key_name(k)));
  return all;
}

std::vector<SqlExpression> key_columns(const Aggregate& aggregate, const std::string& relation) {
  std::vector<SqlExpression> all;
  for (std::size_t k = 0; k < aggregate.keys.size(); ++k) {
    all.push_back(identifier(relation, key_name(k)));
  }
  return all;
}

BaseRows::BaseRows(Dialect dialect, std::string table, const std::vector<Column>& columns,
                   const Aggregate& aggregate)
    : dialect_(dialect),
      sql_(sql_dialect(dialect)),
      table_(std::move(table)),
      columns_(columns),
      aggregate_(aggregate) {
  const auto has_this_name = [&](const Column& one) { return one.name == stored_name_; };
  while (std::any_of(columns_.begin(), columns_.end(), has_this_name)) stored_name_ += "=";
}

// Whether sums are of doubles. They are exact: gather() adds integers if a group has many rows.
bool BaseRows::adds_doubles(bool whole_numbers) const {
  const bool is_fractional = aggregate_.of && (aggregate_.of->value.type() == Type::real ||
                                               aggregate_.steps.exponent != 0);
  return is_fractional && !whole_numbers && dialect_ == Dialect::duckdb &&
         aggregate_.gather == Gather::values;
}

// Without a unit, rows are only added: their sum is divided by the unit of the grid once.
CodeForm BaseRows::code_form(bool whole_numbers) const {
  if (!adds_doubles(whole_numbers)) return CodeForm::bigint;
  return aggregate_.unit ? CodeForm::real : CodeForm::on_grid;
}

// DuckDB reads a stored real column without cleaning it, since clamped_code() treats NaN and
// infinities as NULL. PostgreSQL fails on the addition of very large numbers, so that its columns
// are always cleaned.
bool BaseRows::reads_stored_number() const {
  const Expression& value = aggregate_.of->value;
  return dialect_ == Dialect::duckdb && value.type() == Type::real && is_bare(value);
}

SqlExpression BaseRows::key_value(const Field& key) const {
  const SqlExpression value = trusted_sql(key.value.sql(dialect_));
  if (!key.if_null) return value;
  const std::string constant = literal(*key.if_null, key.value.type(), dialect_);
  return call("COALESCE", {value, trusted_sql(constant)});
}

// The columns that the aggregate reads, cleaned, and the raw number.
Select BaseRows::stored_columns() const {
  std::set<std::string> used;
  const auto use = [&](const Expression& expression) {
    for (const std::string& name : expression.columns()) used.insert(name);
  };
  if (aggregate_.unit) use(*aggregate_.unit);
  for (const Field& key : aggregate_.keys) use(key.value);
  if (aggregate_.of) use(aggregate_.of->value);
  if (aggregate_.where) use(*aggregate_.where);

  std::vector<SqlExpression> selected;
  if (aggregate_.of && reads_stored_number()) {
    const std::string name = aggregate_.of->value.columns().front();
    selected.push_back(alias(quoted_identifier(sql_, name), sql_, stored_name_));
  }
  for (const Column& one : columns_) {
    if (!used.contains(one.name)) continue;
    selected.push_back(alias(trusted_sql(cleaned(one, dialect_)), sql_, one.name));
  }
  if (selected.empty()) selected.push_back(alias(integer(1), "one"));
  return {.columns = selected, .from = EngineTable{table_}};
}

// Unit, keys and number of each row for which `where` is true.
Select BaseRows::fields() const {
  std::vector<SqlExpression> selected;
  if (aggregate_.unit) selected.push_back(alias(trusted_sql(aggregate_.unit->sql(dialect_)), "u"));
  for (std::size_t k = 0; k < aggregate_.keys.size(); ++k) {
    selected.push_back(alias(key_value(aggregate_.keys[k]), key_name(k)));
  }
  if (aggregate_.of) {
    const SqlExpression number = reads_stored_number()
                                     ? quoted_identifier(sql_, stored_name_)
                                     : trusted_sql(aggregate_.of->value.sql(dialect_));
    selected.push_back(alias(number, sql_, "number"));
  }
  if (selected.empty()) selected.push_back(alias(integer(1), "one"));

  std::vector<SqlExpression> where;
  if (aggregate_.where) where.push_back(trusted_sql(aggregate_.where->sql(dialect_)));
  return {.columns = selected, .from = subquery(stored_columns(), "c"), .where = where};
}

// With a unit, a row with a NULL does not count and is dropped. Without one it stays: no count or
// sum includes it, and no listed group has it.
std::vector<SqlExpression> BaseRows::conditions() const {
  std::vector<SqlExpression> conditions;
  if (aggregate_.unit) {
    conditions.push_back(is_not_null(identifier("n", "u")));
    for (const SqlExpression& key : key_columns(aggregate_, "n")) {
      conditions.push_back(is_not_null(key));
    }
    if (aggregate_.of && !aggregate_.of->if_null) {
      const SqlExpression number = quoted_identifier(sql_, "n", "number");
      const bool is_real = aggregate_.of->value.type() == Type::real;
      conditions.push_back(
          is_real ? between(number, real(sql_, -largest_real()), real(sql_, largest_real()))
                  : is_not_null(number));
    }
  }
  return conditions;
}

Select BaseRows::select(bool whole_numbers, const std::optional<SqlExpression>& condition) const {
  std::vector<SqlExpression> selected;
  if (aggregate_.unit) selected.push_back(identifier("n", "u"));
  const std::vector<SqlExpression> keys = key_columns(aggregate_, "n");
  selected.insert(selected.end(), keys.begin(), keys.end());
  if (aggregate_.of) {
    const SqlExpression number = quoted_identifier(sql_, "n", "number");
    const CodeForm form = code_form(whole_numbers);
    selected.push_back(alias(clamped_code(aggregate_, sql_, number, form), "x"));
  }
  if (selected.empty()) selected.push_back(alias(integer(1), "one"));
  Select rows{.columns = selected, .from = subquery(fields(), "n"), .where = conditions()};
  if (condition) rows.where.push_back(*condition);
  return rows;
}

}  // namespace sotto::data_detail
