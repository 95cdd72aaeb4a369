// SQL that reads the columns of a Parquet file by their declared types, and the plain copy.
#include "data/engines/duckdb/parquet.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/api/join.hpp"
#include "data/expressions/quoting.hpp"
#include "data/records/scratch.hpp"
#include "data/sql/dialect.hpp"
#include "data/text/suggestion.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::size_t step = std::size_t{4} << 20U;

using Types = std::vector<std::string>;

Types integer_types() {
  return {"BIGINT",   "INTEGER",   "SMALLINT", "TINYINT", "UBIGINT",
          "UINTEGER", "USMALLINT", "UTINYINT", "HUGEINT"};
}
Types fractional_types() { return {"DOUBLE", "FLOAT", "DECIMAL"}; }

/// Returns the stored types that fit a declared type: a cast that succeeds preserves the value.
Types fitting(Type type) {
  Types types;
  switch (type) {
    case Type::boolean: return {"BOOLEAN"};
    case Type::integer:
      types = integer_types();
      for (const auto& other : fractional_types()) types.push_back(other);
      return types;
    case Type::real:
      types = fractional_types();
      for (const auto& other : integer_types()) types.push_back(other);
      return types;
    case Type::text: return {"VARCHAR", "UUID", "ENUM", "BLOB"};
    case Type::date: return {"DATE"};
    case Type::timestamp:
      return {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
              "TIMESTAMP WITH TIME ZONE"};
  }
  throw std::logic_error("unknown type of column");
}

std::string family(const std::string& stored) { return stored.substr(0, stored.find('(')); }
bool has(const Types& types, const std::string& stored) {
  return std::find(types.begin(), types.end(), family(stored)) != types.end();
}

std::string value_of(const Column& column, const std::string& stored) {
  const auto name = data_detail::sql_name(column.name);
  switch (column.type) {
    case Type::boolean: return name;
    case Type::integer:
      if (stored == "BIGINT") return name;
      // up to the largest integer that a double holds exactly
      if (family(stored) ==
          "DECIMAL") {  // compared in its own type, which may be too narrow for the constant
        const std::string whole = "TRY_CAST(" + name + " AS BIGINT)";
        return "CASE WHEN TRY_CAST(" + whole + " AS " + stored + ") = " + name + " AND " + whole +
               " BETWEEN -9007199254740992 AND 9007199254740992 THEN " + whole + " END";
      }
      if (has(fractional_types(), stored)) {
        return "CASE WHEN " + name + " = trunc(" + name + ") AND abs(" + name +
               ") <= 9007199254740992 THEN TRY_CAST(" + name + " AS BIGINT) END";
      }
      return "TRY_CAST(" + name + " AS BIGINT)";
    case Type::real: {
      // DuckDB decides comparisons by the smallest and largest value in the file's metadata, which
      // say nothing of NaN: a NaN would pass every filter.
      const auto number = stored == "DOUBLE" ? name : "TRY_CAST(" + name + " AS DOUBLE)";
      return stored == "DOUBLE" || stored == "FLOAT"
                 ? "CASE WHEN NOT isnan(" + name + ") THEN " + number + " END"
                 : number;
    }
    case Type::text: {
      const auto text = stored == "VARCHAR" ? name
                        : stored == "BLOB"  ? "TRY(decode(" + name + "))"
                                            : "CAST(" + name + " AS VARCHAR)";
      return "CASE WHEN NOT contains(" + text + ", chr(0)) THEN " + text + " END";
    }
    case Type::date:
      return "CASE WHEN " + name + " >= '0001-01-01' AND " + name + " < '10000-01-01' THEN " +
             name + " END";
    case Type::timestamp: {
      if (stored == "BIGINT") {  // milliseconds in a plain copy
        // DuckDB applies a function to all values of a page's dictionary, also to those that the
        // CASE excludes
        const std::string within =
            "least(greatest(" + name + ", -62135596800000), 253402300799999)";
        return "CASE WHEN " + name +
               " BETWEEN -62135596800000 AND 253402300799999 THEN make_timestamp_ms(" + within +
               ") END";
      }
      const auto time = stored == "TIMESTAMP" ? name : "TRY_CAST(" + name + " AS TIMESTAMP)";
      return "CASE WHEN " + time + " >= '0001-01-01' AND " + time + " < '10000-01-01' THEN " +
             time + " END";
    }
  }
  throw std::logic_error("unknown type of column");
}

}  // namespace

std::optional<Type> best_type(const std::string& stored) {
  if (has(integer_types(), stored)) return Type::integer;
  for (const auto type : {Type::boolean, Type::real, Type::text, Type::date, Type::timestamp}) {
    if (has(fitting(type), stored) && stored != "BLOB") return type;
  }
  return {};
}

std::string selected_columns(const std::vector<Column>& columns,
                             const std::vector<StoredColumn>& stored, const TextFormat& format,
                             const std::vector<std::string>& unreadable_flags, bool is_plain) {
  std::string names;
  for (const auto& text : format.null_text)
    names += (names.empty() ? "" : ", ") + data_detail::sql_text(text);
  std::string list;
  std::string flags;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const auto it = std::find_if(stored.begin(), stored.end(),
                                 [&](const StoredColumn& one) { return one.name == column.name; });
    if (it == stored.end()) {
      std::vector<std::string> all;
      for (const auto& one : stored) all.push_back(one.name);
      throw InvalidValue("the file has no column \"" + column.name + "\"" +
                         suggestion(column.name, all));
    }
    const bool is_milliseconds = is_plain && column.type == Type::timestamp && it->type == "BIGINT";
    if (!has(fitting(column.type), it->type) && !is_milliseconds) {
      throw InvalidValue("the column \"" + column.name + "\" is declared " + name_of(column.type) +
                         " and stored as " + it->type +
                         ", which does not fit: declare another type, or store it as one of " +
                         join(fitting(column.type)));
    }
    std::string value = value_of(column, it->type);
    const auto name = data_detail::sql_name(column.name);
    const std::string is_unreadable = "(" + name + " IS NOT NULL AND " + value + " IS NULL)";
    if (column.type == Type::text && format.trim)
      value = sql_dialect(Dialect::duckdb).trimmed(value);
    if (column.type == Type::text && !names.empty())
      value = "CASE WHEN " + value + " NOT IN (" + names + ") THEN " + value + " END";
    list += (i == 0 ? "" : ", ") + value + " AS " + name;
    if (!unreadable_flags.empty())
      flags += ", " + is_unreadable + " AS " + data_detail::sql_name(unreadable_flags[i]);
  }
  return list + flags;
}

PlainCopy::PlainCopy(const std::filesystem::path& below) : descriptor_(nameless_file(below)) {}

PlainCopy::~PlainCopy() { close(descriptor_); }

std::string PlainCopy::path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

void PlainCopy::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw EngineError(std::string("cannot write the temporary copy of a Parquet file: ") +
                            std::strerror(errno) + ". Name another scratch folder",
                        "");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void PlainCopy::fill(const File& file) const {
  // a Parquet file ends with its metadata, their length in four bytes, and "PAR1"
  unsigned char end[8] = {};
  const std::uint64_t size = file.size();
  if (size < 12 || file.read(size - 8, reinterpret_cast<char*>(end), 8) != 8)
    throw EngineError("the file of data is not a Parquet file, or is truncated", "");
  const std::uint64_t length = end[0] | std::uint64_t{end[1]} << 8U | std::uint64_t{end[2]} << 16U |
                               std::uint64_t{end[3]} << 24U;
  if (length > size - 12)
    throw EngineError("the file of data is not a Parquet file, or is truncated", "");
  std::string metadata(length, '\0');
  file.read(size - 8 - length, metadata.data(), length);
  metadata = with_plain_values(metadata);
  std::string buffer(step, '\0');
  const std::uint64_t pages = size - 8 - length;
  for (std::uint64_t at = 0; at < pages;) {
    const auto count = file.read(at, buffer.data(), std::min<std::uint64_t>(step, pages - at));
    if (count == 0) break;
    write({buffer.data(), count});
    at += count;
  }
  const auto changed = metadata.size();
  for (unsigned i = 0; i < 4; ++i) metadata += static_cast<char>(changed >> (8 * i) & 0xFFU);
  write(metadata + "PAR1");
}

}  // namespace sotto::data_detail
