// The types of PostgreSQL's columns, and SQL that reads them as declared types.
#include "data/engines/postgresql/stored_types.hpp"

#include <algorithm>
#include <stdexcept>

#include "data/expressions/quoting.hpp"

namespace sotto::data_detail {
namespace {

/// Returns a day or time of the years 1 to 9999, which every engine has, else NULL.
std::string common_days(const std::string& value) {
  return "CASE WHEN " + value + " >= '0001-01-01' AND " + value + " < '10000-01-01' THEN " + value +
         " END";
}

}  // namespace

std::vector<std::string> postgresql_types(Type type) {
  switch (type) {
    case Type::boolean: return {"boolean"};
    case Type::integer:
      return {"smallint", "integer", "bigint", "double precision", "real", "numeric"};
    case Type::real:
      return {"double precision", "real", "numeric", "smallint", "integer", "bigint"};
    case Type::text: return {"text", "character varying", "character", "name", "uuid", "enum"};
    case Type::date: return {"date"};
    case Type::timestamp: return {"timestamp without time zone", "timestamp with time zone"};
  }
  throw std::logic_error("unknown type of column");
}

bool fits_in_postgresql(const std::string& stored, Type type) {
  const auto types = postgresql_types(type);
  return std::find(types.begin(), types.end(), stored) != types.end();
}

std::string postgresql_value(const Column& column, const std::string& stored) {
  auto name = sql_name(column.name);
  switch (column.type) {
    case Type::boolean: return name;
    case Type::integer:
      if (stored == "bigint") return name;
      if (stored == "smallint" || stored == "integer") return name + "::bigint";
      // up to the largest integer that a double holds exactly
      return "CASE WHEN " + name + " BETWEEN -9007199254740992 AND 9007199254740992 AND trunc(" +
             name + (stored == "numeric" ? ")" : "::double precision)") + " = " + name + " THEN " +
             name + "::bigint END";
    case Type::real:
      if (stored == "double precision") return name;
      if (stored != "numeric") return name + "::double precision";
      // The cast fails if the number is out of the range of doubles.
      return "CASE WHEN " + name + " IS NULL THEN NULL WHEN abs(" + name +
             ") > 1e150 THEN 'NaN'::double precision WHEN abs(" + name + ") < 1e-150 THEN 0 ELSE " +
             name + "::double precision END";
    case Type::text: return stored == "text" ? name : name + "::text";
    case Type::date: return common_days(name);
    case Type::timestamp:
      return common_days(stored == "timestamp with time zone" ? "(" + name + " AT TIME ZONE 'UTC')"
                                                              : name);
  }
  throw std::logic_error("unknown type of column");
}

}  // namespace sotto::data_detail
