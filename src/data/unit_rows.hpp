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

#include "scratch.hpp"
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
  /// Rows of `width` codes; about `memory` bytes for them.
  UnitRows(std::size_t width, Unit unit, std::int64_t rows_a_unit, const BoundingKey& key, std::size_t memory);

  [[nodiscard]] std::uint64_t hash_of(std::int64_t name) const;
  [[nodiscard]] std::uint64_t hash_of(std::string_view name) const;
  [[nodiscard]] std::uint64_t hash_of(std::span<const std::int16_t> row) const;

  void add(std::span<const std::int16_t> row, std::uint64_t hash);  ///< where each row is a unit
  void add(std::span<const std::int16_t> row, std::uint64_t hash, std::int64_t name);
  void add(std::span<const std::int16_t> row, std::uint64_t hash, std::string_view name);
  [[nodiscard]] bool is_full() const { return bytes() > memory_ || size() >= most_rows; }
  [[nodiscard]] bool is_half_full() const { return bytes() > memory_ / 2 || size() >= most_rows / 2; }
  /// Leaves out the rows that will not stay, and of the others those that are not in this range; rows that are units and equal become one with a
  /// count.
  void keep(HashRange range);
  /// After keep(): up to which hash about half of the rows are. Nothing: all have the same hash.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;

  using Give = std::function<void(bool is_first_of_unit, std::span<const std::int16_t> row)>;
  /// The rows that stay, in order; then there are none.
  void give(const Give& give);
  void clear();

 private:
  struct Place {
    std::uint64_t hash;
    std::uint32_t row;
    bool is_first;
  };
  static constexpr std::size_t most_rows = 0xFFFFFFFF;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t size() const { return hashes_.size(); }
  [[nodiscard]] std::span<const std::int16_t> row(std::size_t i) const { return {codes_.data() + i * width_, width_}; }
  [[nodiscard]] std::string_view name(std::size_t i) const;
  [[nodiscard]] int compare_units(const Place& a, const Place& b) const;
  [[nodiscard]] Grown<Place> by_hash() const;
  [[nodiscard]] Grown<Place> ordered() const;
  void bound(Grown<Place>& places) const;
  [[nodiscard]] std::int64_t count(std::size_t i) const { return unit_ == Unit::row && names_.size() > 0 ? names_[i] : 1; }

  std::size_t width_;
  Unit unit_;
  std::size_t rows_a_unit_;
  BoundingKey key_;
  std::size_t memory_;
  Grown<std::int16_t> codes_;
  Grown<std::uint64_t> hashes_;
  Grown<std::int64_t> names_;  // or where the texts end; of rows that are units how many they are, or nothing where each is one
  Grown<char> texts_;
};

}  // namespace sotto::data_detail
