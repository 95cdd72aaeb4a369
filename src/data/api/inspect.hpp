// Inspection of a source before anything is charged: its identity, its columns, and how well its
// records fit their declaration. The results are not private: only the curator may see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Returns one canonical name for all spellings of a source: the canonical path of a file (for
/// images, of the file of pixels), "postgresql:HOST:PORT/DATABASE/SCHEMA.TABLE", or
/// "spark:HOST:PORT/TABLE". It reads no contents, and a file need not exist. Throws InvalidValue if
/// a connection cannot be parsed.
std::string identity(const Source& source);
/// The identity of data that are in no file or table.
inline constexpr const char* identity_of_memory = "memory";

/// Whether spaces and tabs at both ends of texts are removed.
bool trims(const Source& source);

/// Returns the columns of a source, in its order, each with the narrowest type that all its values
/// have. A file of records is read once; of any other source only the schema is read. A column
/// without values has type text. Columns of types that sotto does not have are omitted.
/// Throws EngineError or InvalidValue.
std::vector<Column> infer_columns(const Source& source, const Limits& limits = {});

/// Returns the value that FileSource::records needs: "" if "lines" and "quoted" read the same
/// records, "quoted" if quoted fields contain line ends and the file follows RFC 4180, else
/// "lines". "" for files of other formats.
std::string infer_records(const FileSource& source);

/// A declared column: bounds if it is a number, a list of values if it is a key.
struct ExpectedColumn {
  Column column;
  std::optional<double> lower = {};
  std::optional<double> upper = {};
  std::vector<Value> values = {};  ///< empty: any value
};

/// How the values of one column fit its declaration.
struct ColumnFindings {
  std::int64_t unreadable = 0;  ///< NULL because the stored value is not of the declared type
  std::int64_t null = 0;        ///< NULL in the source, or a text of null_text
  std::int64_t below = 0;       ///< below the lower bound
  std::int64_t above = 0;       ///< above the upper bound
  std::int64_t unlisted = 0;    ///< neither NULL nor a declared value
  /// The most frequent unlisted values, each with its number of rows.
  std::vector<std::pair<std::string, std::int64_t>> commonest_unlisted = {};
};

/// The distribution over units of a number that each unit has, such as its rows.
struct Spread {
  std::int64_t median = 0;
  std::int64_t percentile_90 = 0;
  std::int64_t percentile_99 = 0;
  std::int64_t largest = 0;
};

struct Inspection {
  std::int64_t records = 0;
  /// Records that were skipped: too long, not as RFC 4180 or JSON has them, or with another number
  /// of fields than the header.
  std::int64_t malformed = 0;
  std::vector<ColumnFindings> columns;  ///< in the order of the declaration
  std::int64_t units = 0;
  /// Records whose unit is NULL. No query with a unit counts them.
  std::int64_t without_unit = 0;
  Spread rows_a_unit;
  /// For each column with declared values, the number of different declared values that a unit has.
  std::vector<std::optional<Spread>> values_a_unit;
};

/// Reads the source and reports how it fits the declaration. `unit` is one of the columns, or empty
/// if each record is a unit. Throws EngineError or InvalidValue.
Inspection inspect(const Source& source, const std::vector<ExpectedColumn>& columns,
                   const std::string& unit, const Limits& limits = {},
                   const Progress& progress = {});

}  // namespace sotto
