// Prints SELECT statements.
#include "data/sql/select.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/api/join.hpp"
#include "data/expressions/quoting.hpp"

namespace sotto::data_detail {
namespace {

const std::string& text_of(const SqlExpression& x) { return x.text(); }

std::string listed(const std::vector<SqlExpression>& all) { return join(all, ", ", text_of); }

/// Both operands bind at least as tightly as the operator. A right operand that binds equally
/// tightly needs parentheses: operators associate to the left.
SqlExpression infix(const SqlExpression& left, const char* sign, const SqlExpression& right,
                    Binding binding) {
  const auto tighter = static_cast<Binding>(static_cast<int>(binding) + 1);
  return trusted_sql(left.operand(binding) + " " + sign + " " + right.operand(tighter), binding);
}

SqlExpression comparison(const SqlExpression& left, const char* sign, const SqlExpression& right) {
  constexpr Binding least = Binding::concatenation;
  return trusted_sql(left.operand(least) + " " + sign + " " + right.operand(least),
                     Binding::comparison);
}

SqlExpression bits(const SqlExpression& left, const char* sign, const SqlExpression& right) {
  return trusted_sql(
      left.operand(Binding::primary) + " " + sign + " " + right.operand(Binding::primary),
      Binding::bits);
}

std::string conditions(const std::vector<SqlExpression>& all) {
  const Binding least = all.size() > 1 ? Binding::conjunction : Binding::bits;
  return join(all, " AND ", [least](const SqlExpression& one) { return one.operand(least); });
}

std::string branches_text(const CaseBranches& branches,
                          const std::optional<SqlExpression>& otherwise) {
  std::string text;
  for (const auto& [when, then] : branches) text += " WHEN " + when.text() + " THEN " + then.text();
  if (otherwise) text += " ELSE " + otherwise->text();
  return text + " END";
}

/// Prints what follows FROM or JOIN.
struct RelationPrinter {
  const SqlDialect& sql;

  std::string operator()(const EngineTable& table) const { return table.sql; }
  std::string operator()(const NamedRelation& named) const { return identifier(named.name).text(); }
  std::string operator()(const Subquery& subquery) const {
    const auto print_part = [&](const auto& part) { return print(*part, sql); };
    return "(" + join(subquery.parts, " UNION ALL ", print_part) + ") AS " +
           identifier(subquery.name).text();
  }
  std::string operator()(const ValuesList& list) const {
    const auto row_text = [](const auto& row) { return "(" + listed(row) + ")"; };
    const auto name_text = [](const std::string& name) { return identifier(name).text(); };
    return "(VALUES " + join(list.rows, ", ", row_text) + ") AS " + identifier(list.name).text() +
           "(" + join(list.columns, ", ", name_text) + ")";
  }
};

std::string print(const NamedQuery& named, const SqlDialect& sql) {
  const std::string name = identifier(named.name).text();
  const std::string query = print(*named.query, sql);
  if (named.reuse == Reuse::engine_decides) return name + " AS (" + query + ")";
  return sql.named_query(name, query, named.reuse == Reuse::store);
}

}  // namespace

std::string SqlExpression::operand(Binding least) const {
  return binding_ < least ? "(" + text_ + ")" : text_;
}

SqlExpression trusted_sql(std::string text, Binding binding) { return {std::move(text), binding}; }

SqlExpression identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto is_part = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || !is_letter(name.front()) || !std::all_of(name.begin(), name.end(), is_part)) {
    throw std::logic_error("an identifier of sotto's SQL needs quotes: " + name);
  }
  return trusted_sql(name);
}

SqlExpression identifier(const std::string& relation, const std::string& name) {
  return trusted_sql(identifier(relation).text() + "." + identifier(name).text());
}

SqlExpression quoted_identifier(const SqlDialect& sql, const std::string& name) {
  return trusted_sql(sql.name(name));
}

SqlExpression quoted_identifier(const SqlDialect& sql, const std::string& relation,
                                const std::string& name) {
  return trusted_sql(identifier(relation).text() + "." + sql.name(name));
}

SqlExpression all_columns() { return trusted_sql("*"); }

SqlExpression all_columns(const std::string& relation) {
  return trusted_sql(identifier(relation).text() + ".*");
}

SqlExpression integer(std::int64_t number) {
  // a sign binds like a sum: 1 - (-2)
  return trusted_sql(std::to_string(number), number < 0 ? Binding::sum : Binding::primary);
}

SqlExpression real(const SqlDialect& sql, double number) { return trusted_sql(sql.real(number)); }

SqlExpression text_constant(const std::string& text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    throw std::logic_error("a text of sotto's SQL is not plain ASCII");
  }
  return trusted_sql(sql_text(text));
}

SqlExpression call(const std::string& function, const std::vector<SqlExpression>& arguments) {
  return trusted_sql(function + "(" + listed(arguments) + ")");
}

SqlExpression count_rows() { return trusted_sql("COUNT(*)"); }

SqlExpression cast(const SqlDialect& sql, const SqlExpression& x, Type type) {
  return trusted_sql(sql.cast(x.text(), type));
}

SqlExpression parenthesised(const SqlExpression& x) { return trusted_sql("(" + x.text() + ")"); }

SqlExpression operator-(const SqlExpression& x) {
  return trusted_sql("-" + x.operand(Binding::primary), Binding::sum);
}
SqlExpression operator+(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "+", right, Binding::sum);
}
SqlExpression operator-(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "-", right, Binding::sum);
}
SqlExpression operator*(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "*", right, Binding::product);
}
SqlExpression operator/(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "/", right, Binding::product);
}
SqlExpression operator%(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "%", right, Binding::product);
}
SqlExpression operator&(const SqlExpression& left, const SqlExpression& right) {
  return bits(left, "&", right);
}
SqlExpression operator<<(const SqlExpression& left, const SqlExpression& right) {
  return bits(left, "<<", right);
}

SqlExpression concatenation(const std::vector<SqlExpression>& texts) {
  const auto as_operand = [](const SqlExpression& x) { return x.operand(Binding::sum); };
  return trusted_sql(join(texts, " || ", as_operand), Binding::concatenation);
}

SqlExpression equal(const SqlExpression& left, const SqlExpression& right) {
  return comparison(left, "=", right);
}
SqlExpression operator<(const SqlExpression& left, const SqlExpression& right) {
  return comparison(left, "<", right);
}
SqlExpression operator<=(const SqlExpression& left, const SqlExpression& right) {
  return comparison(left, "<=", right);
}
SqlExpression operator>(const SqlExpression& left, const SqlExpression& right) {
  return comparison(left, ">", right);
}
SqlExpression operator>=(const SqlExpression& left, const SqlExpression& right) {
  return comparison(left, ">=", right);
}

SqlExpression between(const SqlExpression& x, const SqlExpression& low, const SqlExpression& high) {
  return trusted_sql(x.operand(Binding::sum) + " BETWEEN " + low.operand(Binding::sum) + " AND " +
                         high.operand(Binding::sum),
                     Binding::comparison);
}
SqlExpression is_null(const SqlExpression& x) {
  return trusted_sql(x.operand(Binding::sum) + " IS NULL", Binding::comparison);
}
SqlExpression is_not_null(const SqlExpression& x) {
  return trusted_sql(x.operand(Binding::sum) + " IS NOT NULL", Binding::comparison);
}
SqlExpression operator&&(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "AND", right, Binding::conjunction);
}
SqlExpression operator||(const SqlExpression& left, const SqlExpression& right) {
  return infix(left, "OR", right, Binding::disjunction);
}

SqlExpression case_when(const CaseBranches& branches,
                        const std::optional<SqlExpression>& otherwise) {
  return trusted_sql("CASE" + branches_text(branches, otherwise));
}

SqlExpression case_of(const SqlExpression& x, const CaseBranches& branches,
                      const std::optional<SqlExpression>& otherwise) {
  return trusted_sql("CASE " + x.text() + branches_text(branches, otherwise));
}

SqlExpression over(const SqlExpression& function, const std::vector<SqlExpression>& partition_by,
                   const std::vector<SqlExpression>& order_by) {
  return trusted_sql(function.text() + " OVER (PARTITION BY " + listed(partition_by) +
                     " ORDER BY " + listed(order_by) + ")");
}

SqlExpression alias(const SqlExpression& x, const std::string& name) {
  return trusted_sql(x.text() + " AS " + identifier(name).text());
}

SqlExpression alias(const SqlExpression& x, const SqlDialect& sql, const std::string& name) {
  return trusted_sql(x.text() + " AS " + sql.name(name));
}

Relation subquery(Select select, std::string name) {
  return Subquery{{std::make_shared<Select>(std::move(select))}, std::move(name)};
}

Relation union_all(Select first, Select second, std::string name) {
  return Subquery{
      {std::make_shared<Select>(std::move(first)), std::make_shared<Select>(std::move(second))},
      std::move(name)};
}

NamedQuery named_query(std::string name, Select query, Reuse reuse) {
  return {std::move(name), std::make_shared<Select>(std::move(query)), reuse};
}

std::string print(const Select& select, const SqlDialect& sql) {
  const RelationPrinter print_relation{sql};
  std::string text;
  if (!select.with.empty()) {
    const auto print_named = [&](const NamedQuery& named) { return print(named, sql); };
    text += "WITH " + join(select.with, ", ", print_named) + " ";
  }
  text += select.distinct ? "SELECT DISTINCT " : "SELECT ";
  text += listed(select.columns) + " FROM " + std::visit(print_relation, select.from);
  for (const Join& one : select.joins) {
    text += " JOIN " + std::visit(print_relation, one.relation) + " ON " + conditions(one.on);
  }
  if (!select.where.empty()) text += " WHERE " + conditions(select.where);
  if (!select.group_by.empty()) text += " GROUP BY " + listed(select.group_by);
  if (!select.order_by.empty()) text += " ORDER BY " + listed(select.order_by);
  if (select.limit) text += " LIMIT " + std::to_string(*select.limit);
  return text;
}

}  // namespace sotto::data_detail
