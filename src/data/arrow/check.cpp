// Checks Arrow C data from another library before anything reads it.
#include "data/arrow/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "core/api/memory.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 40;  // statistics are exact up to this number
constexpr std::int64_t most_batches = std::int64_t{1} << 18;
constexpr std::int64_t most_columns = 1'000'000;

[[noreturn]] void fail(const std::string& detail) {
  throw EngineError("the table in memory is not valid Arrow data", detail);
}

void require(bool holds, const char* detail) {
  if (!holds) fail(detail);
}

/// The memory that this process may read, from the kernel's list of its mappings. If the list
/// cannot be read, all memory counts as readable.
class Readable {
 public:
  Readable() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      char* rest = nullptr;
      const std::uint64_t begin = std::strtoull(line.c_str(), &rest, 16);
      if (*rest != '-') continue;
      const std::uint64_t end = std::strtoull(rest + 1, &rest, 16);
      if (std::strncmp(rest, " r", 2) != 0) continue;
      if (!ranges_.empty() && ranges_.back().second == begin)
        ranges_.back().second = end;
      else
        ranges_.emplace_back(begin, end);
    }
  }
  [[nodiscard]] bool covers(const void* start, std::uint64_t size) const {
    if (size == 0 || ranges_.empty()) return true;
    const auto at = reinterpret_cast<std::uintptr_t>(start);
    if (size > std::numeric_limits<std::uint64_t>::max() - at) return false;
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), at,
        [](std::uint64_t place, const auto& range) { return place < range.first; });
    return after != ranges_.begin() && at + size <= std::prev(after)->second;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

/// Returns the bytes of a value in the second buffer; 0 for booleans, which have a bit, and for
/// NULLs.
std::uint64_t width_of(Stored stored) {
  switch (stored) {
    case Stored::nothing:
    case Stored::boolean: return 0;
    case Stored::int8:
    case Stored::uint8: return 1;
    case Stored::int16:
    case Stored::uint16: return 2;
    case Stored::int32:
    case Stored::uint32:
    case Stored::float32:
    case Stored::decimal32:
    case Stored::text:
    case Stored::days: return 4;
    case Stored::int64:
    case Stored::uint64:
    case Stored::float64:
    case Stored::decimal64:
    case Stored::large_text:
    case Stored::milliseconds:
    case Stored::time: return 8;
    case Stored::decimal128:
    case Stored::text_view: return 16;
  }
  throw std::logic_error("unknown Arrow type");
}

std::uint64_t bytes_of_bits(std::uint64_t bits) { return bits / 8 + (bits % 8 == 0 ? 0 : 1); }

/// Returns buffer `number`, which must have at least `size` readable bytes.
const void* buffer_at(const ArrowArray& array, std::int64_t number, std::uint64_t size,
                      const Readable& memory) {
  const void* buffer = array.buffers[number];
  if (size == 0) return buffer;
  require(buffer != nullptr, "a buffer is null");
  require(memory.covers(buffer, size),
          "a buffer is shorter than its column, or is not readable memory");
  return buffer;
}

template <typename Offset>
void require_texts(const ArrowArray& array, std::int64_t end, const Readable& memory) {
  const auto* offsets = static_cast<const char*>(array.buffers[1]);
  Offset last = 0;
  std::memcpy(&last, offsets + static_cast<std::size_t>(end) * sizeof last, sizeof last);
  require(last >= 0, "an offset of a text is negative");
  (void)buffer_at(array, 2, static_cast<std::uint64_t>(last), memory);
}

/// Checks the buffers of a text column of views. They are between the views and the list of sizes.
void require_view_buffers(const ArrowArray& array, const Readable& memory) {
  const std::int64_t count = array.n_buffers - 3;
  const void* sizes =
      buffer_at(array, array.n_buffers - 1, static_cast<std::uint64_t>(count) * 8, memory);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t size = 0;
    std::memcpy(&size, static_cast<const char*>(sizes) + 8 * i, sizeof size);
    require(size >= 0, "the size of a buffer is negative");
    (void)buffer_at(array, 2 + i, static_cast<std::uint64_t>(size), memory);
  }
}

void require_array(const ArrowArray& array, Stored stored, const Readable& memory) {
  if (stored == Stored::nothing) return;
  const bool is_text = stored == Stored::text || stored == Stored::large_text;
  const bool is_view = stored == Stored::text_view;
  const std::int64_t buffers = is_text || is_view ? 3 : 2;
  require(is_view ? array.n_buffers >= buffers : array.n_buffers == buffers,
          "a column does not have the number of buffers that its format needs");
  require(array.buffers != nullptr, "a column has no buffers");
  const std::int64_t end = array.offset + array.length;
  if (array.length == 0) return;
  const auto values = static_cast<std::uint64_t>(end);
  if (array.buffers[0] == nullptr)
    require(array.null_count <= 0, "a column has NULLs, but no validity bitmap");
  else
    (void)buffer_at(array, 0, bytes_of_bits(values), memory);
  const std::uint64_t size = stored == Stored::boolean
                                 ? bytes_of_bits(values)
                                 : (values + (is_text ? 1 : 0)) * width_of(stored);
  (void)buffer_at(array, 1, size, memory);
  if (stored == Stored::text) require_texts<std::int32_t>(array, end, memory);
  if (stored == Stored::large_text) require_texts<std::int64_t>(array, end, memory);
  if (is_view) require_view_buffers(array, memory);
}

void require_lengths(const ArrowArray& array) {
  require(array.length >= 0 && array.offset >= 0, "a length or an offset is negative");
  require(array.length <= most_rows && array.offset <= most_rows,
          "a length or an offset exceeds 2^40, the largest size of a table");
  require(array.null_count >= -1 && array.null_count <= array.length,
          "the number of NULLs in a column is not between -1 and its length");
  require(array.n_buffers >= 0 && array.n_children >= 0,
          "a number of buffers or columns is negative");
}

void require_format(const ArrowSchema& schema, int depth) {
  require(schema.format != nullptr, "a column has no format");
  require(depth < 8, "dictionaries are nested more than 8 deep");
  if (schema.dictionary != nullptr) require_format(*schema.dictionary, depth + 1);
}

/// Returns the bytes of memory that this process uses.
std::uint64_t resident() {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident_pages = 0;
  pages >> all >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Returns the bytes of memory of the machine, or of this process's control group if that is less.
std::uint64_t total_memory() {
  std::uint64_t bytes = static_cast<std::uint64_t>(machine_memory());
  for (const char* place :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream limit(place);
    std::uint64_t group_limit = 0;
    if (limit >> group_limit) bytes = std::min(bytes, group_limit);
  }
  return bytes;
}

}  // namespace

void require_stream(const ArrowArrayStream* stream) {
  require(stream != nullptr, "the stream is null");
  require(stream->release != nullptr,
          "the stream was read or released before: export the table again");
  require(stream->get_schema != nullptr && stream->get_next != nullptr,
          "the stream lacks one of its functions");
}

void require_schema(const ArrowSchema& schema) {
  require(schema.format != nullptr, "the stream has no format");
  if (std::strcmp(schema.format, "+s") != 0)
    throw InvalidValue(
        "the Arrow stream is not a table: it must have columns, as a record batch or a table has");
  require(schema.n_children >= 0 && schema.n_children <= most_columns,
          "the number of columns is not between 0 and 1000000");
  require(schema.n_children == 0 || schema.children != nullptr, "the list of columns is null");
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    require(schema.children[i] != nullptr, "a column is null");
    require_format(*schema.children[i], 0);
  }
}

void require_batch(const ArrowSchema& schema, const ArrowArray& batch) {
  require_lengths(batch);
  require(batch.n_children == schema.n_children,
          "a batch does not have the number of columns of the schema");
  require(batch.n_children == 0 || batch.children != nullptr,
          "the list of columns of a batch is null");
  require(batch.n_buffers <= 1, "a batch has more buffers than its validity bitmap");
  require(batch.n_buffers == 0 || batch.buffers != nullptr,
          "the list of buffers of a batch is null");
  for (std::int64_t i = 0; i < batch.n_children; ++i) {
    const ArrowArray* column = batch.children[i];
    require(column != nullptr, "a column of a batch is null");
    require_lengths(*column);
    require(column->length >= batch.offset + batch.length, "a column is shorter than its batch");
    require((column->dictionary != nullptr) == (schema.children[i]->dictionary != nullptr),
            "a column and its schema disagree on whether it is dictionary-encoded");
    if (column->dictionary != nullptr) require_lengths(*column->dictionary);
  }
}

void require_buffers(const ArrowTable::State& table, const std::vector<ArrowColumn>& columns) {
  const Readable memory;
  for (const ArrowArray& batch : table.batches) {
    for (const ArrowColumn& column : columns) {
      const ArrowArray& array = *batch.children[column.place];
      require_array(array, column.codes.value_or(column.stored), memory);
      if (column.codes) require_array(*array.dictionary, column.stored, memory);
    }
  }
}

StreamLimit::StreamLimit() : before_(resident()), most_(total_memory() / 2) {}

void StreamLimit::add(const ArrowArray& batch) {
  require(++batches_ <= most_batches, "the stream has more than 262144 batches: it may be endless");
  require(batch.length <= most_rows - rows_,
          "the stream has more than 2^40 rows: it may be endless");
  rows_ += batch.length;
  constexpr std::int64_t batches_a_check = 16;
  if (batches_ % batches_a_check != 0) return;
  const std::uint64_t now = resident();
  require(now <= before_ || now - before_ <= most_,
          "the stream uses half of the memory: it may be endless");
}

}  // namespace sotto::data_detail
