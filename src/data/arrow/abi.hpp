// The structures of the Arrow C data interface, as its specification lays them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/arrow.hpp"

namespace sotto::data_detail {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

/// How Arrow stores the values of a column.
enum class Stored {
  nothing,  ///< Arrow's null type: every value is NULL
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  decimal32,
  decimal64,
  decimal128,
  text,
  large_text,
  text_view,
  days,
  milliseconds,  ///< a date as the milliseconds from 1970 to its midnight
  time
};

/// A declared column as it is stored.
struct ArrowColumn {
  std::size_t place;  ///< the index among the stored columns
  Type type;          ///< the declared type
  Stored stored;
  std::int64_t per_second = 0;  ///< of a timestamp: its units a second
  int scale = 0;                ///< of a decimal: the number of decimal places
  /// The type of the indices of a dictionary-encoded column. Empty: the column is not encoded.
  std::optional<Stored> codes = std::nullopt;
};

/// Finds the declared columns. Throws InvalidValue if one is absent, appears twice, or is stored as
/// a type that does not fit.
std::vector<ArrowColumn> arrow_columns(const ArrowTable& table, const std::vector<Column>& columns);

}  // namespace sotto::data_detail

namespace sotto {

struct ArrowTable::State {
  data_detail::ArrowSchema schema{};
  std::vector<data_detail::ArrowArray> batches;
  std::int64_t rows = 0;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
};

}  // namespace sotto
