// Rows that may be more than memory holds, in the order of UnitRows: one range of hashes after the other, each for one look at the table.
#pragma once

#include <vector>

#include "data/examples/unit_rows.hpp"

namespace sotto::data_detail {

class RowBuckets {
 public:
  /// About `memory` bytes for rows of `width` codes.
  RowBuckets(std::size_t width, UnitRows::Unit unit, std::int64_t rows_a_unit, const BoundingKey& key, std::size_t memory);

  /// The hashes whose rows this look is for. It gets shorter when there are too many.
  [[nodiscard]] const HashRange& range() const { return range_; }
  /// Rows outside the range are not taken. OutOfMemory if one unit's rows are too many.
  void add(std::span<const std::int16_t> row);  ///< where each row is a unit
  void add(std::span<const std::int16_t> row, std::int64_t name);
  void add(std::span<const std::int16_t> row, std::string_view name);
  /// What was added in this look is to be forgotten.
  void start_again();
  /// The look is over: the rows that stay, in order. True if it was the last.
  bool give(const UnitRows::Give& give);

 private:
  [[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const { return (hash - start_) >> shift_; }
  void lay_out();
  void make_room();
  void count_bytes();

  std::size_t memory_;
  HashRange range_;
  std::uint64_t start_ = 0;  // of the first bucket
  unsigned shift_ = 0;
  std::size_t bytes_ = 0;
  std::vector<UnitRows> buckets_;
};

}  // namespace sotto::data_detail
