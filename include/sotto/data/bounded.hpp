// Bounded statistics: counts and sums of integers in which each unit's contribution is bounded.
//
// A unit counts in at most `groups_a_unit` groups, and with at most `rows_a_group` rows in each.
// The choice of its rows depends on the unit's own rows alone: they are ordered by a keyed hash of
// their values. Numbers are rounded to a public grid, clamped to their bounds, and added as
// integers, so that sums are exact. docs/theory/statistics.md derives the sensitivities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/expression.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// A column, stored or derived, that a statistic reads.
struct Field {
  Expression value;
  std::optional<Value> if_null;  ///< replaces NULL; empty: rows with NULL are dropped
};

/// A grid: the number x is code · 2^exponent, and codes go from `low` to `high`.
struct Steps {
  int exponent = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;

  /// Returns the finest grid that covers [lower, upper] in at most `most` steps; for integers, a
  /// step is at least 1. Throws InvalidValue unless upper - lower >= 1e-150 and both bounds are
  /// below 1e150 in magnitude.
  static Steps between(double lower, double upper, Type type,
                       std::int64_t most = std::int64_t{1} << 20U);
  [[nodiscard]] double unit() const;
  [[nodiscard]] double lower() const { return static_cast<double>(low) * unit(); }
  [[nodiscard]] double upper() const { return static_cast<double>(high) * unit(); }
  [[nodiscard]] std::int64_t range() const { return high - low; }
};

/// `count` intervals of equal width that start at `lower`. Values below or above all of them count
/// in the first or the last.
struct Bins {
  double lower;
  double width;
  std::int64_t count;
};

/// The statistic that is computed in each group. Codes are counted from `Steps::low`, which has
/// code 0.
enum class Gather {
  rows,     ///< the number of rows
  units,    ///< the number of units
  values,   ///< the number of rows and the sum of their codes
  squares,  ///< as `values`, and the sum of the squares of the codes
  totals,   ///< the number of units and the sum of their totals, each total clamped to the bounds
  bins,     ///< the number of rows in each bin
};

/// A statistic of the table. It depends on public choices alone.
struct Aggregate {
  /// Rows for which this is not true are dropped.
  std::optional<Expression> where;
  /// The columns that rows are grouped by. Empty: all rows are one group.
  std::vector<Field> keys;
  /// The groups to report, each as the values of its keys.
  std::vector<std::vector<Value>> groups{{}};
  /// Names the unit that a row belongs to; rows in which it is NULL are dropped. Empty: each row is
  /// a unit, and no bound on groups or rows is needed.
  std::optional<Expression> unit;
  std::int64_t groups_a_unit = 1;
  std::int64_t rows_a_group = 1;
  Gather gather = Gather::rows;
  /// The number that values, squares, totals and bins read.
  std::optional<Field> of;
  Steps steps;
  Bins bins{0, 1, 0};
};

/// One entry for each group (and bin), in the order of Aggregate::groups.
struct GroupTotals {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> sums;
  /// The low 62 bits of the sums of squares.
  std::vector<std::int64_t> squares;
  /// The remaining high bits: a sum of squares is carry · 2^62 + square. 0 unless a group has more
  /// than 2^32 rows.
  std::vector<std::int64_t> carries = {};
};

/// The key of the hash that orders a unit's rows. It is drawn for each request and never released.
struct BoundingKey {
  std::uint64_t seed[4];
};

/// Computes the aggregate on the engine. If the units need more memory than the engine has, the
/// statement runs on one part of the units after the other, by a hash of their names. Since a
/// unit's contribution depends on its own rows alone, the result does not depend on the parts.
GroupTotals gather(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate,
                   const BoundingKey& key, const Progress& progress = {});

/// The groups that exist in the data, whichever the aggregate lists, and the number of units in
/// each. These are secrets: release neither without noise and a threshold.
struct PresentGroups {
  std::vector<std::vector<Value>> groups;
  std::vector<std::int64_t> units;
};
/// Returns the groups that exist. Each unit counts in at most `groups_a_unit` of them.
PresentGroups present_groups(Engine& engine, const std::vector<Column>& columns,
                             const Aggregate& aggregate, const BoundingKey& key,
                             const Progress& progress = {});

/// Returns the approximate number of bytes that the groups and bins take. It follows from the
/// aggregate alone, not from the data.
std::int64_t bytes_needed(const Aggregate& aggregate);
/// Throws InvalidValue if bytes_needed() exceeds `memory`; 0 stands for 4/5 of the machine's
/// memory. Call it before anything is charged.
void require_memory(const Aggregate& aggregate, std::int64_t memory);

/// Throws InvalidValue if the engine cannot plan the statement of gather(), or, if `finds_groups`,
/// that of present_groups(). Call it before anything is charged.
void require_plannable(Engine& engine, const std::vector<Column>& columns,
                       const Aggregate& aggregate, bool finds_groups);

/// Returns the SQL that gather() executes, for inspection.
std::string statement(Dialect dialect, const std::string& table, const std::vector<Column>& columns,
                      const Aggregate& aggregate, const BoundingKey& key);

}  // namespace sotto
