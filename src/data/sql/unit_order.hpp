// The order of a unit's groups, and of its rows in a group, in SQL: the first ones of each count.
//
// The orders are a keyed hash of the unit's own values. No other unit's row changes them, and they
// do not depend on the order of the table.
#pragma once

#include <vector>

#include "data/sql/select.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto::data_detail {

/// Writes the parts of an aggregate's statement that order and limit the groups and rows of a unit.
/// The columns that it reads: u (the unit), w (the unit's number), g (the group), c (the group's
/// constant), h (the group's rank) and x (the code).
class UnitOrder {
 public:
  UnitOrder(Dialect dialect, const Aggregate& aggregate, const BoundingKey& key);

  /// Returns a random number from 1 to 2^31 - 2 that the key and the two numbers determine.
  [[nodiscard]] std::int64_t draw(std::uint64_t stream, std::uint64_t index) const;

  /// Whether a unit may have rows in more groups than it may count in.
  [[nodiscard]] bool limits_groups() const;
  /// Whether group ranks are below 61, so that a unit's groups are the bits of a BIGINT.
  [[nodiscard]] bool has_few_groups() const;

  /// Returns the number w of a unit, below 2^31 in magnitude and different for nearly all units.
  [[nodiscard]] SqlExpression unit_number() const;
  /// Returns the listed groups as the relation pick(k0, k1, …, g, c).
  [[nodiscard]] Relation listed_groups() const;
  /// Returns the constant c of a group that is not listed, from the text of its keys alone, so that
  /// no other group, present or absent, changes its rank.
  [[nodiscard]] SqlExpression group_constant(const std::vector<SqlExpression>& keys) const;
  /// Returns the rank h of a group in its unit's order, from c and w.
  [[nodiscard]] SqlExpression group_rank(bool has_few_groups) const;
  /// Returns the rank of a row among its unit's rows in a group, from x and w.
  [[nodiscard]] SqlExpression row_rank() const;

  /// Returns the rows of the relation `pairs` in which the unit counts: its first groups by h.
  [[nodiscard]] Select counted_pairs() const;
  /// For few groups: returns, for each unit of the relation, the bit `last` of the last rank at
  /// which it counts, or 0 if it has no more groups than it may count in.
  [[nodiscard]] Select last_rank_bits(const std::string& relation) const;
  /// Returns the condition on `last` and h that the unit counts in the group.
  [[nodiscard]] SqlExpression counts_by_bits() const;

 private:
  Dialect dialect_;
  const SqlDialect& sql_;
  const Aggregate& aggregate_;
  const BoundingKey& key_;
};

}  // namespace sotto::data_detail
