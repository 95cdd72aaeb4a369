// Row expressions as SQL. Every operation is total by itself: nothing relies on the order in which an engine evaluates, or on a guard
// around it, and no operand is written twice.
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "expression_node.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sql.hpp"
#include "utf8.hpp"

namespace sotto {
namespace expression {
namespace {

const char* sql_type(Type type) {
  switch (type) {
    case Type::boolean: return "BOOLEAN";
    case Type::integer: return "INT8";
    case Type::real: return "FLOAT8";
    case Type::text: return "TEXT";
    case Type::date: return "DATE";
    case Type::timestamp: return "TIMESTAMP";
  }
  return "";
}

std::string cast_to(const char* type, const std::string& x) { return "CAST(" + x + " AS " + type + ")"; }
std::string constant_real(double x) { return cast_to("FLOAT8", "'" + real_text(x) + "'"); }

// What a text must match, as a whole, to be cast. Without captured groups, of which PostgreSQL would give the first.
std::string pattern(Type type) {
  const std::string year = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)";
  const std::string leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
  const std::string date = "(?:" + year +
                           "-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
                           "|02-(?:0[1-9]|1[0-9]|2[0-8]))|" +
                           leap + "-02-29)";
  switch (type) {
    case Type::boolean: return "^(?:[tT](?:[rR][uU][eE])?|[fF](?:[aA][lL][sS][eE])?|0|1)$";
    case Type::integer: return "^[+-]?[0-9]{1,19}$";
    // PostgreSQL fails where a number leaves the doubles: these stay within 1e±240.
    case Type::real: return "^[+-]?(?:[0-9]{1,40}(?:[.][0-9]{0,40})?|[.][0-9]{1,40})(?:[eE][+-]?[01]?[0-9]{1,2})?$";
    case Type::date: return "^" + date + "$";
    case Type::timestamp: return "^" + date + "(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?)?$";
    default: return "^$";
  }
}

class Writer {
 public:
  explicit Writer(Dialect dialect) : dialect_(dialect) {}

  std::string sql(const Node& node) const {
    switch (node.op) {
      case Op::null: return text_like(node.type, cast_to(sql_type(node.type), "NULL"));
      case Op::literal: return sotto::literal(node.value, node.type, dialect_);
      case Op::column: return quoted(node.name);
      case Op::widen: return cast_to("FLOAT8", input(node));
      case Op::negate: return node.type == Type::integer ? whole("-" + wide(input(node))) : "(" + constant_real(0) + " - " + input(node) + ")";
      case Op::add: return arithmetic(node, "+");
      case Op::subtract: return arithmetic(node, "-");
      case Op::multiply: return arithmetic(node, "*");
      case Op::divide: return quotient(node);
      case Op::equal: return "(" + list(node, 0, " = ") + ")";
      case Op::not_equal: return "(" + list(node, 0, " <> ") + ")";
      case Op::less: return "(" + list(node, 0, " < ") + ")";
      case Op::less_equal: return "(" + list(node, 0, " <= ") + ")";
      case Op::greater: return "(" + list(node, 0, " > ") + ")";
      case Op::greater_equal: return "(" + list(node, 0, " >= ") + ")";
      case Op::both: return "(" + list(node, 0, " AND ") + ")";
      case Op::either: return "(" + list(node, 0, " OR ") + ")";
      case Op::negation: return "(NOT " + input(node) + ")";
      case Op::is_null: return "(" + input(node) + " IS NULL)";
      case Op::in: return "(" + input(node) + " IN (" + list(node, 1, ", ") + "))";
      case Op::between: return "(" + input(node) + " BETWEEN " + list(node, 1, " AND ") + ")";
      case Op::searched_case:
      case Op::simple_case: return cases(node);
      case Op::coalesce: return "COALESCE(" + list(node, 0, ", ") + ")";
      case Op::least: return "LEAST(" + list(node, 0, ", ") + ")";
      case Op::greatest: return "GREATEST(" + list(node, 0, ", ") + ")";
      case Op::floor: return node.type == Type::integer ? input(node) : "floor(" + input(node) + ")";
      case Op::abs: return node.type == Type::integer ? whole("abs(" + wide(input(node)) + ")") : "abs(" + input(node) + ")";
      case Op::extract: return extraction(node);
      case Op::try_cast: return cast(node);
    }
    return "NULL";
  }

 private:
  [[nodiscard]] bool is_duckdb() const { return dialect_ == Dialect::duckdb; }
  std::string input(const Node& node, std::size_t i = 0) const { return sql(*node.inputs[i]); }
  std::string list(const Node& node, std::size_t first, const char* separator) const {
    std::string out;
    for (std::size_t i = first; i < node.inputs.size(); ++i) out += (i == first ? "" : separator) + input(node, i);
    return out;
  }

  // PostgreSQL compares by the database's collation unless told to go by bytes.
  std::string text_like(Type type, const std::string& x) const { return type == Type::text && !is_duckdb() ? "(" + x + " COLLATE \"C\")" : x; }

  // Where no operation on two integers overflows.
  std::string wide(const std::string& x) const { return cast_to(is_duckdb() ? "HUGEINT" : "NUMERIC", x); }

  // x, or NULL if it is not between `low` and `high`, which PostgreSQL's LEAST and GREATEST make of everything beyond and of NULL.
  static std::string within(const std::string& x, const std::string& low, const std::string& high) {
    return "NULLIF(NULLIF(LEAST(GREATEST(" + x + ", " + low + "), " + high + "), " + high + "), " + low + ")";
  }

  // A wide number as an integer, or NULL. DuckDB would compare TRY_CAST(x AS INT8) with a constant as if it were x, were it not for the "| 0".
  std::string whole(const std::string& x) const {
    if (is_duckdb()) return "(TRY_CAST(" + x + " AS INT8) | 0)";
    return cast_to("INT8", within(x, "-9223372036854775809", "9223372036854775808"));
  }

  // A double as one of our reals, or NULL. DuckDB's NULLIF would copy x; a list of one does not.
  std::string real(const std::string& x) const {
    const std::string rounded = "((" + x + " + " + constant_real(grain) + ") - " + constant_real(grain) + ")";
    const std::string low = constant_real(-most_real);
    const std::string high = constant_real(most_real);
    if (is_duckdb()) return "list_filter([" + rounded + "], lambda r: r > " + low + " AND r < " + high + ")[1]";
    return within(rounded, low, high);
  }

  std::string arithmetic(const Node& node, const char* sign) const {
    const auto infix = [&](const std::string& left, const std::string& right) { return "(" + left + " " + sign + " " + right + ")"; };
    if (node.inputs[0]->type == Type::date) return cast_to("INT8", infix(input(node, 0), input(node, 1)));
    if (node.type == Type::integer) return whole(infix(wide(input(node, 0)), wide(input(node, 1))));
    return real(infix(input(node, 0), input(node, 1)));
  }

  // DuckDB gives an infinity or not a number for x/0, PostgreSQL fails.
  std::string quotient(const Node& node) const {
    const std::string divisor = is_duckdb() ? input(node, 1) : "NULLIF(" + input(node, 1) + ", " + constant_real(0) + ")";
    return real("(" + input(node, 0) + " / " + divisor + ")");
  }

  std::string cases(const Node& node) const {
    std::string out = "(CASE";
    std::size_t i = 0;
    if (node.op == Op::simple_case) out += " " + input(node, i++);
    for (; i + 1 < node.inputs.size(); i += 2) out += " WHEN " + input(node, i) + " THEN " + input(node, i + 1);
    if (i < node.inputs.size()) out += " ELSE " + input(node, i);
    return out + " END)";
  }

  std::string extraction(const Node& node) const {
    const std::string part = "EXTRACT(" + node.name + " FROM " + input(node) + ")";
    return cast_to("INT8", is_duckdb() ? part : "floor(" + part + ")");
  }

  std::string cast(const Node& node) const {
    const Type from = node.inputs[0]->type;
    std::string x = input(node);
    if (from == node.type) return x;
    if (from == Type::text) return from_text(x, node.type);
    if (from == Type::real) {  // to an integer, ties to even
      if (is_duckdb()) return "TRY_CAST(" + x + " AS INT8)";
      return cast_to("INT8", within("round(" + x + ")", constant_real(-0x1.0000000000001p63), constant_real(0x1p63)));
    }
    if (from == Type::integer && node.type == Type::boolean) return "(" + x + " <> 0)";
    if (from == Type::boolean && node.type == Type::integer) return cast_to("INT8", cast_to("INT4", x));
    if (from == Type::date && node.type == Type::text && !is_duckdb()) return text_like(Type::text, "to_char(" + x + ", 'YYYY-MM-DD')");
    return text_like(node.type, cast_to(sql_type(node.type), x));
  }

  std::string from_text(const std::string& x, Type type) const {
    const std::string good = is_duckdb() ? "regexp_extract(" + x + ", '" + pattern(type) + "')" : "substring(" + x + " FROM '" + pattern(type) + "')";
    if (type == Type::integer) return whole(is_duckdb() ? good : wide(good));
    const std::string value = (is_duckdb() ? "TRY_CAST(" : "CAST(") + good + " AS " + sql_type(type) + ")";
    return type == Type::real ? real(value) : value;
  }

  Dialect dialect_;
};

std::string checked(const std::string& text, const char* what) {
  if (!data_detail::is_text(text)) throw InvalidValue(std::string(what) + " must be UTF-8 without zero bytes");
  return text;
}

// In PostgreSQL a backslash stands for itself or not, by a setting, except in E'…'.
std::string constant_text(const std::string& text, Dialect dialect) {
  std::string out = data_detail::sql_text(checked(text, "a text"));
  if (dialect == Dialect::duckdb) return out;
  if (text.find('\\') != std::string::npos) {
    std::string escaped = "E";
    for (const char c : out) escaped += c == '\\' ? "\\\\" : std::string(1, c);
    out = escaped;
  }
  return "(CAST(" + out + " AS TEXT) COLLATE \"C\")";
}

template <class T>
const T& as(const Value& value, Type type) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  throw InvalidValue("the constant is not of type " + name_of(type));
}

}  // namespace
}  // namespace expression

std::string Expression::sql(Dialect dialect) const { return expression::Writer(dialect).sql(*node_); }

std::string quoted(const std::string& name) {
  if (name.empty()) throw InvalidValue("a name must not be empty");
  return data_detail::sql_name(expression::checked(name, "a name"));
}

std::string literal(const Value& value, Type type, Dialect dialect) {
  using namespace expression;
  switch (type) {
    case Type::boolean: return as<bool>(value, type) ? "TRUE" : "FALSE";
    case Type::integer: return cast_to("INT8", std::to_string(as<std::int64_t>(value, type)));
    case Type::real: {
      const auto x = as<double>(value, type);
      if (!(std::abs(x) < most_real) || (x != 0 && std::abs(x) < least_real))
        throw InvalidValue("a real must be 0, or between 1e-150 and 1e150 in size");
      return constant_real(x == 0 ? 0.0 : x);
    }
    case Type::text: return constant_text(as<std::string>(value, type), dialect);
    case Type::date:
    case Type::timestamp: {
      const auto& text = as<std::string>(value, type);
      const std::string canonical = type == Type::date ? canonical_date(text) : canonical_timestamp(text);
      if (canonical.empty()) throw InvalidValue("no " + name_of(type) + ": \"" + text + "\"; it looks like 2026-01-31 or 2026-01-31 23:59:59");
      return cast_to(sql_type(type), "'" + canonical + "'");
    }
  }
  throw InvalidValue("no such type");
}

std::string cleaned(const Column& column, Dialect dialect) {
  using namespace expression;
  std::string name = quoted(column.name);
  const auto if_between = [&](const std::string& low, const std::string& high, const std::string& result) {
    return "(CASE WHEN " + name + " " + low + " AND " + name + " " + high + " THEN " + result + " END)";
  };
  switch (column.type) {
    case Type::real: {
      const std::string rounded = "((" + name + " + " + constant_real(grain) + ") - " + constant_real(grain) + ")";
      return if_between("> " + constant_real(-most_real), "< " + constant_real(most_real), rounded);
    }
    case Type::date: return if_between(">= CAST('0001-01-01' AS DATE)", "<= CAST('9999-12-31' AS DATE)", name);
    case Type::timestamp:
      return if_between(">= CAST('0001-01-01 00:00:00' AS TIMESTAMP)", "<= CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP)", name);
    case Type::text: return dialect == Dialect::duckdb ? name : "(CAST(" + name + " AS TEXT) COLLATE \"C\")";
    default: return name;
  }
}

}  // namespace sotto
