#include "data/api/unbounded.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "data/sql/dialect.hpp"
#include "data/expressions/tree.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

std::string field_sql(const Field& field, Dialect dialect) {
  const std::string sql = field.value.sql(dialect);
  return field.if_null ? "COALESCE(" + sql + ", " + literal(*field.if_null, field.value.type(), dialect) + ")" : sql;
}

// The bin of x, as bounded statistics count it.
std::string bin_sql(const Bins& bins, const data_detail::SqlDialect& sql) {
  const auto real = [&](double x) { return sql.real(x); };
  const std::string place = "floor((" + sql.cast("x", Type::real) + " - " + real(bins.lower) + ") / " + real(bins.width) + ")";
  return "CAST(LEAST(GREATEST(" + place + ", " + real(0) + "), " + real(static_cast<double>(bins.count - 1)) + ") AS BIGINT)";
}

std::vector<std::string> numbers_sql(const Aggregate& aggregate, Statistic statistic, const std::vector<double>& quantiles,
                                     const data_detail::SqlDialect& dialect) {
  const bool is_real = aggregate.of && aggregate.of->value.type() == Type::real;
  const std::string sum = is_real ? dialect.sum_of_reals("x") : dialect.sum("x", 0x1p63);
  const std::string units = aggregate.unit ? "COUNT(DISTINCT u)" : "COUNT(*)";
  switch (statistic) {
    case Statistic::rows:
    case Statistic::bins: return {"COUNT(*)"};
    case Statistic::units: return {units};
    case Statistic::sum: return {"COALESCE(" + sum + ", 0)"};
    case Statistic::mean: return {sum, "COUNT(x)"};
    case Statistic::mean_of_units: return {sum, aggregate.unit ? "COUNT(DISTINCT CASE WHEN x IS NOT NULL THEN u END)" : "COUNT(x)"};
    case Statistic::variance: return {"VAR_POP(" + dialect.cast("x", Type::real) + ")"};
    case Statistic::quantiles: break;
  }
  std::vector<std::string> all;
  for (const double q : quantiles)
    all.push_back("percentile_cont(" + shortest(q) + ") WITHIN GROUP (ORDER BY " + dialect.cast("x", Type::real) + ")");
  return all;
}

std::string statement_of(const Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, Statistic statistic,
                         const std::vector<double>& quantiles) {
  const Dialect dialect = engine.dialect();
  const auto& sql = data_detail::sql_dialect(dialect);
  std::set<std::string> used;
  const auto use = [&](const Expression& e) {
    for (const std::string& name : e.columns()) used.insert(name);
  };
  std::string rows = "1 AS one";
  std::string shown;
  std::string grouped;
  for (std::size_t k = 0; k < aggregate.keys.size(); ++k) {
    const std::string name = "k" + std::to_string(k);
    use(aggregate.keys[k].value);
    rows += ", " + field_sql(aggregate.keys[k], dialect) + " AS " + name;
    shown += sql.cast(name, Type::text) + ", ";
    grouped += (grouped.empty() ? "" : ", ") + name;
  }
  if (aggregate.unit) {
    use(*aggregate.unit);
    rows += ", " + aggregate.unit->sql(dialect) + " AS u";
  }
  if (aggregate.of) {
    use(aggregate.of->value);
    rows += ", " + field_sql(*aggregate.of, dialect) + " AS x";
  }
  if (aggregate.where) use(*aggregate.where);
  std::string stored = "1 AS one";
  for (const Column& column : columns) {
    if (used.contains(column.name)) stored += ", " + cleaned(column, dialect) + " AS " + sql.name(column.name);
  }
  std::string from = "SELECT " + rows + " FROM (SELECT " + stored + " FROM " + engine.table() + ") AS c";
  if (aggregate.where) from += " WHERE " + aggregate.where->sql(dialect);
  from = "(" + from + ") AS r";
  if (statistic == Statistic::bins) {
    from = "(SELECT r.*, " + bin_sql(aggregate.bins, sql) + " AS b FROM " + from + " WHERE x IS NOT NULL) AS r";
    shown += sql.cast("b", Type::text) + ", ";
    grouped += grouped.empty() ? "b" : ", b";
  }
  std::string select = "SELECT " + shown;
  const auto numbers = numbers_sql(aggregate, statistic, quantiles, sql);
  for (std::size_t i = 0; i < numbers.size(); ++i) select += (i == 0 ? "" : ", ") + sql.cast(numbers[i], Type::text);
  return select + " FROM " + from + (grouped.empty() ? "" : " GROUP BY " + grouped);
}

double number_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  double value = std::numeric_limits<double>::quiet_NaN();
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

std::string text_of(const Value& value, Type type) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* text = std::get_if<std::string>(&value)) return type == Type::timestamp ? expression::canonical_timestamp(*text) : *text;
  throw InvalidValue("a key cannot be a real number");
}

}  // namespace

std::vector<double> unbounded(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, Statistic statistic,
                              const std::vector<double>& quantiles) {
  const std::size_t keys = aggregate.keys.size();
  const bool has_bins = statistic == Statistic::bins;
  const bool is_ratio = statistic == Statistic::mean || statistic == Statistic::mean_of_units;
  const std::size_t width = has_bins ? static_cast<std::size_t>(aggregate.bins.count) : statistic == Statistic::quantiles ? quantiles.size() : 1;
  const bool counts = statistic == Statistic::rows || statistic == Statistic::units || statistic == Statistic::sum || has_bins;
  std::vector<double> found(aggregate.groups.size() * width, counts ? 0 : std::numeric_limits<double>::quiet_NaN());
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t g = 0; g < aggregate.groups.size(); ++g) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < keys; ++k) names.push_back(text_of(aggregate.groups[g].at(k), aggregate.keys[k].value.type()));
    places.emplace(std::move(names), g);
  }
  const Rows rows = engine.query(statement_of(engine, columns, aggregate, statistic, quantiles));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < keys; ++k) {
      if (const auto* name = std::get_if<std::string>(&rows.at(row, k)); name != nullptr) names.push_back(*name);
    }
    const auto place = places.find(names);  // NULL is no key
    if (names.size() != keys || place == places.end()) continue;
    const std::size_t start = place->second * width;
    if (has_bins) {
      found.at(start + static_cast<std::size_t>(number_of(rows.at(row, keys)))) = number_of(rows.at(row, keys + 1));
    } else if (is_ratio) {
      found[start] = number_of(rows.at(row, keys)) / number_of(rows.at(row, keys + 1));
    } else {
      for (std::size_t i = 0; i < width; ++i) found[start + i] = number_of(rows.at(row, keys + i));
    }
  }
  return found;
}

}  // namespace sotto
