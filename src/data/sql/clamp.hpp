// The clamp: SQL that turns the number of a row into the code that statistics add, clamped to the
// bounds of its column.
//
// Sums are exact because codes are integers, and sensitivities are finite because codes are
// clamped: from 0 to last_code() or, where a unit's total is clamped later, to ±2^40 for a row.
#pragma once

#include "data/sql/select.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto::data_detail {

/// The SQL type of a code.
enum class CodeForm {
  bigint,   ///< an integer
  real,     ///< a double that is an integer
  on_grid,  ///< a double on the grid: low · unit + code · unit, not divided by the unit yet
};

/// Returns the clamped code of `number`, a number of a row, or NULL if it is NULL or no real
/// number of expressions and the aggregate replaces neither.
/// Throws InvalidValue unless the aggregate's field is an integer or real column.
SqlExpression clamped_code(const Aggregate& aggregate, const SqlDialect& sql,
                           const SqlExpression& number, CodeForm form);

/// Returns the largest code; the smallest is 0. Not for Gather::totals.
std::int64_t last_code(const Aggregate& aggregate);
/// Returns an upper bound on the magnitude of the integers that are added.
double largest_summand(const Aggregate& aggregate);

/// The largest real number that expressions can hold.
double largest_real();

}  // namespace sotto::data_detail
