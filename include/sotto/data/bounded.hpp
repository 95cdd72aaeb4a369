// What a statistic needs of the data: whole numbers, to which each unit's part is bounded.
//
// A unit counts in at most `groups_a_unit` groups and with at most `rows_a_group` rows in each. Which of its rows stay depends on the unit's own rows
// alone: they are ordered by a keyed hash of their values. Values are rounded to a public grid, then clamped, then summed as whole numbers,
// so that no rounding of a sum is in doubt. docs/theory/statistics.md has the sensitivities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/expression.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// A column, stored or derived, as a statistic reads it.
struct Field {
  Expression value;
  std::optional<Value> if_null;  ///< what stands for NULL; nothing: the row is dropped
};

/// Numbers as whole numbers: x is code · 2^exponent, and codes are from low to high.
struct Steps {
  int exponent = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;

  /// The finest grid on which [lower, upper], widened to it, has at most `most` steps; for whole numbers not finer than 1.
  /// InvalidValue unless upper - lower is at least 1e-150, and both are below 1e150 in size.
  static Steps between(double lower, double upper, Type type, std::int64_t most = std::int64_t{1} << 20U);
  [[nodiscard]] double unit() const;
  [[nodiscard]] double lower() const { return static_cast<double>(low) * unit(); }
  [[nodiscard]] double upper() const { return static_cast<double>(high) * unit(); }
  [[nodiscard]] std::int64_t range() const { return high - low; }
};

/// Intervals of equal width from `lower` on; what lies outside counts in the first or the last.
struct Bins {
  double lower;
  double width;
  std::int64_t count;
};

/// What is gathered in each group.
enum class Gather {
  rows,     ///< the number of rows
  units,    ///< the number of units
  values,   ///< the number of rows and the sum of their codes, counted from `low`
  squares,  ///< these, and the sum of the squares of the codes, counted from `low`
  totals,   ///< the number of units and the sum of their totals, each clamped and counted from `low`
  bins,     ///< the number of rows in each bin
};

struct Aggregate {
  std::optional<Expression> where;             ///< rows for which it is not true are dropped
  std::vector<Field> keys;                     ///< what rows are grouped by; nothing: all rows are one group
  std::vector<std::vector<Value>> groups{{}};  ///< the groups that are asked for, each by the values of its keys
  std::optional<Expression> unit;              ///< whose part is bounded; nothing: each row's. A row without a unit is dropped
  std::int64_t groups_a_unit = 1;
  std::int64_t rows_a_group = 1;
  Gather gather = Gather::rows;
  std::optional<Field> of;  ///< what values, squares, totals and bins read
  Steps steps;
  Bins bins{0, 1, 0};
};

/// One entry a group (and bin), in the order of the groups.
struct GroupTotals {
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> sums;
  std::vector<std::int64_t> squares;       ///< modulo 2^62
  std::vector<std::int64_t> carries = {};  ///< how often 2^62 must be added to them: 0 unless a group has more than 2^32 rows
};

/// The key of the hash that orders a unit's rows: drawn for a request, never shown.
struct BoundingKey {
  std::uint64_t seed[4];
};

/// Asks the engine. More units than its memory holds are asked for in parts, a hash of their names each: a unit's part needs its own rows alone, so
/// that the numbers are the same.
GroupTotals gather(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key,
                const Progress& progress = {});

/// The groups that are in the data, whatever is asked for, and how many units are in each: the data's secret.
struct PresentGroups {
  std::vector<std::vector<Value>> groups;
  std::vector<std::int64_t> units;
};
PresentGroups present_groups(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key,
                const Progress& progress = {});

/// About how many bytes the groups and bins of an aggregate take, from what is public alone; how many rows and units there are does not matter.
std::int64_t bytes_needed(const Aggregate& aggregate);
/// InvalidValue if that is more than `memory` (0: than the machine has to spare). To be called before anything is charged.
void require_memory(const Aggregate& aggregate, std::int64_t memory);

/// InvalidValue if the engine cannot plan what gather() will send, or present() where `finds_groups`. To be called before anything is charged.
void require_plannable(Engine& engine, const std::vector<Column>& columns, const Aggregate& aggregate, bool finds_groups);

/// The statement that gather() sends, for those who want to look.
std::string statement(Dialect dialect, const std::string& table, const std::vector<Column>& columns, const Aggregate& aggregate,
                      const BoundingKey& key);

}  // namespace sotto
