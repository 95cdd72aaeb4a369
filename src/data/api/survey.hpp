// A survey of a source before its data file is written: its columns, whether its first line is a
// header, and what cannot be read. The results are not private: only the curator may see them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// A name in the first line that looks like a value rather than a column's name.
struct NameDoubt {
  std::string name;
  std::string why;  ///< completes the sentence that starts with the name: "is a number"
  /// Spaces or tabs at the ends of the name are the only reason.
  bool is_of_blanks = false;
};

struct Survey {
  /// In the source's order, each with the narrowest type that all its values have. Columns of types
  /// that sotto does not have are omitted.
  std::vector<Column> columns;
  /// Of a file: records that can be read, without the header.
  std::int64_t records = 0;
  /// Of a file: records that cannot be read, such as those with another number of fields than the
  /// header.
  std::int64_t malformed = 0;
  /// Of a file with a header: reasons to think that its first line holds values.
  std::vector<NameDoubt> doubts = {};
  /// Of separated values: the number of columns that are named.
  std::size_t header_fields = 0;
  /// Of separated values: the most frequent number of fields among the first records.
  std::size_t usual_fields = 0;
  /// Columns that were omitted, such as objects and arrays in JSON.
  std::vector<std::string> left_out = {};
  /// Columns whose name, or one of whose texts, starts or ends with a space or tab.
  std::vector<std::string> with_blanks = {};
};

/// Surveys a source. It reads a file of records once, from start to end; of other sources it reads
/// the schema, and the first rows to look for blanks. Throws EngineError or InvalidValue.
Survey survey(const Source& source, const Limits& limits = {});

/// Returns the format that the first bytes of a file suggest: "csv", "tsv", "json", "json-array" or
/// "parquet". Throws EngineError if the file cannot be read.
std::string format_by_content(const std::filesystem::path& path);

}  // namespace sotto
