// Parquet files: stored types as declared ones, and texts that DuckDB itself will not read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/records/file.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::data_detail {

/// A column by its name and DuckDB's name of its type.
struct StoredColumn {
  std::string name;
  std::string type;
};

/// How texts are read.
struct TextManner {
  std::vector<std::string> null_text;
  bool trim = false;
};

/// What a SELECT from the file lists: each declared column by its type, NULL where a value is not of it, and the marks (see Scan). No value of
/// any row makes it fail. `is_plain`: the file is a PlainCopy. InvalidValue if a column is not there or is stored as a type that does not fit.
std::string selected_columns(const std::vector<Column>& columns, const std::vector<StoredColumn>& stored, const TextManner& manner,
                             const std::vector<std::string>& marks, bool is_plain);
/// The declared type that a stored one fits best; "text" and so on; nothing if none.
std::optional<Type> best_type(const std::string& stored);

/// The metadata of a Parquet file, with columns of texts declared to be of bytes, and those of milliseconds to be of whole numbers. EngineError if
/// they cannot be read.
std::string with_plain_values(std::string_view metadata);

/// A nameless copy of a Parquet file, with plain values. DuckDB fails on a text that is not UTF-8 and on milliseconds that are too many, whoever's
/// they are; bytes and whole numbers it reads.
class PlainCopy {
 public:
  /// An empty file below the folder; empty: below /var/tmp.
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
