// SQL dialects: one class for each engine, with a virtual function for each difference between
// engines.
//
// The SQL that these functions return is total: it fails on no value, does not rely on an order of
// evaluation, and contains each operand once.
#pragma once

#include <string>

#include "sotto/data/expression.hpp"

namespace sotto::data_detail {

/// Writes the SQL of one engine. Operands are SQL expressions that bind like a function call.
class SqlDialect {
 public:
  virtual ~SqlDialect() = default;

  /// Returns the engine's name for a type.
  [[nodiscard]] virtual std::string type(Type type) const;
  /// Returns a cast, which must be one that cannot fail.
  [[nodiscard]] std::string cast(const std::string& x, Type to) const;
  /// Returns a constant real number.
  [[nodiscard]] std::string real(double x) const;
  /// Returns a name in quotes.
  [[nodiscard]] virtual std::string name(const std::string& name) const;
  /// Returns a constant text in quotes. It must be UTF-8 without zero bytes.
  [[nodiscard]] virtual std::string text(const std::string& text) const = 0;
  /// Returns a text without spaces and tabs at both ends.
  [[nodiscard]] virtual std::string trimmed(const std::string& x) const;
  /// Returns a text that compares by its bytes.
  [[nodiscard]] virtual std::string by_bytes(const std::string& x) const { return x; }

  // Integers. A result that does not fit 64 bits is NULL. `sign` is '+', '-' or '*'.
  [[nodiscard]] virtual std::string arithmetic(const std::string& left, char sign,
                                               const std::string& right) const = 0;
  [[nodiscard]] virtual std::string negative(const std::string& x) const = 0;
  [[nodiscard]] virtual std::string magnitude(const std::string& x) const = 0;

  // Real numbers.
  /// Turns a double into a real number of expressions: NULL for NaN and from 1e150 in magnitude, 0
  /// below 2^-501.
  [[nodiscard]] virtual std::string as_real(const std::string& x) const;
  /// Returns the quotient of two doubles. x/0 is NULL or a value that as_real() turns into NULL.
  [[nodiscard]] virtual std::string quotient(const std::string& left,
                                             const std::string& right) const = 0;
  [[nodiscard]] virtual std::string floor(const std::string& x) const { return "floor(" + x + ")"; }
  /// Rounds a real number to an integer, ties to even; NULL if it does not fit 64 bits.
  [[nodiscard]] virtual std::string to_integer(const std::string& x) const = 0;

  // Operations that compare one operand several times.
  [[nodiscard]] virtual std::string between(const std::string& x, const std::string& low,
                                            const std::string& high) const {
    return "(" + x + " BETWEEN " + low + " AND " + high + ")";
  }
  /// `branches` is " WHEN … THEN … WHEN …".
  [[nodiscard]] virtual std::string simple_case(const std::string& x,
                                                const std::string& branches) const {
    return "(CASE " + x + branches + " END)";
  }

  // Dates.
  /// Returns the number of days from `first` to `last`.
  [[nodiscard]] virtual std::string days_between(const std::string& first,
                                                 const std::string& last) const;
  /// Returns EXTRACT(part FROM x) as an integer.
  [[nodiscard]] virtual std::string part(const std::string& part, const std::string& x) const = 0;
  [[nodiscard]] virtual std::string date_text(const std::string& x) const {
    return cast(x, Type::text);
  }

  // Texts.
  /// Parses a text as a value of a type; NULL if the text does not match the pattern, which starts
  /// with ^ and ends with $.
  [[nodiscard]] virtual std::string read(const std::string& x, const std::string& pattern,
                                         Type type) const = 0;
  /// Hashes a text to an integer below 2^28: the first seven hexadecimal digits of its MD5.
  [[nodiscard]] virtual std::string number_of(const std::string& text) const = 0;

  // Statements.
  /// Returns a named query for WITH. `once`: the engine should store its rows instead of computing
  /// them again for each use.
  [[nodiscard]] virtual std::string named_query(const std::string& name, const std::string& query,
                                                bool once) const;
  /// Returns the exact sum of a BIGINT whose values are at most `largest` in magnitude.
  [[nodiscard]] virtual std::string sum(const std::string& x, double largest) const;
  /// Returns the sum of doubles with the smallest rounding error that the engine offers.
  [[nodiscard]] virtual std::string sum_of_reals(const std::string& x) const {
    return "SUM(" + x + ")";
  }

 protected:
  /// Returns x if it lies strictly between `low` and `high`, else NULL. GREATEST and LEAST turn
  /// values outside, and NULL, into one of the two, which NULLIF turns into NULL.
  static std::string within(const std::string& x, const std::string& low, const std::string& high);
  /// Rounds to a multiple of the smallest real number (expression::grain).
  [[nodiscard]] std::string rounded(const std::string& x) const;
};

/// The name of the argument of lambda functions in Spark's SQL. A column of this name would be
/// mistaken for it, and is refused.
constexpr const char* spark_value = "sotto value";

const SqlDialect& sql_dialect(Dialect dialect);

const SqlDialect& duckdb_dialect();
const SqlDialect& postgresql_dialect();
const SqlDialect& spark_dialect();

}  // namespace sotto::data_detail
