// The PostgreSQL dialect: escaped strings, the C collation, and guards around operations that fail
// (division by zero, overflow).
#include "data/expressions/quoting.hpp"
#include "data/sql/dialect.hpp"

namespace sotto::data_detail {
namespace {

class PostgresqlDialect final : public SqlDialect {
 public:
  // A setting decides whether a backslash is an escape character, except in E'…', where it is.
  [[nodiscard]] std::string text(const std::string& text) const override {
    std::string out = enclosed(text, '\'');
    if (text.find('\\') != std::string::npos) {
      std::string escaped = "E";
      for (const char c : out) escaped += c == '\\' ? "\\\\" : std::string(1, c);
      out = escaped;
    }
    return by_bytes(cast(out, Type::text));
  }
  // The default is the collation of the database.
  [[nodiscard]] std::string by_bytes(const std::string& x) const override {
    return "(" + x + " COLLATE \"C\")";
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

  // Division by zero fails in PostgreSQL; division by NULL is NULL.
  [[nodiscard]] std::string quotient(const std::string& left,
                                     const std::string& right) const override {
    return "(" + left + " / NULLIF(" + right + ", " + real(0) + "))";
  }
  [[nodiscard]] std::string to_integer(const std::string& x) const override {
    return cast(within("round(" + x + ")", real(-0x1.0000000000001p63), real(0x1p63)),
                Type::integer);
  }

  [[nodiscard]] std::string part(const std::string& part, const std::string& x) const override {
    return cast("floor(EXTRACT(" + part + " FROM " + x + "))", Type::integer);
  }
  [[nodiscard]] std::string date_text(const std::string& x) const override {
    return "to_char(" + x + ", 'YYYY-MM-DD')";
  }

  [[nodiscard]] std::string read(const std::string& x, const std::string& pattern,
                                 Type to) const override {
    const std::string good = "substring(" + x + " FROM '" + pattern + "')";
    return to == Type::integer ? whole(wide(good)) : cast(good, to);
  }
  [[nodiscard]] std::string number_of(const std::string& text) const override {
    return "CAST(CAST('x0' || substr(md5(" + text + "), 1, 7) AS BIT(32)) AS BIGINT)";
  }

 private:
  // A type in which no operation on two 64-bit integers overflows.
  static std::string wide(const std::string& x) { return "CAST(" + x + " AS NUMERIC)"; }
  [[nodiscard]] std::string whole(const std::string& x) const {
    return cast(within(x, "-9223372036854775809", "9223372036854775808"), Type::integer);
  }
};

}  // namespace

const SqlDialect& postgresql_dialect() {
  static const PostgresqlDialect dialect;
  return dialect;
}

}  // namespace sotto::data_detail
