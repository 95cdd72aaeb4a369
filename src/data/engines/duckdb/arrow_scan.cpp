// A table in memory as a table function of DuckDB: converts Arrow's values to DuckDB's vectors.
#include "data/engines/duckdb/arrow_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "data/engines/duckdb/record_scan.hpp"
#include "data/text/utf8.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::int64_t first_day = -719'162;     // 0001-01-01, in days since 1970
constexpr std::int64_t end_of_days = 2'932'897;  // 10000-01-01
constexpr std::int64_t seconds_a_day = 86'400;
constexpr const char* invalid = "the table in memory is not valid Arrow data";

/// One statement's pass over the table: its threads take slices of the batches.
class Pass {
 public:
  explicit Pass(const ArrowScan& scan) : scan_(scan) {}
  struct Slice {
    const ArrowArray* batch;
    std::int64_t start, count;
  };
  std::optional<Slice> next(std::int64_t most) {
    const std::lock_guard lock(mutex_);
    const auto& batches = scan_.table.state().batches;
    while (batch_ < batches.size() && row_ == batches[batch_].length) {
      ++batch_;
      row_ = 0;
    }
    if (batch_ == batches.size()) return std::nullopt;
    const Slice slice{&batches[batch_], row_, std::min(most, batches[batch_].length - row_)};
    row_ += slice.count;
    return slice;
  }
  [[nodiscard]] const ArrowScan& scan() const { return scan_; }

 private:
  const ArrowScan& scan_;
  std::mutex mutex_;
  std::size_t batch_ = 0;
  std::int64_t row_ = 0;
};

bool bit(const void* bits, std::int64_t i) {
  return (static_cast<const std::uint8_t*>(bits)[i / 8] >> (i % 8) & 1U) != 0;
}

/// A column of a slice. Value i is at position first + i of the buffers.
struct Values {
  const ArrowArray& array;
  std::int64_t first;
  [[nodiscard]] bool is_null(std::int64_t i) const {
    return array.n_buffers > 0 && array.buffers[0] != nullptr && !bit(array.buffers[0], first + i);
  }
  template <typename T>
  [[nodiscard]] T at(std::int64_t i) const {
    T value;  // copied, since the buffer of a faulty producer may be misaligned
    std::memcpy(&value,
                static_cast<const char*>(array.buffers[1]) +
                    static_cast<std::size_t>(first + i) * sizeof value,
                sizeof value);
    return value;
  }
};

/// Passes a number, in its stored type, to `use`.
template <typename Use>
void with_number(const Values& values, Stored stored, std::int64_t i, Use&& use) {
  switch (stored) {
    case Stored::int8: return use(values.at<std::int8_t>(i));
    case Stored::int16: return use(values.at<std::int16_t>(i));
    case Stored::int32: return use(values.at<std::int32_t>(i));
    case Stored::int64: return use(values.at<std::int64_t>(i));
    case Stored::uint8: return use(values.at<std::uint8_t>(i));
    case Stored::uint16: return use(values.at<std::uint16_t>(i));
    case Stored::uint32: return use(values.at<std::uint32_t>(i));
    case Stored::uint64: return use(values.at<std::uint64_t>(i));
    case Stored::float32: return use(values.at<float>(i));
    case Stored::float64: return use(values.at<double>(i));
    default: throw std::logic_error("an Arrow column is not numeric");
  }
}

__extension__ using Digits = __int128;

/// Returns the digits of a decimal, without its decimal point.
Digits digits_of(const Values& values, Stored stored, std::int64_t i) {
  if (stored == Stored::decimal32) return values.at<std::int32_t>(i);
  if (stored == Stored::decimal64) return values.at<std::int64_t>(i);
  Digits digits;  // copied, since Arrow aligns it to 8 bytes only
  std::memcpy(&digits, static_cast<const char*>(values.array.buffers[1]) + 16 * (values.first + i),
              sizeof digits);
  return digits;
}

bool is_decimal(Stored stored) {
  return stored >= Stored::decimal32 && stored <= Stored::decimal128;
}

Digits power_of_ten(int exponent) {
  Digits power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

constexpr std::int64_t exact_doubles = std::int64_t{1} << 53U;

/// Returns a decimal as an integer, if it is one that a double holds exactly, as for files.
std::optional<std::int64_t> integer_decimal(Digits digits, int scale) {
  const Digits power = power_of_ten(scale);
  if (digits % power != 0) return std::nullopt;
  const Digits number = digits / power;
  if (number > exact_doubles || number < -exact_doubles) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

/// Converts a decimal as DuckDB does for files: if its digits do not fit a double, the parts before
/// and after the decimal point are converted separately.
double real_decimal(Digits digits, int scale) {
  const Digits power = power_of_ten(scale);
  const auto divisor = static_cast<double>(power);
  if (digits <= exact_doubles && digits >= -exact_doubles)
    return static_cast<double>(digits) / divisor;
  return static_cast<double>(digits / power) + static_cast<double>(digits % power) / divisor;
}

/// Returns a number as an integer, if it is one and, for a floating-point number, at most 2^53 in
/// magnitude.
template <typename T>
std::optional<std::int64_t> as_integer(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!(std::trunc(value) == value && std::abs(value) <= T{9007199254740992}))
      return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

/// Returns a text between two offsets. The last offset of its array was checked against the buffer
/// when the table was opened.
template <typename Offset>
std::string_view text_between(const Values& values, std::int64_t i) {
  const auto begin = values.at<Offset>(i);
  const auto end = values.at<Offset>(i + 1);
  const auto last = values.at<Offset>(values.array.offset + values.array.length - values.first);
  if (begin < 0 || end < begin || end > last)
    throw EngineError(invalid, "the offsets of texts decrease");
  return {static_cast<const char*>(values.array.buffers[2]) + begin,
          static_cast<std::size_t>(end - begin)};
}

/// Returns a text in one of the buffers of an array of views. The last buffer has their sizes.
std::string_view text_viewed(const Values& values, std::int32_t length, std::int32_t buffer,
                             std::int32_t offset) {
  const std::int64_t count = values.array.n_buffers - 3;
  std::int64_t size = 0;
  if (buffer >= 0 && buffer < count) {
    std::memcpy(&size,
                static_cast<const char*>(values.array.buffers[values.array.n_buffers - 1]) +
                    8 * std::size_t(buffer),
                sizeof size);
  }
  if (offset < 0 || std::int64_t{offset} + length > size)
    throw EngineError(invalid, "a text is outside its buffer");
  return {static_cast<const char*>(values.array.buffers[2 + buffer]) + offset,
          static_cast<std::size_t>(length)};
}

std::string_view text_at(const Values& values, Stored stored, std::int64_t i) {
  if (stored == Stored::text) return text_between<std::int32_t>(values, i);
  if (stored == Stored::large_text) return text_between<std::int64_t>(values, i);
  // a view has 16 bytes: the length, then either up to 12 bytes of text, or 4 bytes, the index of a
  // buffer and an offset in it
  const char* view = static_cast<const char*>(values.array.buffers[1]) + 16 * (values.first + i);
  std::int32_t parts[4];
  std::memcpy(parts, view, sizeof parts);
  if (parts[0] < 0) throw EngineError(invalid, "the length of a text is negative");
  if (parts[0] <= 12) return {view + 4, static_cast<std::size_t>(parts[0])};
  return text_viewed(values, parts[0], parts[2], parts[3]);
}

/// Returns a time in microseconds, rounded down, if it is in the years 1 to 9999.
std::optional<std::int64_t> microseconds(std::int64_t value, std::int64_t per_second) {
  std::int64_t seconds = value / per_second;
  std::int64_t rest = value % per_second;
  if (rest < 0) {
    rest += per_second;
    --seconds;
  }
  if (seconds < first_day * seconds_a_day || seconds >= end_of_days * seconds_a_day)
    return std::nullopt;
  return seconds * 1'000'000 + (per_second <= 1'000'000 ? rest * (1'000'000 / per_second)
                                                        : rest / (per_second / 1'000'000));
}

std::optional<std::int64_t> integer_at(const ArrowColumn& column, const Values& values,
                                       std::int64_t i) {
  if (is_decimal(column.stored))
    return integer_decimal(digits_of(values, column.stored, i), column.scale);
  std::optional<std::int64_t> number;
  with_number(values, column.stored, i, [&](auto value) { number = as_integer(value); });
  return number;
}

double real_at(const ArrowColumn& column, const Values& values, std::int64_t i) {
  if (is_decimal(column.stored))
    return real_decimal(digits_of(values, column.stored, i), column.scale);
  double number = 0;
  with_number(values, column.stored, i, [&](auto value) { number = static_cast<double>(value); });
  return number;
}

/// Returns the days since 1970, rounded down.
std::int64_t day_at(const ArrowColumn& column, const Values& values, std::int64_t i) {
  if (column.stored == Stored::days) return values.at<std::int32_t>(i);
  constexpr std::int64_t milliseconds_a_day = 86'400'000;
  const auto milliseconds = values.at<std::int64_t>(i);
  return milliseconds / milliseconds_a_day - (milliseconds % milliseconds_a_day < 0 ? 1 : 0);
}

/// Writes value `from` to row `i`. Returns false if it is NULL or not of the declared type.
bool put(duckdb::Vector vector, void* data, const ArrowColumn& column, const Values& values,
         std::int64_t from, std::int64_t i) {
  if (column.stored == Stored::nothing || values.is_null(from)) return false;
  bool good = true;
  switch (column.type) {
    case Type::boolean:
      static_cast<bool*>(data)[i] = bit(values.array.buffers[1], values.first + from);
      break;
    case Type::integer: {
      const auto number = integer_at(column, values, from);
      good = number.has_value();
      static_cast<std::int64_t*>(data)[i] = number.value_or(0);
      break;
    }
    case Type::real: {
      const double number = real_at(column, values, from);
      good = !std::isnan(number);
      static_cast<double*>(data)[i] = number;
      break;
    }
    case Type::text: {
      const auto text = text_at(values, column.stored, from);
      good = is_text(text);
      if (good)
        duckdb::loaded().vector_assign_string_element_len(vector, static_cast<duckdb::Index>(i),
                                                          text.data(), text.size());
      break;
    }
    case Type::date: {
      const std::int64_t day = day_at(column, values, from);
      good = day >= first_day && day < end_of_days;
      static_cast<std::int32_t*>(data)[i] = good ? static_cast<std::int32_t>(day) : 0;
      break;
    }
    case Type::timestamp: {
      const auto time = microseconds(values.at<std::int64_t>(from), column.per_second);
      good = time.has_value();
      static_cast<std::int64_t*>(data)[i] = time.value_or(0);
      break;
    }
  }
  return good;
}

/// Writes a dictionary-encoded value to row `i`. Returns false if it is NULL or not of the declared
/// type, or if its index is outside the dictionary.
bool put_coded(duckdb::Vector vector, void* data, const ArrowColumn& column, const Values& codes,
               std::int64_t i) {
  const ArrowArray* dictionary = codes.array.dictionary;
  if (dictionary == nullptr || codes.is_null(i)) return false;
  std::optional<std::int64_t> code;
  with_number(codes, *column.codes, i, [&](auto value) { code = as_integer(value); });
  if (!code || *code < 0 || *code >= dictionary->length) return false;
  return put(vector, data, column, {*dictionary, dictionary->offset}, *code, i);
}

// The callbacks of DuckDB. No exception may leave them.

void bind_arrow(duckdb::BindInfo info) {
  const auto& library = duckdb::loaded();
  const auto& scan = *static_cast<ArrowScan*>(library.bind_get_extra_info(info));
  for (const Column& column : scan.declared) {
    auto type = library.create_logical_type(type_id(column.type));
    library.bind_add_result_column(info, column.name.c_str(), type);
    library.destroy_logical_type(&type);
  }
}

void begin_arrow(duckdb::InitInfo info) {
  const auto& library = duckdb::loaded();
  try {
    auto pass = std::make_unique<Pass>(*static_cast<ArrowScan*>(library.init_get_extra_info(info)));
    library.init_set_init_data(info, pass.release(),
                               [](void* data) { delete static_cast<Pass*>(data); });
    library.init_set_max_threads(info, std::max(1U, std::thread::hardware_concurrency()));
  } catch (const std::exception& error) {
    library.init_set_error(info, error.what());
  }
}

void continue_arrow(duckdb::FunctionInfo info, duckdb::Chunk chunk) {
  const auto& library = duckdb::loaded();
  try {
    auto& pass = *static_cast<Pass*>(library.function_get_init_data(info));
    const auto slice = pass.next(static_cast<std::int64_t>(library.vector_size()));
    library.data_chunk_set_size(chunk, slice ? static_cast<duckdb::Index>(slice->count) : 0);
    if (!slice) return;
    const auto& columns = pass.scan().columns;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const ArrowArray& array = *slice->batch->children[columns[c].place];
      const Values values{array, array.offset + slice->batch->offset + slice->start};
      const auto vector = library.data_chunk_get_vector(chunk, c);
      void* data = library.vector_get_data(vector);
      library.vector_ensure_validity_writable(vector);
      std::uint64_t* validity = library.vector_get_validity(vector);
      for (std::int64_t i = 0; i < slice->count; ++i) {
        const bool is_valid = columns[c].codes ? put_coded(vector, data, columns[c], values, i)
                                               : put(vector, data, columns[c], values, i, i);
        if (!is_valid) validity[i / 64] &= ~(std::uint64_t{1} << (i % 64));
      }
    }
  } catch (const EngineError& error) {
    library.function_set_error(info, error.detail().c_str());
  } catch (const std::exception& error) {
    library.function_set_error(info, error.what());
  }
}

}  // namespace

void register_arrow_scan(duckdb::Connection connection, const char* name, ArrowScan& scan) {
  register_table_function(connection, name, &scan, bind_arrow, begin_arrow, continue_arrow);
}

}  // namespace sotto::data_detail
