// Training examples: bounded features on one public grid, a target, and the unit of each row.
//
// A feature is a number in [-1, 1], stored as an integer multiple of 2^-14. Sums of products with
// numbers on a grid are therefore exact, in any order. How a column becomes features is public: by
// its bounds, or by the list of its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sotto/data/bounded.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// A feature x is stored as its code: x = code · 2^-14 with |code| <= 2^14.
inline constexpr int feature_bits = 14;
inline constexpr std::int16_t feature_one = std::int16_t{1} << feature_bits;

/// Encodes a number: clamps it to [lower, upper] and maps this interval to [-1, 1], or to [0, 1] if
/// `from_zero`.
struct Scaled {
  double lower;
  double upper;
  bool from_zero = false;
  friend bool operator==(const Scaled&, const Scaled&) = default;
};
/// Encodes a category. As a feature: one indicator for each value, which is 1 if the row has this
/// value; all are 0 for any other value. As a target: the index of the value; a row with any other
/// value is dropped.
struct OneOf {
  std::vector<Value> values;
  /// The level that the indicators are compared with, which has no indicator itself.
  std::optional<Value> reference = std::nullopt;
  friend bool operator==(const OneOf&, const OneOf&) = default;
};
using Encoding = std::variant<Scaled, OneOf>;

/// Throws InvalidValue unless both bounds are below 1e150 in magnitude and upper - lower >= 1e-150.
void require_sound(const Scaled& scale);
/// Returns the code of a number: rounded to the grid, then clamped to the bounds; NaN becomes the
/// lower bound. The scale must be valid: it is not checked here.
std::int16_t code_of(double value, const Scaled& scale);
/// Returns the number on the grid that has this code.
double value_of(std::int16_t code, const Scaled& scale);

/// A column of the table with its encoding.
struct Feature {
  std::string name;
  Field field;
  Encoding encoding;
};

struct ImageSize {
  std::size_t height, width;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// Selects the examples to read from a table, or from images.
struct ExampleQuery {
  /// Rows for which this is not true are dropped.
  std::optional<Expression> where;
  std::vector<Feature> features;
  /// For an IdxSource: reads the pixels, line by line, instead of `features`. Each image is a unit.
  std::optional<ImageSize> image = std::nullopt;
  /// Empty: the examples are for prediction.
  std::optional<Feature> target;
  /// Names the unit that a row belongs to. Empty: each row is a unit.
  std::optional<Expression> unit;
  /// The largest number of rows of a unit. The choice of these rows depends on the unit's own rows
  /// alone.
  std::int64_t rows_a_unit = 1;
};
/// Returns the number of codes of a row: one for a number, one for each value of a category.
std::size_t width_of(const std::vector<Feature>& features);
/// Returns the number of codes of a row: those of the query's features, or its pixels.
std::size_t width_of(const ExampleQuery& query);
/// Returns the names of a row's codes, in order: "age", "region=north" and so on.
std::vector<std::string> names_of(const std::vector<Feature>& features);

/// A matrix of codes with a target for each row. The rows of a unit are consecutive, and each row
/// starts at a multiple of 32 bytes. Immutable; copies share the rows.
class Examples {
 public:
  [[nodiscard]] std::size_t width() const { return width_; }
  /// Returns the number of codes from one row's start to the next. Codes past the width are 0.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t units() const { return starts_.empty() ? rows_ : starts_.size() - 1; }
  [[nodiscard]] bool one_row_a_unit() const { return starts_.empty(); }
  /// Returns the first row of a unit, whose last row is first(unit + 1) - 1.
  [[nodiscard]] std::size_t first(std::size_t unit) const {
    return starts_.empty() ? unit : starts_[unit];
  }
  [[nodiscard]] const std::int16_t* row(std::size_t i) const { return codes_ + i * stride_; }
  /// Returns the index of a class, or the code of a number; 0 if the query has no target.
  [[nodiscard]] std::int16_t target(std::size_t i) const { return targets_[i]; }

  /// Returns the units first … end - 1, without copying their rows.
  [[nodiscard]] Examples part(std::size_t first, std::size_t end) const;

  class Builder;

 private:
  Examples() = default;
  std::shared_ptr<const void> keeper_;  // owns the codes and targets
  const std::int16_t* codes_ = nullptr;
  const std::int16_t* targets_ = nullptr;
  std::vector<std::size_t> starts_;  // empty: each row is a unit
  std::size_t width_ = 0, stride_ = 0, rows_ = 0;
};

/// Builds examples row by row: in memory, or, beyond a limit, in a temporary file without a name
/// that only this process can read.
class Examples::Builder {
 public:
  /// `memory`: bytes to hold in memory; 0: half of the machine's. `scratch`: the folder of the
  /// temporary file; empty: /var/tmp.
  explicit Builder(std::size_t width, std::int64_t memory = 0, std::filesystem::path scratch = {});
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();
  /// Adds a row and returns its `width` codes, all 0, which the caller fills in before the next
  /// call. Throws EngineError if the disk is full.
  std::span<std::int16_t> add(std::int16_t target);
  /// Starts another unit, to which the rows that follow belong. If it is never called, each row is
  /// a unit.
  void next_unit();
  /// Treats the examples as units of several rows even if each unit happens to have one row, so
  /// that a part of a table is treated as the whole table.
  void keep_units();
  [[nodiscard]] std::size_t rows() const;
  Examples build() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads examples from the engine. The rows of a unit become consecutive, whatever the order of the
/// table. If the rows exceed the memory, several statements read one range of units each. Equal
/// rows and keys give equal examples in the same order, on every engine and with any memory and
/// number of threads. Uses memory and scratch of `limits`.
/// Throws EngineError, and InvalidValue if the query does not fit the columns.
Examples read_examples(Engine& engine, const std::vector<Column>& columns,
                       const ExampleQuery& query, const BoundingKey& key, const Limits& limits = {},
                       const Progress& progress = {});

/// A matrix in memory, row by row, with one scale for each column.
struct Matrix {
  std::span<const double> values;
  std::size_t width;
  std::vector<Scaled> scales;
  /// One for each row, or empty.
  std::span<const double> targets = {};
  /// The scale of numeric targets. Empty: the targets are indices of classes.
  std::optional<Scaled> target_scale = std::nullopt;
  /// The number of the unit that each row belongs to. Empty: each row is a unit.
  std::span<const std::int64_t> units = {};
};
/// Returns the examples of a matrix. Throws InvalidValue if the sizes do not agree, or if a class
/// is not an integer from 0 to 32767.
Examples examples_of(const Matrix& matrix);

struct Images {
  Examples examples;
  std::size_t height, width;
};
/// Reads images and labels in the IDX format (MNIST's), compressed by gzip or not. Pixels become
/// numbers in [0, 1]. Throws InvalidValue if a file is not of this format, is truncated or too
/// long, or has a label that is not below `classes`; EngineError if it cannot be opened. `memory`
/// and `scratch`: as for Examples::Builder.
Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                std::size_t classes = 10, std::int64_t memory = 0,
                const std::filesystem::path& scratch = {});

}  // namespace sotto
