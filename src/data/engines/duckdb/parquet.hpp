// Parquet files: stored types as declared types, and a copy of files that DuckDB cannot read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/engines/stored_column.hpp"
#include "data/records/file.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::data_detail {

/// How texts are read.
struct TextFormat {
  std::vector<std::string> null_text;
  bool trim = false;
};

/// Returns the columns of a SELECT from the file: each declared column as its type, NULL if a value
/// is not of this type, and the unreadable flags (see Scan). It fails for no value of any row.
/// `is_plain`: the file is a PlainCopy. Throws InvalidValue if a column is absent or stored as a
/// type that does not fit.
std::string selected_columns(const std::vector<Column>& columns,
                             const std::vector<StoredColumn>& stored, const TextFormat& format,
                             const std::vector<std::string>& unreadable_flags, bool is_plain);
/// Returns the declared type that fits a stored type best; nullopt if none does.
std::optional<Type> best_type(const std::string& stored);

/// Returns the metadata of a Parquet file in which text columns are declared as bytes, and
/// timestamps in milliseconds as integers. Throws EngineError if they cannot be parsed.
std::string with_plain_values(std::string_view metadata);

/// A temporary copy of a Parquet file with plain values (with_plain_values()). DuckDB 1.4 fails on
/// a file if any text is not UTF-8, or any timestamp in milliseconds is out of range; it reads the
/// bytes and integers of the copy.
class PlainCopy {
 public:
  /// Creates an empty file without a name in the folder; empty: /var/tmp.
  explicit PlainCopy(const std::filesystem::path& below);
  PlainCopy(const PlainCopy&) = delete;
  PlainCopy& operator=(const PlainCopy&) = delete;
  ~PlainCopy();
  void fill(const File& file) const;
  [[nodiscard]] std::string path() const;

 private:
  void write(std::string_view bytes) const;
  int descriptor_;
};

}  // namespace sotto::data_detail
