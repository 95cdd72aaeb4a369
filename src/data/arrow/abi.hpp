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

/// How the values of a column are stored.
enum class Stored {
  nothing,  ///< every value is NULL
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
  milliseconds,  ///< a date by the milliseconds of its midnight
  time
};

struct ArrowColumn {
  std::size_t place;  ///< among the stored ones
  Type type;          ///< as declared
  Stored stored;
  std::int64_t per_second = 0;  ///< units of a time
  int scale = 0;                ///< of a decimal: how many digits are behind the point
  /// The whole numbers by which values are looked up in the column's dictionary; nothing: the column has the values themselves.
  std::optional<Stored> codes = std::nullopt;
};

/// The declared columns among the stored ones. InvalidValue.
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
