// Rewrites the metadata of Parquet files: a struct in Thrift's compact protocol. This knows where
// each value ends, and which fields of a column's description declare its bytes as text or its
// integers as milliseconds. It is needed only as long as DuckDB fails on such values.
#include <algorithm>
#include <cstdint>

#include "core/api/varint.hpp"
#include "data/engines/duckdb/parquet.hpp"

namespace sotto::data_detail {
namespace {

enum Wire : unsigned {
  stop = 0,
  yes = 1,
  no = 2,
  byte = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  record = 12
};

// numbers of fields, of the file's metadata and of a column's description
constexpr std::int64_t schema_of_file = 2;
constexpr std::int64_t physical_type = 1;
constexpr std::int64_t converted_type = 6;
constexpr std::int64_t logical_type = 10;
// physical types, then converted types
constexpr std::uint64_t int64 = 2;
constexpr std::uint64_t byte_array = 6;
constexpr std::uint64_t utf8 = 0;
constexpr std::uint64_t enumeration = 4;
constexpr std::uint64_t milliseconds = 9;
constexpr std::uint64_t json = 19;
constexpr int deepest = 100;

[[noreturn]] void broken() {
  throw EngineError(
      "the metadata of the Parquet file cannot be parsed: write the file again with another "
      "library",
      "");
}

/// Reads Thrift's compact protocol.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view from(std::size_t start) const {
    return text_.substr(start, at_ - start);
  }
  unsigned one() {
    if (at_ >= text_.size()) broken();
    return static_cast<unsigned char>(text_[at_++]);
  }
  std::uint64_t number() {
    const auto value = read_varint([&] { return one(); });
    if (!value) broken();
    return *value;
  }
  /// Reads a signed integer (zigzag encoding).
  std::int64_t signed_number() {
    const std::uint64_t n = number();
    return static_cast<std::int64_t>(n >> 1U) ^ -static_cast<std::int64_t>(n & 1U);
  }
  void pass(std::uint64_t count) {
    if (count > text_.size() - at_) broken();
    at_ += count;
  }
  /// Passes a value of this type.
  void value(unsigned type, int depth = 0) {
    if (depth > deepest) broken();
    switch (type) {
      case yes:
      case no: return;
      case byte: return pass(1);
      case i16:
      case i32:
      case i64: number(); return;
      case real: return pass(8);
      case binary: return pass(number());
      case list:
      case set: {
        const auto [size, of] = list_head();
        for (std::uint64_t i = 0; i < size; ++i)
          of == yes || of == no ? pass(1) : value(of, depth + 1);
        return;
      }
      case map: {
        const std::uint64_t size = number();
        if (size == 0) return;
        const unsigned types = one();
        for (std::uint64_t i = 0; i < 2 * size; ++i) {
          const unsigned of = i % 2 == 0 ? types >> 4U : types & 15U;
          of == yes || of == no ? pass(1) : value(of, depth + 1);
        }
        return;
      }
      case record: {
        std::int64_t id = 0;
        for (unsigned of = field(id); of != stop; of = field(id)) value(of, depth + 1);
        return;
      }
      default: broken();
    }
  }
  std::pair<std::uint64_t, unsigned> list_head() {
    const unsigned head = one();
    const std::uint64_t size = head >> 4U;
    return {size == 15 ? number() : size, head & 15U};
  }
  /// Returns the type of the next field, or `stop`, and updates `id` to its number.
  unsigned field(std::int64_t& id) {
    const unsigned head = one();
    if (head == stop) return stop;
    id = head >> 4U == 0 ? signed_number() : id + (head >> 4U);
    return head & 15U;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

void put_field(std::string& out, std::int64_t id, std::int64_t& last, unsigned type) {
  const auto ahead = id - last;
  if (ahead > 0 && ahead <= 15) {
    out += static_cast<char>(ahead << 4 | type);
  } else {
    out += static_cast<char>(type);
    append_varint(out,
                  (static_cast<std::uint64_t>(id) << 1U) ^ static_cast<std::uint64_t>(id >> 63));
  }
  last = id;
}

/// A field of a struct, with its bytes.
struct Part {
  std::int64_t id;
  unsigned type;
  std::string_view bytes;
};

/// Whether DuckDB fails on some values of the column: texts, and timestamps in milliseconds.
bool is_risky(const std::vector<Part>& parts) {
  std::optional<std::uint64_t> physical;
  std::optional<std::uint64_t> converted;
  std::string_view logical;
  for (const Part& part : parts) {
    if (part.id == physical_type && part.type == i32) physical = Reader(part.bytes).number() / 2;
    if (part.id == converted_type && part.type == i32) converted = Reader(part.bytes).number() / 2;
    if (part.id == logical_type && part.type == record) logical = part.bytes;
  }
  const auto starts = [&](std::initializer_list<int> bytes) {
    std::size_t i = 0;
    return logical.size() >= bytes.size() && std::all_of(bytes.begin(), bytes.end(), [&](int byte) {
             const auto actual = static_cast<unsigned char>(logical[i++]);
             return byte < 0 || actual == byte;
           });
  };
  if (physical == byte_array) {
    if (converted) return *converted == utf8 || *converted == enumeration || *converted == json;
    return starts({0x1C}) || starts({0x4C}) ||
           starts({0xCC});  // the first field is a struct: STRING, ENUM, JSON
  }
  // TIMESTAMP, whether it is adjusted to UTC, unit MILLIS
  return physical == int64 &&
         (converted ? *converted == milliseconds : starts({0x8C, -1, 0x1C, 0x1C}));
}

/// Copies a column's description, without the meaning of its values if DuckDB fails on some of
/// them.
std::string plain_column(Reader& reader) {
  std::vector<Part> parts;
  std::int64_t id = 0;
  for (unsigned type = reader.field(id); type != stop; type = reader.field(id)) {
    const auto start = reader.at();
    reader.value(type);
    parts.push_back({id, type, reader.from(start)});
  }
  const bool risky = is_risky(parts);
  std::string out;
  std::int64_t last = 0;
  for (const Part& part : parts) {
    if (risky && (part.id == converted_type || part.id == logical_type)) continue;
    put_field(out, part.id, last, part.type);
    out += part.bytes;
  }
  return out + '\0';
}

}  // namespace

std::string with_plain_values(std::string_view metadata) {
  Reader reader(metadata);
  std::string out;
  std::int64_t id = 0;
  std::int64_t last = 0;
  for (unsigned type = reader.field(id); type != stop; type = reader.field(id)) {
    put_field(out, id, last, type);
    const auto start = reader.at();
    if (id != schema_of_file || type != list) {
      reader.value(type);
      out += reader.from(start);
      continue;
    }
    const auto [size, of] = reader.list_head();
    if (of != record) broken();
    out += reader.from(start);
    for (std::uint64_t i = 0; i < size; ++i) out += plain_column(reader);
  }
  out += '\0';
  return out + std::string(metadata.substr(reader.at()));
}

}  // namespace sotto::data_detail
