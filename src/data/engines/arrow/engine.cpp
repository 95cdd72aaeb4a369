// Reads tables in memory: takes over Arrow streams and finds the declared columns in them.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "data/arrow/abi.hpp"
#include "data/arrow/check.hpp"
#include "data/engines/engines.hpp"
#include "data/text/suggestion.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/arrow.hpp"

namespace sotto {
namespace {

using data_detail::ArrowArray;
using data_detail::ArrowArrayStream;
using data_detail::ArrowColumn;
using data_detail::ArrowSchema;
using data_detail::Stored;

/// Owns a stream, which it releases.
class OwnedStream {
 public:
  explicit OwnedStream(ArrowArrayStream& stream) : stream_(stream) { stream.release = nullptr; }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream() {
    if (stream_.release != nullptr) stream_.release(&stream_);
  }
  /// Both write `out` only if the stream succeeds: the result of a failed call must not be
  /// released.
  void read_schema(ArrowSchema& out) {
    ArrowSchema schema{};
    require(stream_.get_schema(&stream_, &schema));
    out = schema;
  }
  void read_next(ArrowArray& out) {
    ArrowArray batch{};
    require(stream_.get_next(&stream_, &batch));
    out = batch;
  }

 private:
  void require(int status) {
    if (status == 0) return;
    const char* words =
        stream_.get_last_error == nullptr ? nullptr : stream_.get_last_error(&stream_);
    throw EngineError("reading the table in memory failed", words == nullptr ? "" : words);
  }
  ArrowArrayStream stream_;
};

/// The meaning of a format string of Arrow's C data interface.
struct Format {
  Stored stored;
  std::int64_t per_second = 0;
  int scale = 0;
};

/// Parses "d:18,3" (18 digits, 3 of them decimal places, in 128 bits) or "d:9,2,32" (in 32 bits).
std::optional<Format> decimal(std::string_view format) {
  if (format.substr(0, 2) != "d:") return std::nullopt;
  format.remove_prefix(2);
  int numbers[3] = {0, 0, 128};
  const char* at = format.data();
  const char* end = at + format.size();
  for (int i = 0; i < 3; ++i) {
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc()) return std::nullopt;
    at = rest;
    if (at == end && i >= 1) break;
    if (at == end || *at++ != ',') return std::nullopt;
  }
  const auto [digits, scale, bits] = numbers;
  if (at != end || digits < 1 || digits > 38 || scale < 0 || scale > digits) return std::nullopt;
  if (bits != 32 && bits != 64 && bits != 128) return std::nullopt;
  return Format{bits == 32   ? Stored::decimal32
                : bits == 64 ? Stored::decimal64
                             : Stored::decimal128,
                0, scale};
}

std::optional<Format> parse_format(std::string_view format) {
  // as in a file, bytes are texts if they are UTF-8
  constexpr std::pair<std::string_view, Stored> formats[] = {
      {"n", Stored::nothing}, {"b", Stored::boolean},       {"c", Stored::int8},
      {"C", Stored::uint8},   {"s", Stored::int16},         {"S", Stored::uint16},
      {"i", Stored::int32},   {"I", Stored::uint32},        {"l", Stored::int64},
      {"L", Stored::uint64},  {"f", Stored::float32},       {"g", Stored::float64},
      {"u", Stored::text},    {"U", Stored::large_text},    {"vu", Stored::text_view},
      {"z", Stored::text},    {"Z", Stored::large_text},    {"vz", Stored::text_view},
      {"tdD", Stored::days},  {"tdm", Stored::milliseconds}};
  for (const auto& [letters, stored] : formats) {
    if (format == letters) return Format{stored};
  }
  // "tsu:" and a time zone, which does not matter: Arrow stores the time in UTC
  constexpr std::pair<std::string_view, std::int64_t> units[] = {
      {"tss:", 1}, {"tsm:", 1'000}, {"tsu:", 1'000'000}, {"tsn:", 1'000'000'000}};
  for (const auto& [letters, per_second] : units) {
    if (format.substr(0, 4) == letters) return Format{Stored::time, per_second};
  }
  return decimal(format);
}

bool fits(Type type, Stored stored) {
  if (stored == Stored::nothing) return true;
  switch (type) {
    case Type::boolean: return stored == Stored::boolean;
    case Type::integer:
    case Type::real: return stored >= Stored::int8 && stored <= Stored::decimal128;
    case Type::text: return stored >= Stored::text && stored <= Stored::text_view;
    case Type::date: return stored == Stored::days || stored == Stored::milliseconds;
    case Type::timestamp: return stored == Stored::time;
  }
  return false;
}

/// Returns the type of the indices of a dictionary; nullopt if the format is not one of integers.
std::optional<Stored> codes_of(std::string_view format) {
  const auto parsed = parse_format(format);
  if (!parsed) return std::nullopt;
  if (parsed->stored < Stored::int8 || parsed->stored > Stored::uint64) return std::nullopt;
  return parsed->stored;
}

/// Describes a type for an error: Arrow's "i" with a dictionary of Arrow's "u".
std::string description_of(const ArrowSchema& schema) {
  const std::string format = std::string("Arrow's \"") + schema.format + "\"";
  return schema.dictionary == nullptr
             ? format
             : format + " with a dictionary of " + description_of(*schema.dictionary);
}

}  // namespace

ArrowTable::State::~State() {
  for (ArrowArray& batch : batches) {
    if (batch.release != nullptr) batch.release(&batch);
  }
  if (schema.release != nullptr) schema.release(&schema);
}

ArrowTable::ArrowTable(void* stream) {
  auto* arrow_stream = static_cast<ArrowArrayStream*>(stream);
  data_detail::require_stream(arrow_stream);
  OwnedStream owned(*arrow_stream);
  const auto state = std::make_shared<State>();
  owned.read_schema(state->schema);
  data_detail::require_schema(state->schema);
  data_detail::StreamLimit limit;
  for (;;) {
    ArrowArray batch{};
    owned.read_next(batch);
    if (batch.release == nullptr) break;
    state->batches.push_back(batch);
    data_detail::require_batch(state->schema, batch);
    limit.add(batch);
    // a validity bitmap of whole rows belongs to structures, not to tables
    if (batch.n_buffers > 0 && batch.buffers[0] != nullptr && batch.null_count != 0) {
      throw InvalidValue(
          "the table in memory has rows that are NULL as a whole: export a table, not an array of "
          "structures");
    }
    state->rows += batch.length;
  }
  state_ = state;
}

std::int64_t ArrowTable::rows() const { return state_->rows; }

std::vector<std::string> ArrowTable::names() const {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < state_->schema.n_children; ++i) {
    const char* name = state_->schema.children[i]->name;
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

std::vector<ArrowColumn> data_detail::arrow_columns(const ArrowTable& table,
                                                    const std::vector<Column>& columns) {
  const auto names = table.names();
  std::vector<ArrowColumn> declared;
  for (const Column& column : columns) {
    const auto at = std::find(names.begin(), names.end(), column.name);
    if (at == names.end())
      throw InvalidValue("the table has no column \"" + column.name + "\"" +
                         suggestion(column.name, names));
    if (std::find(at + 1, names.end(), column.name) != names.end())
      throw InvalidValue("the table has two columns \"" + column.name + "\": rename one of them");
    const auto place = static_cast<std::size_t>(at - names.begin());
    const ArrowSchema& schema = *table.state().schema.children[place];
    const bool has_codes = schema.dictionary != nullptr;
    const auto codes = has_codes ? codes_of(schema.format) : std::nullopt;
    const ArrowSchema& of_values = has_codes ? *schema.dictionary : schema;
    const auto stored =
        of_values.dictionary != nullptr ? std::nullopt : parse_format(of_values.format);
    if (!stored || !fits(column.type, stored->stored) || (has_codes && !codes)) {
      throw InvalidValue("the column \"" + column.name + "\" is declared " + name_of(column.type) +
                         " and stored as " + description_of(schema) +
                         ", which does not fit: cast it, or declare another type");
    }
    declared.push_back({.place = place,
                        .type = column.type,
                        .stored = stored->stored,
                        .per_second = stored->per_second,
                        .scale = stored->scale,
                        .codes = codes});
  }
  require_buffers(table.state(), declared);
  return declared;
}

std::unique_ptr<Engine> open_engine(const ArrowTable& table, const std::vector<Column>& columns,
                                    const Limits& limits, bool trim) {
  data_detail::check_columns(columns);
  if (limits.threads < 0)
    throw InvalidValue("threads = " + std::to_string(limits.threads) +
                       " is negative: write 0 for all processors, or a number from 1");
  if (limits.memory < 0)
    throw InvalidValue("memory = " + std::to_string(limits.memory) +
                       " is negative: write 0 for the default, or a number of bytes");
  return data_detail::open_arrow(table, columns, limits, trim);
}

}  // namespace sotto
