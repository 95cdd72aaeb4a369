// A first reading of a source, before anything is written about it: its columns, whether its first line is a header, and what cannot be read.
// Nothing here is private: it is for the curator's terminal alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Why a name in the first line looks like a value of the data: "is a number".
struct NameDoubt {
  std::string name;
  std::string why;
  bool is_of_blanks = false;  ///< blanks at its ends are all that is odd
};

struct Survey {
  /// In the source's order, each with the narrowest type that all its values have; what is stored as none of sotto's types is left out.
  std::vector<Column> columns;
  std::int64_t records = 0;                   ///< of a file: that can be read, without the header
  std::int64_t malformed = 0;                 ///< of a file: that cannot, such as those with more or fewer fields than the header
  std::vector<NameDoubt> doubts = {};         ///< of a file whose first line names the columns: why it may hold values instead
  std::size_t header_fields = 0;              ///< of separated values: how many columns are named
  std::size_t usual_fields = 0;               ///< of separated values: how many fields most of the first records have
  std::vector<std::string> left_out = {};     ///< columns with values of none of sotto's types, such as objects and arrays of JSON
  std::vector<std::string> with_blanks = {};  ///< the columns with texts, or a name, that start or end with a blank
};

/// A file of records is read once, from its start to its end; of other sources the schema is read, and the first rows for blanks.
/// EngineError, InvalidValue.
Survey survey(const Source& source, const Limits& limits = {});

/// The format of a file by its first bytes: "csv", "tsv", "json", "json-array" or "parquet". EngineError if it cannot be read.
std::string format_by_content(const std::filesystem::path& path);

}  // namespace sotto
