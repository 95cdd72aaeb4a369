// How an engine writes SQL: one class an engine, with a hook for each thing on which engines differ.
//
// What a hook writes is total: it fails on no value, relies on no order of evaluation, and writes no operand twice.
#pragma once

#include <string>

#include "sotto/data/expression.hpp"

namespace sotto::data_detail {

class SqlDialect {
 public:
  virtual ~SqlDialect() = default;

  /// What the engine calls a type; a cast that cannot fail, and constants.
  [[nodiscard]] virtual std::string type(Type type) const;
  [[nodiscard]] std::string cast(const std::string& x, Type to) const;
  [[nodiscard]] std::string real(double x) const;
  [[nodiscard]] virtual std::string name(const std::string& name) const;
  [[nodiscard]] virtual std::string text(const std::string& text) const = 0;  ///< UTF-8 without zero bytes
  /// A text without blanks and tabs at its ends.
  [[nodiscard]] virtual std::string trimmed(const std::string& x) const;
  /// A text that compares by its bytes.
  [[nodiscard]] virtual std::string by_bytes(const std::string& x) const { return x; }

  // Integers: NULL where the result leaves 64 bits.
  [[nodiscard]] virtual std::string arithmetic(const std::string& left, char sign, const std::string& right) const = 0;  ///< '+', '-' or '*'
  [[nodiscard]] virtual std::string negative(const std::string& x) const = 0;
  [[nodiscard]] virtual std::string magnitude(const std::string& x) const = 0;

  // Reals.
  /// A double as one of the reals of expressions: NULL if it is none (not a number, or 1e150 or more in size), 0 below 2^-501.
  [[nodiscard]] virtual std::string as_real(const std::string& x) const;
  [[nodiscard]] virtual std::string quotient(const std::string& left,
                                             const std::string& right) const = 0;  ///< of doubles; anything that as_real() makes NULL for x/0
  [[nodiscard]] virtual std::string floor(const std::string& x) const { return "floor(" + x + ")"; }
  [[nodiscard]] virtual std::string to_integer(const std::string& x) const = 0;  ///< of a real: ties to even, NULL beyond 64 bits

  // What looks at one operand several times.
  [[nodiscard]] virtual std::string between(const std::string& x, const std::string& low, const std::string& high) const {
    return "(" + x + " BETWEEN " + low + " AND " + high + ")";
  }
  /// `branches`: " WHEN … THEN …" and so on.
  [[nodiscard]] virtual std::string simple_case(const std::string& x, const std::string& branches) const { return "(CASE " + x + branches + " END)"; }

  // Dates.
  [[nodiscard]] virtual std::string days_between(const std::string& first, const std::string& last) const;  ///< last - first
  [[nodiscard]] virtual std::string part(const std::string& part, const std::string& x) const = 0;          ///< of EXTRACT, a whole number
  [[nodiscard]] virtual std::string date_text(const std::string& x) const { return cast(x, Type::text); }

  // Texts.
  /// A text read as a type by the pattern that it must match as a whole, written with ^ and $ about it; NULL if it does not.
  [[nodiscard]] virtual std::string read(const std::string& x, const std::string& pattern, Type type) const = 0;
  /// A whole number below 2^28 from a text: the first seven digits of its MD5.
  [[nodiscard]] virtual std::string number_of(const std::string& text) const = 0;

  // Statements.
  /// A named query before a SELECT; `once`: it is worth keeping what it gives.
  [[nodiscard]] virtual std::string named_query(const std::string& name, const std::string& query, bool once) const;
  /// The exact sum of a BIGINT whose values are at most `largest` in size.
  [[nodiscard]] virtual std::string sum(const std::string& x, double largest) const;
  /// The sum of doubles with as little lost as the engine can.
  [[nodiscard]] virtual std::string sum_of_reals(const std::string& x) const { return "SUM(" + x + ")"; }

 protected:
  /// x, or NULL if it is not between `low` and `high`, which LEAST and GREATEST make of everything beyond and of NULL.
  static std::string within(const std::string& x, const std::string& low, const std::string& high);
  /// As a multiple of the grain of reals.
  [[nodiscard]] std::string rounded(const std::string& x) const;
};

/// What Spark's SQL calls the argument of a function of its own: no column may have this name, which would be taken for it.
constexpr const char* spark_value = "sotto value";

const SqlDialect& sql_dialect(Dialect dialect);

const SqlDialect& duckdb_dialect();
const SqlDialect& postgresql_dialect();
const SqlDialect& spark_dialect();

}  // namespace sotto::data_detail
