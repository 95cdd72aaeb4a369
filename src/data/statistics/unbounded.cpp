// Computes exact statistics, without bounds on what a unit contributes.
#include "data/api/unbounded.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "data/expressions/tree.hpp"
#include "data/sql/select.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::alias;
using data_detail::call;
using data_detail::case_when;
using data_detail::EngineTable;
using data_detail::identifier;
using data_detail::integer;
using data_detail::Select;
using data_detail::SqlDialect;
using data_detail::SqlExpression;
using data_detail::subquery;
using data_detail::trusted_sql;

SqlExpression value_of(const Field& field, Dialect dialect) {
  const SqlExpression value = trusted_sql(field.value.sql(dialect));
  if (!field.if_null) return value;
  const std::string constant = literal(*field.if_null, field.value.type(), dialect);
  return call("COALESCE", {value, trusted_sql(constant)});
}

// Returns the bin of x, with the rule of bounded statistics.
SqlExpression bin_of(const Bins& bins, const SqlDialect& sql) {
  const SqlExpression x = cast(sql, identifier("x"), Type::real);
  const SqlExpression bin = call("floor", {(x - real(sql, bins.lower)) / real(sql, bins.width)});
  const SqlExpression at_least = call("GREATEST", {bin, real(sql, 0)});
  const SqlExpression last = real(sql, static_cast<double>(bins.count - 1));
  return cast(sql, call("LEAST", {at_least, last}), Type::integer);
}

// Returns the numbers that a statistic is computed from, for each group.
std::vector<SqlExpression> numbers_of(const Aggregate& aggregate, Statistic statistic,
                                      const std::vector<double>& quantiles, const SqlDialect& sql) {
  const bool is_real = aggregate.of && aggregate.of->value.type() == Type::real;
  const SqlExpression x = identifier("x");
  const SqlExpression sum = trusted_sql(is_real ? sql.sum_of_reals("x") : sql.sum("x", 0x1p63));
  const SqlExpression rows = data_detail::count_rows();
  switch (statistic) {
    case Statistic::rows:
    case Statistic::bins: return {rows};
    case Statistic::units: return {aggregate.unit ? trusted_sql("COUNT(DISTINCT u)") : rows};
    case Statistic::sum: return {call("COALESCE", {sum, integer(0)})};
    case Statistic::mean: return {sum, call("COUNT", {x})};
    case Statistic::mean_of_units: {
      const SqlExpression unit_with_value = case_when({{is_not_null(x), identifier("u")}});
      return {sum, aggregate.unit ? trusted_sql("COUNT(DISTINCT " + unit_with_value.text() + ")")
                                  : call("COUNT", {x})};
    }
    case Statistic::variance: return {call("VAR_POP", {cast(sql, x, Type::real)})};
    case Statistic::quantiles: break;
  }
  std::vector<SqlExpression> all;
  for (const double q : quantiles) {
    all.push_back(trusted_sql("percentile_cont(" + shortest(q) + ") WITHIN GROUP (ORDER BY " +
                              cast(sql, x, Type::real).text() + ")"));
  }
  return all;
}

// The columns that the aggregate reads, cleaned.
Select stored_columns(const Engine& engine, const std::vector<Column>& columns,
                      const Aggregate& aggregate) {
  const Dialect dialect = engine.dialect();
  const SqlDialect& sql = data_detail::sql_dialect(dialect);
  std::set<std::string> used;
  const auto use = [&](const Expression& expression) {
    for (const std::string& name : expression.columns()) used.insert(name);
  };
  for (const Field& key : aggregate.keys) use(key.value);
  if (aggregate.unit) use(*aggregate.unit);
  if (aggregate.of) use(aggregate.of->value);
  if (aggregate.where) use(*aggregate.where);

  Select stored{.columns = {alias(integer(1), "one")}, .from = EngineTable{engine.table()}};
  for (const Column& column : columns) {
    if (!used.contains(column.name)) continue;
    stored.columns.push_back(alias(trusted_sql(cleaned(column, dialect)), sql, column.name));
  }
  return stored;
}

// The rows for which `where` is true, with their keys k0, k1, …, unit u and number x.
Select rows_of(const Engine& engine, const std::vector<Column>& columns,
               const Aggregate& aggregate) {
  const Dialect dialect = engine.dialect();
  Select rows{.columns = {alias(integer(1), "one")},
              .from = subquery(stored_columns(engine, columns, aggregate), "c")};
  for (std::size_t k = 0; k < aggregate.keys.size(); ++k) {
    rows.columns.push_back(alias(value_of(aggregate.keys[k], dialect), "k" + std::to_string(k)));
  }
  if (aggregate.unit) {
    rows.columns.push_back(alias(trusted_sql(aggregate.unit->sql(dialect)), "u"));
  }
  if (aggregate.of) rows.columns.push_back(alias(value_of(*aggregate.of, dialect), "x"));
  if (aggregate.where) rows.where.push_back(trusted_sql(aggregate.where->sql(dialect)));
  return rows;
}

// The statement: its columns are the keys and the bin, if there are bins, and the numbers, as text.
std::string statement_of(const Engine& engine, const std::vector<Column>& columns,
                         const Aggregate& aggregate, Statistic statistic,
                         const std::vector<double>& quantiles) {
  const SqlDialect& sql = data_detail::sql_dialect(engine.dialect());
  Select select{.columns = {}, .from = subquery(rows_of(engine, columns, aggregate), "r")};
  for (std::size_t k = 0; k < aggregate.keys.size(); ++k) {
    select.group_by.push_back(identifier("k" + std::to_string(k)));
  }
  if (statistic == Statistic::bins) {
    const SqlExpression bin = alias(bin_of(aggregate.bins, sql), "b");
    const Select binned{.columns = {data_detail::all_columns("r"), bin},
                        .from = select.from,
                        .where = {is_not_null(identifier("x"))}};
    select.from = subquery(binned, "r");
    select.group_by.push_back(identifier("b"));
  }
  for (const SqlExpression& key : select.group_by) {
    select.columns.push_back(cast(sql, key, Type::text));
  }
  for (const SqlExpression& number : numbers_of(aggregate, statistic, quantiles, sql)) {
    select.columns.push_back(cast(sql, number, Type::text));
  }
  return print(select, sql);
}

double number_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  double value = std::numeric_limits<double>::quiet_NaN();
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

// Returns a key as engines write it.
std::string text_of(const Value& value, Type type) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return type == Type::timestamp ? expression::canonical_timestamp(*text) : *text;
  }
  throw InvalidValue("a key cannot be a real number: count rows in bins, or derive an integer");
}

// Returns the index of each listed group, by the texts of its keys.
std::map<std::vector<std::string>, std::size_t> places_of_groups(const Aggregate& aggregate) {
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t g = 0; g < aggregate.groups.size(); ++g) {
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < aggregate.keys.size(); ++k) {
      texts.push_back(text_of(aggregate.groups[g].at(k), aggregate.keys[k].value.type()));
    }
    places.emplace(std::move(texts), g);
  }
  return places;
}

}  // namespace

std::vector<double> unbounded(Engine& engine, const std::vector<Column>& columns,
                              const Aggregate& aggregate, Statistic statistic,
                              const std::vector<double>& quantiles) {
  const std::size_t keys = aggregate.keys.size();
  const bool has_bins = statistic == Statistic::bins;
  const bool is_ratio = statistic == Statistic::mean || statistic == Statistic::mean_of_units;
  const std::size_t width = has_bins ? static_cast<std::size_t>(aggregate.bins.count)
                            : statistic == Statistic::quantiles ? quantiles.size()
                                                                : 1;
  const bool is_zero_without_rows = statistic == Statistic::rows || statistic == Statistic::units ||
                                    statistic == Statistic::sum || has_bins;
  const double without_rows = is_zero_without_rows ? 0 : std::numeric_limits<double>::quiet_NaN();
  std::vector<double> numbers(aggregate.groups.size() * width, without_rows);
  const auto places = places_of_groups(aggregate);

  const Rows rows = engine.query(statement_of(engine, columns, aggregate, statistic, quantiles));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<std::string> texts;  // fewer than the keys if one is NULL
    for (std::size_t k = 0; k < keys; ++k) {
      const auto* text = std::get_if<std::string>(&rows.at(row, k));
      if (text != nullptr) texts.push_back(*text);
    }
    const auto place = places.find(texts);
    if (texts.size() != keys || place == places.end()) continue;
    const std::size_t start = place->second * width;
    if (has_bins) {
      const auto bin = static_cast<std::size_t>(number_of(rows.at(row, keys)));
      numbers.at(start + bin) = number_of(rows.at(row, keys + 1));
    } else if (is_ratio) {
      numbers[start] = number_of(rows.at(row, keys)) / number_of(rows.at(row, keys + 1));
    } else {
      for (std::size_t i = 0; i < width; ++i)
        numbers[start + i] = number_of(rows.at(row, keys + i));
    }
  }
  return numbers;
}

}  // namespace sotto
