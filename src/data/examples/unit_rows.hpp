// Rows sorted by unit, and limited to `rows_a_unit` of each unit.
//
// Units are sorted by a keyed hash of their name, and the rows of a unit by a keyed hash of their
// codes: neither depends on the rows of other units. Units whose hashes are equal are distinguished
// by their names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/examples/realloc_vector.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto::data_detail {

/// The units whose hash is from `first` to `last`.
struct HashRange {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  [[nodiscard]] bool has(std::uint64_t hash) const { return first <= hash && hash <= last; }
};

/// A collection of rows of codes with their units. Where each row is a unit, its codes are its
/// name, and equal rows are one entry with a count.
class UnitRows {
 public:
  /// The name of a unit is the row itself, an integer, or a text.
  enum class Unit { row, whole, text };
  UnitRows(std::size_t width, Unit unit, std::int64_t rows_a_unit, const BoundingKey& key);

  [[nodiscard]] std::uint64_t hash_of(std::int64_t name) const;
  [[nodiscard]] std::uint64_t hash_of(std::string_view name) const;
  [[nodiscard]] std::uint64_t hash_of(std::span<const std::int16_t> row) const;

  /// Adds a row to the unit with this hash and name; without a name, the row is a unit. Returns the
  /// approximate growth in bytes.
  std::size_t add(std::span<const std::int16_t> row, std::uint64_t hash);
  std::size_t add(std::span<const std::int16_t> row, std::uint64_t hash, std::int64_t name);
  std::size_t add(std::span<const std::int16_t> row, std::uint64_t hash, std::string_view name);
  [[nodiscard]] std::size_t bytes() const { return size() * bytes_a_row() + 5 * texts_.size() / 4; }
  /// Drops the rows beyond `rows_a_unit`, and the units outside the range. Where each row is a
  /// unit, equal rows become one entry with a count.
  void reduce(HashRange range);
  /// After reduce(): returns a hash up to which about half of the rows are; nullopt if all hashes
  /// are equal. Must not be empty.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;

  using RowCallback = std::function<void(bool is_first_of_unit, std::span<const std::int16_t> row)>;
  /// Calls `take` for the rows that count, in order, and clears the collection.
  void take_rows(const RowCallback& take);
  /// Drops all rows and frees the memory.
  void clear();

 private:
  struct Place {
    std::uint64_t hash;
    std::size_t row;
    bool is_first;
  };
  // codes, hash, and name or count, and a quarter more for the free room of growing vectors
  [[nodiscard]] std::size_t bytes_a_row() const { return 5 * (2 * width_ + 16) / 4; }
  [[nodiscard]] std::size_t size() const { return hashes_.size(); }
  [[nodiscard]] std::span<const std::int16_t> row(std::size_t i) const {
    return {codes_.data() + i * width_, width_};
  }
  [[nodiscard]] std::string_view name(std::size_t i) const;
  [[nodiscard]] int compare_units(const Place& a, const Place& b) const;
  [[nodiscard]] std::vector<Place> by_hash() const;
  [[nodiscard]] std::vector<Place> ordered() const;
  void bound(std::vector<Place>& places) const;
  [[nodiscard]] std::int64_t count(std::size_t i) const {
    return unit_ == Unit::row && names_.size() > 0 ? names_[i] : 1;
  }

  std::size_t width_;
  Unit unit_;
  std::size_t rows_a_unit_;
  BoundingKey key_;
  ReallocVector<std::int16_t> codes_;
  ReallocVector<std::uint64_t> hashes_;
  // by `unit_`: integer names; the ends of the texts in texts_; or the counts of equal rows, empty
  // if all are 1
  ReallocVector<std::int64_t> names_;
  ReallocVector<char> texts_;
};

}  // namespace sotto::data_detail
