// DuckDB's SQL.
#include "data/sql/dialect.hpp"
#include "data/expressions/tree.hpp"
#include "data/expressions/quoting.hpp"

namespace sotto::data_detail {
namespace {

class DuckdbDialect final : public SqlDialect {
 public:
  [[nodiscard]] std::string text(const std::string& text) const override { return enclosed(text, '\''); }
  [[nodiscard]] std::string trimmed(const std::string& x) const override { return "trim(" + x + ", " + text(" \t") + ")"; }

  [[nodiscard]] std::string arithmetic(const std::string& left, char sign, const std::string& right) const override {
    return whole("(" + wide(left) + " " + sign + " " + wide(right) + ")");
  }
  [[nodiscard]] std::string negative(const std::string& x) const override { return whole("-" + wide(x)); }
  [[nodiscard]] std::string magnitude(const std::string& x) const override { return whole("abs(" + wide(x) + ")"); }

  // NULLIF would copy x; a list of one does not.
  [[nodiscard]] std::string as_real(const std::string& x) const override {
    return "list_filter([" + rounded(x) + "], lambda r: r > " + real(-expression::most_real) + " AND r < " + real(expression::most_real) + ")[1]";
  }
  // An infinity or not a number for x/0.
  [[nodiscard]] std::string quotient(const std::string& left, const std::string& right) const override { return "(" + left + " / " + right + ")"; }
  [[nodiscard]] std::string to_integer(const std::string& x) const override { return "TRY_CAST(" + x + " AS BIGINT)"; }

  [[nodiscard]] std::string part(const std::string& part, const std::string& x) const override {
    return cast("EXTRACT(" + part + " FROM " + x + ")", Type::integer);
  }

  [[nodiscard]] std::string read(const std::string& x, const std::string& pattern, Type to) const override {
    const std::string good = "regexp_extract(" + x + ", '" + pattern + "')";
    return to == Type::integer ? whole(good) : "TRY_CAST(" + good + " AS " + type(to) + ")";
  }
  [[nodiscard]] std::string number_of(const std::string& text) const override { return "CAST('0x' || substr(md5(" + text + "), 1, 7) AS BIGINT)"; }

  // keeps what rounding loses
  [[nodiscard]] std::string sum_of_reals(const std::string& x) const override { return "fsum(" + x + ")"; }

 private:
  // Where no operation on two integers overflows.
  static std::string wide(const std::string& x) { return "CAST(" + x + " AS HUGEINT)"; }
  // A wide number, or a text, as an integer, or NULL. DuckDB would compare TRY_CAST(x AS BIGINT) with a constant as if it were x, were it not for
  // the "| 0".
  static std::string whole(const std::string& x) { return "(TRY_CAST(" + x + " AS BIGINT) | 0)"; }
};

}  // namespace

const SqlDialect& duckdb_dialect() {
  static const DuckdbDialect dialect;
  return dialect;
}

}  // namespace sotto::data_detail
