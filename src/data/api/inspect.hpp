// What the curator may see of a source before anything is charged: which one it is, its columns, and how well its records fit what is declared.
// Nothing here is private: it is for the curator's terminal alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// The source by the one name that all ways of writing it share: a file's canonical path (of images, not of their labels), or
/// "postgresql:HOST:PORT/DATABASE/SCHEMA.TABLE". The contents are not looked at, and a file need not be there. InvalidValue for a connection that
/// cannot be read.
std::string identity(const Source& source);
/// The identity of data that are in no file or table.
inline constexpr const char* identity_of_memory = "memory";

/// Blanks at the ends of texts are left out.
bool trims(const Source& source);

/// The columns of a source, in its order, each with the narrowest type that all its values have: a file of records is read once, elsewhere the
/// schema says it. A column of NULLs alone is of texts. What is stored as none of sotto's types is left out. EngineError, InvalidValue.
std::vector<Column> found_columns(const Source& source, const Limits& limits = {});

/// What FileSource::records should be: "" where both ways read the same records, "quoted" where quoted fields hold ends of lines and the file keeps
/// RFC 4180, "lines" where it does not. "" for files of other formats.
std::string found_records(const FileSource& source);

/// A column as it is declared. Bounds are of numbers, values of keys.
struct ExpectedColumn {
  Column column;
  std::optional<double> lower = {};
  std::optional<double> upper = {};
  std::vector<Value> values = {};  ///< none: any
};

struct ColumnFindings {
  std::int64_t unreadable = 0;  ///< values that are NULL because they are not of the declared type
  std::int64_t null = 0;        ///< values that are missing or named by null_text
  std::int64_t below = 0;
  std::int64_t above = 0;
  std::int64_t unlisted = 0;  ///< not NULL, and not among the declared values
  /// The commonest of those, with how often each is there.
  std::vector<std::pair<std::string, std::int64_t>> commonest_unlisted = {};
};

/// Of a number that each unit has: so many units have at most so much.
struct Spread {
  std::int64_t half = 0;         ///< of the units
  std::int64_t nine_of_10 = 0;   ///< 90 %
  std::int64_t most_of_all = 0;  ///< 99 %
  std::int64_t largest = 0;
};

struct Inspection {
  std::int64_t records = 0;             ///< that could be read
  std::int64_t malformed = 0;           ///< left out: they have not the header's fields, break the rules or are too long
  std::vector<ColumnFindings> columns;  ///< in the order of what was expected
  std::int64_t units = 0;
  std::int64_t without_unit = 0;  ///< records whose unit is NULL: no query with a unit counts them
  Spread rows_a_unit;
  std::vector<std::optional<Spread>> values_a_unit;  ///< how many different declared values a unit has, for columns that declare some
};

/// Reads the source and says how it fits. `unit` is one of the columns, or empty: each record is a unit. EngineError, InvalidValue.
Inspection inspect(const Source& source, const std::vector<ExpectedColumn>& columns, const std::string& unit, const Limits& limits = {},
                   const Progress& progress = {});

}  // namespace sotto
