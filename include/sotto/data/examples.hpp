// Examples to learn from: bounded features on one public grid, a target, and whose they are.
//
// A feature is a number in [-1, 1] as a whole number of steps of 2^-14, so that sums of products with numbers on a grid are exact whatever their
// order. How a column becomes features is public: bounds, or the list of its values.
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

/// x = code · 2^-14, |code| <= 2^14.
inline constexpr int feature_bits = 14;
inline constexpr std::int16_t feature_one = std::int16_t{1} << feature_bits;

/// [lower, upper] becomes [-1, 1], or [0, 1] where `from_zero`; what lies outside is moved to the nearer bound.
struct Scaled {
  double lower;
  double upper;
  bool from_zero = false;
  friend bool operator==(const Scaled&, const Scaled&) = default;
};
/// One feature a value, 1 where the column has it; as a target: the index of the value. A row with another value has no such feature, and as a target
/// is dropped.
struct OneOf {
  std::vector<Value> values;
  std::optional<Value> reference = std::nullopt;  ///< a level without a feature, to which the others are compared
  friend bool operator==(const OneOf&, const OneOf&) = default;
};
using Encoding = std::variant<Scaled, OneOf>;

/// InvalidValue unless the bounds are below 1e150 in size, the lower one first, and at least 1e-150 apart.
void require_sound(const Scaled& scale);
/// The code of a number: rounded to the grid, then clamped. NaN is the lower bound. The scale is sound.
std::int16_t code_of(double value, const Scaled& scale);
/// The number on the grid that has this code.
double value_of(std::int16_t code, const Scaled& scale);

struct Feature {
  std::string name;
  Field field;
  Encoding encoding;
};

struct ImageSize {
  std::size_t height, width;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// What is read of a table, or of images.
struct ExampleQuery {
  std::optional<Expression> where;  ///< rows for which it is not true are dropped
  std::vector<Feature> features;
  std::optional<ImageSize> image = std::nullopt;  ///< of an IdxSource: the pixels, line by line, instead of features; each image is a unit
  std::optional<Feature> target;                  ///< nothing: to predict
  std::optional<Expression> unit;                 ///< whose rows come together; nothing: each row is a unit
  std::int64_t rows_a_unit = 1;                   ///< at most; which of a unit's rows stay depends on the unit's own rows alone
};
/// How many features the query has: one a number, one a value of a category.
std::size_t width_of(const std::vector<Feature>& features);
/// The same of a query: its features, or its pixels.
std::size_t width_of(const ExampleQuery& query);
/// Their names in order: "age", "region=north", …
std::vector<std::string> names_of(const std::vector<Feature>& features);

/// Rows of codes, row by row, each starting at a multiple of 32 bytes; the units' rows one after the other. Immutable; copies share the rows.
class Examples {
 public:
  [[nodiscard]] std::size_t width() const { return width_; }
  /// From one row's first code to the next one's; what lies between is 0.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t units() const { return starts_.empty() ? rows_ : starts_.size() - 1; }
  [[nodiscard]] bool one_row_a_unit() const { return starts_.empty(); }
  /// A unit's rows are first(unit) … first(unit + 1) - 1.
  [[nodiscard]] std::size_t first(std::size_t unit) const { return starts_.empty() ? unit : starts_[unit]; }
  [[nodiscard]] const std::int16_t* row(std::size_t i) const { return codes_ + i * stride_; }
  /// A class's index, or a number's code; 0 where there is no target.
  [[nodiscard]] std::int16_t target(std::size_t i) const { return targets_[i]; }

  /// Units first … end - 1 alone: the same rows, not a copy of them.
  [[nodiscard]] Examples part(std::size_t first, std::size_t end) const;

  /// Where examples are put together: in memory, or, beyond `memory` bytes, in a nameless file that only this process can read.
  class Builder;

 private:
  Examples() = default;
  std::shared_ptr<const void> keeper_;  // of the codes and targets
  const std::int16_t* codes_ = nullptr;
  const std::int16_t* targets_ = nullptr;
  std::vector<std::size_t> starts_;  // empty: a row a unit
  std::size_t width_ = 0, stride_ = 0, rows_ = 0;
};

/// Takes rows one after the other.
class Examples::Builder {
 public:
  /// memory 0: half of the machine's. scratch: the folder of the file; empty: /var/tmp.
  explicit Builder(std::size_t width, std::int64_t memory = 0, std::filesystem::path scratch = {});
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;
  ~Builder();
  /// The row's features, `width` codes, all 0, to be filled in by the caller before the next call. EngineError if the disk is full.
  std::span<std::int16_t> add(std::int16_t target);
  /// The rows that are added from now on are another unit's. Never called: each row is a unit.
  void next_unit();
  /// The examples are of units with several rows, also if each happens to have one: a shard is treated as the whole is.
  void keep_units();
  [[nodiscard]] std::size_t rows() const;
  Examples build() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Asks the engine; a unit's rows come together whatever the table's order, and what is more than fits is read in several looks. The same rows and
/// key give the same examples in the same order, on every engine and with any memory or number of threads. EngineError; InvalidValue for a query that
/// does not fit the columns. limits: memory and scratch are used.
Examples read_examples(Engine& engine, const std::vector<Column>& columns, const ExampleQuery& query, const BoundingKey& key,
                       const Limits& limits = {}, const Progress& progress = {});

/// A matrix in memory, row by row, with one scale a column; targets are class indices or numbers on their scale; units, if given, one name a row.
struct Matrix {
  std::span<const double> values;
  std::size_t width;
  std::vector<Scaled> scales;
  std::span<const double> targets = {};
  std::optional<Scaled> target_scale = std::nullopt;  ///< nothing: the targets are class indices
  std::span<const std::int64_t> units = {};           ///< whose row it is; nothing: each row is a unit
};
Examples examples_of(const Matrix& matrix);

struct Images {
  Examples examples;
  std::size_t height, width;
};
/// Images and labels in the IDX format (MNIST's), gzipped or not: pixels become [0, 1]. InvalidValue for files that are not, are cut off or too
/// long, or have a label that is not below `classes`; EngineError if they cannot be opened. memory and scratch: as for Examples::Builder.
Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::size_t classes = 10, std::int64_t memory = 0,
                const std::filesystem::path& scratch = {});

}  // namespace sotto
