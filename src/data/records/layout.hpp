// Where one record of a file ends and the next begins. It is settled when the file is opened, before anything is charged: no record can move
// the ends of another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/records/file.hpp"
#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

enum class Format { csv, tsv, json, json_array, parquet };
/// InvalidValue if it is none.
Format format_of(const FileSource& source);

enum class Layout { separated, json_lines, json_array };

struct Manner {
  Layout layout = Layout::separated;
  char separator = ',';
  bool by_lines = true;  ///< of separated values: a quote never crosses the end of a line
  std::vector<std::string> null_text;
  std::vector<std::string> names;  ///< of the columns, where the file has no header
  bool trim = false;               ///< blanks at the ends of texts are left out
  /// A record is an object, which is parsed by itself.
  [[nodiscard]] bool is_json() const { return layout != Layout::separated; }
};

/// How the source's records are read; not for Parquet. One pass over the file, unless its records are lines. InvalidValue for what is declared
/// wrongly, EngineError for a file that is not what is declared.
Manner manner_of(const File& file, const FileSource& source);

/// EngineError unless the file is one JSON array: brackets match, texts end, nothing comes after it. What an element is beyond that is its own.
void require_array(const File& file);

/// What is found in a file of separated values.
struct Quotes {
  std::optional<std::uint64_t> crossing;  ///< where a field starts in whose quotes a line ends
  std::optional<std::uint64_t> unsound;   ///< where RFC 4180 is broken
};
Quotes look_at_quotes(const File& file, char separator);

}  // namespace sotto::data_detail
