// The DuckDB dialect: TRY_CAST turns failures into NULL, and 128-bit integers detect overflow.
#include "data/expressions/quoting.hpp"
#include "data/expressions/tree.hpp"
#include "data/sql/dialect.hpp"

namespace sotto::data_detail {
namespace {

class DuckdbDialect final : public SqlDialect {
 public:
  [[nodiscard]] std::string text(const std::string& text) const override {
    return enclosed(text, '\'');
  }
  [[nodiscard]] std::string trimmed(const std::string& x) const override {
    return "trim(" + x + ", " + text(" \t") + ")";
  }

  [[nodiscard]] std::string arithmetic(const std::string& left, char sign,
                                       const std::string& right) const override {
    return whole("(" + wide(left) + " " + sign + " " + wide(right) + ")");
  }
  [[nodiscard]] std::string negative(const std::string& x) const override {
    return whole("-" + wide(x));
  }
  [[nodiscard]] std::string magnitude(const std::string& x) const override {
    return whole("abs(" + wide(x) + ")");
  }

  // DuckDB would evaluate the operand of NULLIF twice; filtering a list of one element does not.
  [[nodiscard]] std::string as_real(const std::string& x) const override {
    return "list_filter([" + rounded(x) + "], lambda r: r > " + real(-expression::most_real) +
           " AND r < " + real(expression::most_real) + ")[1]";
  }
  // x/0 is an infinity or NaN.
  [[nodiscard]] std::string quotient(const std::string& left,
                                     const std::string& right) const override {
    return "(" + left + " / " + right + ")";
  }
  [[nodiscard]] std::string to_integer(const std::string& x) const override {
    return "TRY_CAST(" + x + " AS BIGINT)";
  }

  [[nodiscard]] std::string part(const std::string& part, const std::string& x) const override {
    return cast("EXTRACT(" + part + " FROM " + x + ")", Type::integer);
  }

  [[nodiscard]] std::string read(const std::string& x, const std::string& pattern,
                                 Type to) const override {
    const std::string good = "regexp_extract(" + x + ", '" + pattern + "')";
    return to == Type::integer ? whole(good) : "TRY_CAST(" + good + " AS " + type(to) + ")";
  }
  [[nodiscard]] std::string number_of(const std::string& text) const override {
    return "CAST('0x' || substr(md5(" + text + "), 1, 7) AS BIGINT)";
  }

  // fsum() compensates rounding errors.
  [[nodiscard]] std::string sum_of_reals(const std::string& x) const override {
    return "fsum(" + x + ")";
  }

 private:
  // A type in which no operation on two 64-bit integers overflows.
  static std::string wide(const std::string& x) { return "CAST(" + x + " AS HUGEINT)"; }
  // Turns a wide number or a text into an integer, or NULL. "| 0" changes no value: without it,
  // DuckDB compares x itself, and not the result of TRY_CAST, with a constant.
  static std::string whole(const std::string& x) { return "(TRY_CAST(" + x + " AS BIGINT) | 0)"; }
};

}  // namespace

const SqlDialect& duckdb_dialect() {
  static const DuckdbDialect dialect;
  return dialect;
}

}  // namespace sotto::data_detail
