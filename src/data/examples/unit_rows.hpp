// Rows in an order that their own contents and a key decide, each unit's together and not more of them than it may have.
//
// A unit's place is a keyed hash of its name, a row's place in its unit one of its codes: neither depends on other units' rows. Units whose names
// have the same hash are told apart by the names themselves.
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

/// Some of the units: those whose hash is from `first` to `last`.
struct HashRange {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  [[nodiscard]] bool has(std::uint64_t hash) const { return first <= hash && hash <= last; }
};

class UnitRows {
 public:
  enum class Unit { row, whole, text };  ///< each row is a unit; or units have such names
  /// Rows of `width` codes.
  UnitRows(std::size_t width, Unit unit, std::int64_t rows_a_unit, const BoundingKey& key);

  [[nodiscard]] std::uint64_t hash_of(std::int64_t name) const;
  [[nodiscard]] std::uint64_t hash_of(std::string_view name) const;
  [[nodiscard]] std::uint64_t hash_of(std::span<const std::int16_t> row) const;

  /// About how many bytes it needs more.
  std::size_t add(std::span<const std::int16_t> row, std::uint64_t hash);  ///< where each row is a unit
  std::size_t add(std::span<const std::int16_t> row, std::uint64_t hash, std::int64_t name);
  std::size_t add(std::span<const std::int16_t> row, std::uint64_t hash, std::string_view name);
  [[nodiscard]] std::size_t bytes() const { return size() * bytes_a_row() + 5 * texts_.size() / 4; }
  /// Leaves out the rows that will not stay, and of the others those that are not in this range; rows that are units and equal become one with a
  /// count.
  void keep(HashRange range);
  /// After keep(): up to which hash about half of the rows are. Nothing: all have the same hash.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;

  using Give = std::function<void(bool is_first_of_unit, std::span<const std::int16_t> row)>;
  /// The rows that stay, in order; then there are none.
  void give(const Give& give);
  /// There are none, and no memory is held.
  void clear();

 private:
  struct Place {
    std::uint64_t hash;
    std::size_t row;
    bool is_first;
  };
  // codes, hash, and name or count; what grows has some of it free
  [[nodiscard]] std::size_t bytes_a_row() const { return 5 * (2 * width_ + 16) / 4; }
  [[nodiscard]] std::size_t size() const { return hashes_.size(); }
  [[nodiscard]] std::span<const std::int16_t> row(std::size_t i) const { return {codes_.data() + i * width_, width_}; }
  [[nodiscard]] std::string_view name(std::size_t i) const;
  [[nodiscard]] int compare_units(const Place& a, const Place& b) const;
  [[nodiscard]] std::vector<Place> by_hash() const;
  [[nodiscard]] std::vector<Place> ordered() const;
  void bound(std::vector<Place>& places) const;
  [[nodiscard]] std::int64_t count(std::size_t i) const { return unit_ == Unit::row && names_.size() > 0 ? names_[i] : 1; }

  std::size_t width_;
  Unit unit_;
  std::size_t rows_a_unit_;
  BoundingKey key_;
  Grown<std::int16_t> codes_;
  Grown<std::uint64_t> hashes_;
  Grown<std::int64_t> names_;  // or where the texts end; of rows that are units how many they are, or nothing where each is one
  Grown<char> texts_;
};

}  // namespace sotto::data_detail
