// The parts of SQL that all engines share, with the hooks that a dialect may override.
#include "data/sql/dialect.hpp"

#include <stdexcept>

#include "data/expressions/quoting.hpp"
#include "data/expressions/tree.hpp"

namespace sotto::data_detail {

std::string SqlDialect::type(Type type) const {
  switch (type) {
    case Type::boolean: return "BOOLEAN";
    case Type::integer: return "BIGINT";
    case Type::real: return "DOUBLE PRECISION";
    case Type::text: return "TEXT";
    case Type::date: return "DATE";
    case Type::timestamp: return "TIMESTAMP";
  }
  throw std::logic_error("unknown type of column");
}

std::string SqlDialect::cast(const std::string& x, Type to) const {
  return "CAST(" + x + " AS " + type(to) + ")";
}
std::string SqlDialect::real(double x) const {
  return cast("'" + expression::real_text(x) + "'", Type::real);
}
std::string SqlDialect::name(const std::string& name) const { return enclosed(name, '"'); }

std::string SqlDialect::trimmed(const std::string& x) const {
  return "btrim(" + x + ", " + text(" \t") + ")";
}

std::string SqlDialect::within(const std::string& x, const std::string& low,
                               const std::string& high) {
  return "NULLIF(NULLIF(LEAST(GREATEST(" + x + ", " + low + "), " + high + "), " + high + "), " +
         low + ")";
}

std::string SqlDialect::rounded(const std::string& x) const {
  return "((" + x + " + " + real(expression::grain) + ") - " + real(expression::grain) + ")";
}

std::string SqlDialect::as_real(const std::string& x) const {
  return within(rounded(x), real(-expression::most_real), real(expression::most_real));
}

std::string SqlDialect::days_between(const std::string& first, const std::string& last) const {
  return cast("(" + last + " - " + first + ")", Type::integer);
}

std::string SqlDialect::named_query(const std::string& name, const std::string& query,
                                    bool once) const {
  return name + (once ? " AS MATERIALIZED (" : " AS NOT MATERIALIZED (") + query + ")";
}

std::string SqlDialect::sum(const std::string& x, double) const { return "SUM(" + x + ")"; }

const SqlDialect& sql_dialect(Dialect dialect) {
  switch (dialect) {
    case Dialect::duckdb: return duckdb_dialect();
    case Dialect::postgresql: return postgresql_dialect();
    case Dialect::spark: return spark_dialect();
  }
  throw std::logic_error("unknown SQL dialect");
}

}  // namespace sotto::data_detail
