// The rows that count in an aggregate, as a query: their unit, their keys and their clamped code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/sql/clamp.hpp"
#include "data/sql/select.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto::data_detail {

/// Returns the column of the key with this index: "k0" and so on.
std::string key_name(std::size_t k);
/// Returns the columns of all keys.
std::vector<SqlExpression> key_columns(const Aggregate& aggregate);
std::vector<SqlExpression> key_columns(const Aggregate& aggregate, const std::string& relation);

/// Writes the innermost query of an aggregate, with the columns u (the unit, if there is one), k0,
/// k1, … (the keys) and x (the code, if a number is read). In layers from the inside: the stored
/// columns that are read, cleaned, as `c`; unit, keys and number as `n`, where `where` is true; and
/// the clamped code of the number.
class BaseRows {
 public:
  BaseRows(Dialect dialect, std::string table, const std::vector<Column>& columns,
           const Aggregate& aggregate);

  /// `whole_numbers`: codes are integers. `condition`: a further condition on n.u or n.k0, n.k1, …
  [[nodiscard]] Select select(bool whole_numbers,
                              const std::optional<SqlExpression>& condition = std::nullopt) const;
  /// Whether codes are doubles, and so are their sums.
  [[nodiscard]] bool adds_doubles(bool whole_numbers) const;

 private:
  [[nodiscard]] Select stored_columns() const;
  [[nodiscard]] Select fields() const;
  [[nodiscard]] std::vector<SqlExpression> conditions() const;
  [[nodiscard]] SqlExpression key_value(const Field& key) const;
  [[nodiscard]] bool reads_stored_number() const;
  [[nodiscard]] CodeForm code_form(bool whole_numbers) const;

  Dialect dialect_;
  const SqlDialect& sql_;
  std::string table_;
  const std::vector<Column>& columns_;
  const Aggregate& aggregate_;
  std::string stored_name_ = "=";  // alias of the raw (uncleaned) number: a name that no column has
};

}  // namespace sotto::data_detail
