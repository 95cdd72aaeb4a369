// The Spark dialect, for ANSI mode: overflow is an error, except in the functions try_….
#include <algorithm>
#include <string_view>

#include "core/api/hexadecimal.hpp"
#include "data/expressions/quoting.hpp"
#include "data/expressions/tree.hpp"
#include "data/sql/dialect.hpp"

namespace sotto::data_detail {
namespace {

// Whether a character stands for itself inside '…' under all of Spark's settings, unlike quotes,
// backslashes and ${variables}.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(" _-.,:+").find(c) != std::string_view::npos;
}

class SparkDialect final : public SqlDialect {
 public:
  [[nodiscard]] std::string type(Type type) const override {
    if (type == Type::real) return "DOUBLE";
    if (type == Type::text) return "STRING";
    if (type == Type::timestamp) return "TIMESTAMP_NTZ";
    return SqlDialect::type(type);
  }
  [[nodiscard]] std::string name(const std::string& name) const override {
    return enclosed(name, '`');
  }
  [[nodiscard]] std::string text(const std::string& text) const override {
    if (std::all_of(text.begin(), text.end(), is_plain)) return "'" + text + "'";
    return "CAST(X'" + hexadecimal(text, HexLetters::upper) + "' AS STRING)";
  }

  [[nodiscard]] std::string arithmetic(const std::string& left, char sign,
                                       const std::string& right) const override {
    const char* function = sign == '+'   ? "try_add("
                           : sign == '-' ? "try_subtract("
                                         : "try_multiply(";
    return function + left + ", " + right + ")";
  }
  [[nodiscard]] std::string negative(const std::string& x) const override {
    return arithmetic(cast("0", Type::integer), '-', x);
  }
  [[nodiscard]] std::string magnitude(const std::string& x) const override {
    return attempt("abs(CAST(" + x + " AS DECIMAL(20,0)))", Type::integer);
  }

  [[nodiscard]] std::string quotient(const std::string& left,
                                     const std::string& right) const override {
    return "try_divide(" + left + ", " + right + ")";
  }
  // Spark copies the operands of NULLIF, BETWEEN and CASE, so that plans of nested expressions
  // would grow exponentially. It does not copy the argument of a lambda function.
  [[nodiscard]] std::string as_real(const std::string& x) const override {
    return applied(rounded(x), "CASE WHEN " + value() + " > " + real(-expression::most_real) +
                                   " AND " + value() + " < " + real(expression::most_real) +
                                   " THEN " + value() + " END");
  }
  [[nodiscard]] std::string between(const std::string& x, const std::string& low,
                                    const std::string& high) const override {
    return is_small(x) ? SqlDialect::between(x, low, high)
                       : applied(x, SqlDialect::between(value(), low, high));
  }
  [[nodiscard]] std::string simple_case(const std::string& x,
                                        const std::string& branches) const override {
    return is_small(x) ? SqlDialect::simple_case(x, branches)
                       : applied(x, SqlDialect::simple_case(value(), branches));
  }
  // Spark's floor() returns a BIGINT. From 2^52 on, every double is an integer already.
  [[nodiscard]] std::string floor(const std::string& x) const override {
    return applied(x, "CASE WHEN abs(" + value() + ") < " + real(0x1p52) + " THEN CAST(floor(" +
                          value() + ") AS DOUBLE) ELSE " + value() + " END");
  }
  // A cast of 2^63 would return the largest integer instead of failing.
  [[nodiscard]] std::string to_integer(const std::string& x) const override {
    return applied("rint(" + x + ")", "CASE WHEN " + value() + " > " + real(-0x1.0000000000001p63) +
                                          " AND " + value() + " < " + real(0x1p63) + " THEN " +
                                          attempt(value(), Type::integer) + " END");
  }

  [[nodiscard]] std::string days_between(const std::string& first,
                                         const std::string& last) const override {
    return cast("datediff(" + last + ", " + first + ")", Type::integer);
  }
  [[nodiscard]] std::string part(const std::string& part, const std::string& x) const override {
    if (part == "dow")
      return cast("EXTRACT(DOW FROM " + x + ") - 1", Type::integer);  // Spark counts Sunday as 1
    const std::string own = part == "isodow" ? "DOW_ISO" : part == "isoyear" ? "YEAROFWEEK" : part;
    return cast("floor(EXTRACT(" + own + " FROM " + x + "))",
                Type::integer);  // a second has a fraction
  }

  // In Java, $ also matches before a final line end; \z does not.
  [[nodiscard]] std::string read(const std::string& x, const std::string& pattern,
                                 Type to) const override {
    const std::string all = pattern.substr(0, pattern.size() - 1) + "\\z";
    return attempt("regexp_extract(" + x + ", " + text(all) + ", 0)", to);
  }
  [[nodiscard]] std::string number_of(const std::string& text) const override {
    return "CAST(conv(substr(md5(" + text + "), 1, 7), 16, 10) AS BIGINT)";
  }

  // Spark computes a named query again for each use, and may then read other rows of the table.
  // Statements for Spark use a named query once, or are correct for different rows in each use.
  [[nodiscard]] std::string named_query(const std::string& name, const std::string& query,
                                        bool) const override {
    return name + " AS (" + query + ")";
  }
  // Spark's SUM of a BIGINT is a BIGINT and fails on overflow. No table has 2^41 rows, so that
  // values up to 2^22 never overflow; larger ones are added as two halves, combined as decimals.
  [[nodiscard]] std::string sum(const std::string& x, double largest) const override {
    if (largest <= 0x1p22) return "SUM(" + x + ")";
    if (largest > 0x1p42) return "SUM(CAST(" + x + " AS DECIMAL(38,0)))";
    return "(CAST(SUM(shiftright(" + x + ", 20)) AS DECIMAL(38,0)) * 1048576 + SUM(" + x +
           " & 1048575))";
  }

 private:
  [[nodiscard]] std::string value() const { return name(spark_value); }
  [[nodiscard]] std::string applied(const std::string& x, const std::string& body) const {
    return "transform(array(" + x + "), " + value() + " -> " + body + ")[0]";
  }
  // Whether x is a column or constant, which Spark may copy at no cost.
  static bool is_small(const std::string& x) {
    return x.size() < 60 && x.find('(') == std::string::npos;
  }
  [[nodiscard]] std::string attempt(const std::string& x, Type to) const {
    return "try_cast(" + x + " AS " + type(to) + ")";
  }
};

}  // namespace

const SqlDialect& spark_dialect() {
  static const SparkDialect dialect;
  return dialect;
}

}  // namespace sotto::data_detail
