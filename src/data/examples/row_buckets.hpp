// Rows that may exceed the memory, in the order of UnitRows: each pass over the table collects the
// units of one range of hashes.
#pragma once

#include <vector>

#include "data/examples/unit_rows.hpp"

namespace sotto::data_detail {

/// Collects the rows of one pass, in buckets by the hash of their unit. If they exceed the memory,
/// the range of the pass is shortened, and the units past it are left for another pass.
class RowBuckets {
 public:
  /// Uses about `memory` bytes for rows of `width` codes.
  RowBuckets(std::size_t width, UnitRows::Unit unit, std::int64_t rows_a_unit,
             const BoundingKey& key, std::size_t memory);

  /// Returns the hashes whose units this pass collects.
  [[nodiscard]] const HashRange& range() const { return range_; }
  /// Adds a row, of a unit with this name; without a name, each row is a unit. Ignores units
  /// outside the range. Throws OutOfMemory if the rows of one unit exceed the memory.
  void add(std::span<const std::int16_t> row);
  void add(std::span<const std::int16_t> row, std::int64_t name);
  void add(std::span<const std::int16_t> row, std::string_view name);
  /// Discards the rows of this pass.
  void start_again();
  /// Ends the pass: calls `take` for the rows that count, in order. Returns true if this was the
  /// last pass.
  bool finish_pass(const UnitRows::RowCallback& take);

 private:
  [[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const {
    return (hash - start_) >> shift_;
  }
  void lay_out();
  void make_room();
  void count_bytes();

  std::size_t memory_;
  HashRange range_;
  std::uint64_t start_ = 0;  // the first hash of the first bucket
  unsigned shift_ = 0;
  std::size_t bytes_ = 0;
  std::vector<UnitRows> buckets_;
};

}  // namespace sotto::data_detail
