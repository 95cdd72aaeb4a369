// How a file of records is divided into records. This is decided when the file is opened, before
// anything is charged, so that no record can move the boundaries of another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/records/file.hpp"
#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

enum class Format { csv, tsv, json, json_array, parquet };
/// Returns the format of the source. Throws InvalidValue if it is unknown.
Format format_of(const FileSource& source);

enum class Layout { separated, json_lines, json_array };

/// How records are found in a file, and how their fields are read.
struct RecordFormat {
  Layout layout = Layout::separated;
  char separator = ',';
  bool by_lines = true;  ///< separated values: a quoted field never contains a line end
  std::vector<std::string> null_text;
  std::vector<std::string> names;  ///< of the columns, if the file has no header
  bool trim = false;               ///< removes spaces and tabs at both ends of texts
  /// Whether each record is a JSON object.
  [[nodiscard]] bool is_json() const { return layout != Layout::separated; }
};

/// Returns how to read the records of a source that is not Parquet. Reads the file once, unless its
/// records are declared to be lines. Throws InvalidValue for a wrong declaration, EngineError for a
/// file that does not match its declaration.
RecordFormat record_format_of(const File& file, const FileSource& source);

/// Throws EngineError unless the file is one JSON array: brackets match, texts are closed, and only
/// blanks follow the array. Elements are not checked any further.
void require_array(const File& file);

/// The first unusual quotes in a file of separated values, as places in the file.
struct Quotes {
  std::optional<std::uint64_t> crossing;  ///< a quoted field that contains a line end
  std::optional<std::uint64_t> unsound;   ///< a quote that RFC 4180 does not allow
};
Quotes find_quotes(const File& file, char separator);

}  // namespace sotto::data_detail
