// The SQL of an aggregate: which rows and groups of a unit count, and what is added for them.
#pragma once

#include <string>
#include <vector>

#include "data/sql/base_rows.hpp"
#include "data/sql/select.hpp"
#include "data/sql/unit_order.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto::data_detail {

/// Writes the statements that compute one aggregate on one engine. They depend on the aggregate,
/// the schema and the key, never on the data, and no operation in them can fail on any row.
class AggregateQuery {
 public:
  AggregateQuery(Dialect dialect, std::string table, const std::vector<Column>& columns,
                 const Aggregate& aggregate, const BoundingKey& key);

  /// Two query plans with equal results.
  enum class Form {
    groups_first,  ///< drops rows of groups in which their unit does not count, then pairs
    pairs_first,   ///< pairs units and groups, then drops pairs: faster if few pairs are dropped
  };
  /// One of `count` parts of the units, by a hash of their names; without units, of the groups. The
  /// totals of all parts add up to the totals of the whole.
  struct Part {
    std::int64_t index = 0;
    std::int64_t count = 1;
  };

  /// Returns the statement of gather(). Its columns: without a unit the keys as text, with a unit
  /// the number of the group; the bin, if there are bins; the count; the sum; the sum of squares as
  /// text. `whole_numbers` adds integers where doubles would be faster but might not be exact.
  [[nodiscard]] std::string totals(bool whole_numbers, Form form, Part part) const;
  /// Returns the statement of present_groups(): the keys as text, and the number of units.
  [[nodiscard]] std::string present_groups(Part part) const;

  /// Whether both forms are supported.
  [[nodiscard]] bool has_forms() const;
  /// Whether the statement can run on one part of the units at a time.
  [[nodiscard]] bool has_parts() const;

  /// Returns SQL that counts units, pairs of unit and group, and rows in a 1/509 sample of the
  /// units.
  [[nodiscard]] std::string sample() const;
  static constexpr std::int64_t sampled = 509;
  /// Returns the faster form by the counts of sample().
  [[nodiscard]] Form form_for(std::int64_t units, std::int64_t pairs) const;
  /// Returns the approximate number of bytes that DuckDB needs, as measured.
  [[nodiscard]] double bytes_for(Form form, double units, double pairs, double rows) const;

 private:
  [[nodiscard]] Select base(bool whole_numbers, Part part) const;
  [[nodiscard]] std::vector<SqlExpression> keys_as_text() const;
  [[nodiscard]] std::vector<SqlExpression> same_keys(const std::string& one,
                                                     const std::string& other) const;

  // without a unit
  [[nodiscard]] Select totals_of_rows(bool whole_numbers, Part part) const;

  // with a unit
  [[nodiscard]] Select totals_of_units(bool whole_numbers, Form form, Part part) const;
  [[nodiscard]] Select numbered_rows(bool whole_numbers, bool pairs_first, Part part) const;
  [[nodiscard]] Select totals_in_one_scan(Select numbered) const;
  [[nodiscard]] Select pairs(bool pairs_first) const;
  [[nodiscard]] std::vector<NamedQuery> pairs_that_count(bool pairs_first) const;
  [[nodiscard]] Select totals_of_pairs() const;
  [[nodiscard]] Select totals_of_first_rows() const;
  [[nodiscard]] Select totals_of_ranked_rows() const;
  [[nodiscard]] bool keeps_lists() const;

  // sums
  [[nodiscard]] bool has_sums() const;
  [[nodiscard]] SqlExpression sum_of_codes() const;
  [[nodiscard]] SqlExpression sum_of_squares() const;
  [[nodiscard]] SqlExpression total_of_squares(const SqlExpression& sum) const;
  [[nodiscard]] std::vector<SqlExpression> final_sums(const SqlExpression& count,
                                                      const SqlExpression& sum,
                                                      const SqlExpression& square) const;

  Dialect dialect_;
  const SqlDialect& sql_;
  const Aggregate& aggregate_;
  BaseRows base_;
  UnitOrder order_;
};

}  // namespace sotto::data_detail
