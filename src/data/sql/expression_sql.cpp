// Translates row expressions to SQL. Each operation is total by itself: it relies neither on the
// order in which an engine evaluates nor on a condition around it, and contains each operand once.
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "data/expressions/quoting.hpp"
#include "data/expressions/tree.hpp"
#include "data/sql/dialect.hpp"
#include "data/text/utf8.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace expression {

using data_detail::SqlDialect;

namespace {

// Returns the pattern that a text must match as a whole to be cast. It has no capturing groups:
// PostgreSQL would return the first of them instead of the match.
std::string pattern(Type type) {
  const std::string year = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)";
  const std::string leap =
      "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
  const std::string date =
      "(?:" + year +
      "-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
      "|02-(?:0[1-9]|1[0-9]|2[0-8]))|" +
      leap + "-02-29)";
  switch (type) {
    case Type::boolean: return "^(?:[tT](?:[rR][uU][eE])?|[fF](?:[aA][lL][sS][eE])?|0|1)$";
    case Type::integer: return "^[+-]?[0-9]{1,19}$";
    // PostgreSQL fails on numbers beyond the range of doubles: these patterns stay within 1e±240.
    case Type::real:
      return "^[+-]?(?:[0-9]{1,40}(?:[.][0-9]{0,40})?|[.][0-9]{1,40})(?:[eE][+-]?[01]?[0-9]{1,2})?"
             "$";
    case Type::date: return "^" + date + "$";
    case Type::timestamp:
      return "^" + date +
             "(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?)?$";
    default: return "^$";
  }
}

class Writer {
 public:
  explicit Writer(const SqlDialect& dialect) : dialect_(dialect) {}

  static std::string literal(const Value& value, Type type, const SqlDialect& dialect);

  std::string sql(const Node& node) const {
    switch (node.op) {
      case Op::null: return text_like(node.type, dialect_.cast("NULL", node.type));
      case Op::literal: return literal(node.value, node.type, dialect_);
      case Op::column: return dialect_.name(node.name);
      case Op::widen: return dialect_.cast(input(node), Type::real);
      case Op::negate:
        return node.type == Type::integer ? dialect_.negative(input(node))
                                          : "(" + dialect_.real(0) + " - " + input(node) + ")";
      case Op::add: return arithmetic(node, '+');
      case Op::subtract: return arithmetic(node, '-');
      case Op::multiply: return arithmetic(node, '*');
      case Op::divide: return dialect_.as_real(dialect_.quotient(input(node, 0), input(node, 1)));
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
      case Op::between: return dialect_.between(input(node, 0), input(node, 1), input(node, 2));
      case Op::searched_case: return "(CASE" + branches(node, 0) + " END)";
      case Op::simple_case: return dialect_.simple_case(input(node), branches(node, 1));
      case Op::coalesce: return "COALESCE(" + list(node, 0, ", ") + ")";
      case Op::least: return "LEAST(" + list(node, 0, ", ") + ")";
      case Op::greatest: return "GREATEST(" + list(node, 0, ", ") + ")";
      case Op::floor: return node.type == Type::integer ? input(node) : dialect_.floor(input(node));
      case Op::abs:
        return node.type == Type::integer ? dialect_.magnitude(input(node))
                                          : "abs(" + input(node) + ")";
      case Op::extract: return dialect_.part(node.name, input(node));
      case Op::try_cast: return cast(node);
    }
    return "NULL";
  }

 private:
  std::string input(const Node& node, std::size_t i = 0) const { return sql(*node.inputs[i]); }
  std::string list(const Node& node, std::size_t first, const char* separator) const {
    std::string out;
    for (std::size_t i = first; i < node.inputs.size(); ++i)
      out += (i == first ? "" : separator) + input(node, i);
    return out;
  }
  std::string text_like(Type type, const std::string& x) const {
    return type == Type::text ? dialect_.by_bytes(x) : x;
  }

  std::string arithmetic(const Node& node, char sign) const {
    if (node.inputs[0]->type == Type::date)
      return dialect_.days_between(input(node, 1), input(node, 0));
    if (node.type == Type::integer)
      return dialect_.arithmetic(input(node, 0), sign, input(node, 1));
    return dialect_.as_real("(" + input(node, 0) + " " + sign + " " + input(node, 1) + ")");
  }

  std::string branches(const Node& node, std::size_t i) const {
    std::string out;
    for (; i + 1 < node.inputs.size(); i += 2)
      out += " WHEN " + input(node, i) + " THEN " + input(node, i + 1);
    if (i < node.inputs.size()) out += " ELSE " + input(node, i);
    return out;
  }

  std::string cast(const Node& node) const {
    const Type from = node.inputs[0]->type;
    std::string x = input(node);
    if (from == node.type) return x;
    if (from == Type::text) {
      const std::string value = dialect_.read(x, pattern(node.type), node.type);
      return node.type == Type::real ? dialect_.as_real(value) : value;
    }
    if (from == Type::real) return dialect_.to_integer(x);
    if (from == Type::integer && node.type == Type::boolean) return "(" + x + " <> 0)";
    if (from == Type::boolean && node.type == Type::integer)
      return dialect_.cast("CAST(" + x + " AS INTEGER)", Type::integer);
    if (from == Type::date && node.type == Type::text)
      return dialect_.by_bytes(dialect_.date_text(x));
    return text_like(node.type, dialect_.cast(x, node.type));
  }

  const SqlDialect& dialect_;
};

std::string checked(const std::string& text, const char* what) {
  if (!data_detail::is_text(text))
    throw InvalidValue(std::string(what) + " must be valid UTF-8 without zero bytes");
  return text;
}

template <class T>
const T& as(const Value& value, Type type) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  throw InvalidValue("a constant is not of type " + name_of(type) +
                     ", the type of its column: write a value of that type");
}

std::string Writer::literal(const Value& value, Type type, const SqlDialect& dialect) {
  switch (type) {
    case Type::boolean: return as<bool>(value, type) ? "TRUE" : "FALSE";
    case Type::integer: return dialect.cast(std::to_string(as<std::int64_t>(value, type)), type);
    case Type::real: {
      const auto x = as<double>(value, type);
      if (!(std::abs(x) < most_real) || (x != 0 && std::abs(x) < least_real))
        throw InvalidValue("the real number " + shortest(x) +
                           " is out of range: write 0, or a magnitude from 1e-150 to below 1e150");
      return dialect.real(x == 0 ? 0.0 : x);
    }
    case Type::text: return dialect.text(checked(as<std::string>(value, type), "a text"));
    case Type::date:
    case Type::timestamp: {
      const auto& text = as<std::string>(value, type);
      const std::string canonical =
          type == Type::date ? canonical_date(text) : canonical_timestamp(text);
      if (canonical.empty())
        throw InvalidValue("\"" + text + "\" is not a " + name_of(type) + ": write " +
                           (type == Type::date ? "2026-01-31" : "2026-01-31 23:59:59"));
      return dialect.cast("'" + canonical + "'", type);
    }
  }
  throw InvalidValue("unknown type of a constant");
}

}  // namespace
}  // namespace expression

std::string Expression::sql(Dialect dialect) const {
  return expression::Writer(data_detail::sql_dialect(dialect)).sql(*node_);
}

std::string quoted(const std::string& name) {
  if (name.empty()) throw InvalidValue("a name must not be empty");
  return data_detail::enclosed(expression::checked(name, "a name"), '"');
}

std::string quoted(const std::string& name, Dialect dialect) {
  if (name.empty()) throw InvalidValue("a name must not be empty");
  return data_detail::sql_dialect(dialect).name(expression::checked(name, "a name"));
}

std::string as_text(const std::string& sql, Dialect dialect) {
  return data_detail::sql_dialect(dialect).cast(sql, Type::text);
}

std::string literal(const Value& value, Type type, Dialect dialect) {
  return expression::Writer::literal(value, type, data_detail::sql_dialect(dialect));
}

std::string cleaned(const Column& column, Dialect dialect) {
  using namespace expression;
  const auto& sql = data_detail::sql_dialect(dialect);
  std::string name = quoted(column.name, dialect);
  const auto if_between = [&](const std::string& low, const std::string& high,
                              const std::string& result) {
    return "(CASE WHEN " + name + " " + low + " AND " + name + " " + high + " THEN " + result +
           " END)";
  };
  switch (column.type) {
    case Type::real: {
      const std::string rounded =
          "((" + name + " + " + sql.real(grain) + ") - " + sql.real(grain) + ")";
      return if_between("> " + sql.real(-most_real), "< " + sql.real(most_real), rounded);
    }
    case Type::date:
      return if_between(">= " + sql.cast("'0001-01-01'", Type::date),
                        "<= " + sql.cast("'9999-12-31'", Type::date), name);
    case Type::timestamp:
      return if_between(">= " + sql.cast("'0001-01-01 00:00:00'", Type::timestamp),
                        "<= " + sql.cast("'9999-12-31 23:59:59.999999'", Type::timestamp), name);
    case Type::text:
      return sql.by_bytes(dialect == Dialect::postgresql ? sql.cast(name, Type::text) : name);
    default: return name;
  }
}

}  // namespace sotto
