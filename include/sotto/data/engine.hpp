// Engines: where the data are stored, and what runs SQL on them.
//
// An engine is sent SELECT statements that sotto wrote, and nothing else. To support another one,
// implement `Engine` and, if its SQL differs, add a `Dialect`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sotto/core/errors.hpp"
#include "sotto/data/expression.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// The engine could not be loaded or reached, or a statement failed. what() never contains data and
/// may be shown to anyone. detail() may quote values of the data: only the curator may see it.
class EngineError : public std::runtime_error, public Remediable {
 public:
  EngineError(const std::string& what, std::string detail, Remedy remedy = Remedy::none)
      : std::runtime_error(what), Remediable(remedy), detail_(std::move(detail)) {}
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

/// A statement needed more memory than the engine has. A statement on fewer rows may succeed.
class OutOfMemory : public EngineError {
 public:
  using EngineError::EngineError;
};

/// The engine must read the data in another way after it has already passed on some rows of a
/// stream. The caller discards these rows and calls stream() again.
class StreamRestart : public EngineError {
 public:
  using EngineError::EngineError;
};

/// A file of records or a Parquet file.
struct FileSource {
  std::filesystem::path path;
  /// "csv", "tsv", "json" (one object a line), "json-array" or "parquet". Empty: the extension of
  /// the file's name decides.
  std::string format = {};
  /// How records of separated values end: "lines" (a quoted field never contains a line end) or
  /// "quoted" (RFC 4180: it may). Empty: a file in which the two differ is refused.
  std::string records = {};
  /// Texts that stand for NULL in every column, such as "NA".
  std::vector<std::string> null_text = {};
  /// The one character between separated values. Empty: a comma, or a tab in "tsv".
  std::string delimiter = {};
  /// The columns of a file of separated values that has no header, in order. Empty: the first
  /// record names the columns.
  std::vector<std::string> names = {};
  /// Removes spaces and tabs at both ends of texts, and of the names in a header.
  bool trim = false;
};
/// A table of a PostgreSQL database.
struct PostgresSource {
  /// A connection as libpq accepts it: "host=… dbname=… sslmode=verify-full", a service, or a URI.
  std::string connection;
  /// "survey.people", or "people" in the schema public; upper and lower case as stored.
  std::string table;
  /// Removes spaces and tabs at both ends of texts.
  bool trim = false;
};
/// A table that Spark 4 holds or reads, reached by Spark Connect.
struct SparkSource {
  /// A connection as Spark's clients accept it, without a token:
  /// "sc://HOST:PORT/;use_ssl=true;user_id=ada".
  std::string connection;
  /// "people", "survey.people" or "catalog.survey.people". One of `table` and `path` is set.
  std::string table;
  /// A file or folder that Spark can read.
  std::string path;
  /// The format of `path`, by Spark's name for it. Empty: "parquet".
  std::string format = {};
  /// A file with an access token that only its owner can read. Empty: no token is sent.
  std::filesystem::path token = {};
  /// A PEM file of the certificate authorities that may vouch for the server. Empty: the system's.
  std::filesystem::path authority = {};
  /// Removes spaces and tabs at both ends of texts.
  bool trim = false;
};
/// Images of bytes with their labels, in the IDX format (MNIST's), compressed by gzip or not. Each
/// image is a unit. As an engine they are a table with one column, the label; training reads the
/// pixels (examples.hpp).
struct IdxSource {
  std::filesystem::path images;
  /// Empty: the images have no labels; a model predicts them.
  std::filesystem::path labels;
  /// The declared size in pixels. A file of images with another size is refused.
  std::size_t height = 0, width = 0;
};
using Source = std::variant<FileSource, PostgresSource, SparkSource, IdxSource>;

/// Resources that an engine may use, and where its libraries are.
struct Limits {
  /// 0: one for each of the machine's processors. DuckDB uses at least two.
  int threads = 0;
  /// Bytes; 0: the engine decides.
  std::int64_t memory = 0;
  /// The folder of temporary files without a name: the copy of a Parquet file whose texts are not
  /// UTF-8, and training rows beyond `memory`. Empty: /var/tmp.
  std::filesystem::path scratch = {};
  /// libduckdb.so. Empty: lib/sotto next to the folder of the running program, then below
  /// /usr/local and /usr.
  std::filesystem::path duckdb = {};
  /// Loads libduckdb.so even if its SHA-256 is not in sotto's list.
  bool any_duckdb = false;
  /// The program sotto-spark. Empty: in the folder of the running program, then /usr/local/bin and
  /// /usr/bin.
  std::filesystem::path spark = {};
};

/// One value of an answer: NULL, an integer or a text.
using Cell = std::variant<std::monostate, std::int64_t, std::string>;
/// The answer to a statement.
struct Rows {
  std::size_t width = 0;
  std::vector<Cell> cells;  ///< row by row
  [[nodiscard]] std::size_t size() const { return width == 0 ? 0 : cells.size() / width; }
  [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const {
    return cells[row * width + column];
  }
};

/// Some rows of a stream, column by column. The pointers are valid during the callback only.
struct Batch {
  enum class Kind { number, whole, text };  ///< SQL's DOUBLE PRECISION, BIGINT and TEXT
  /// One of `numbers`, `int64s` and `texts` is set, by the column's kind.
  struct Column {
    const double* numbers = nullptr;
    const std::int64_t* int64s = nullptr;
    const std::string_view* texts = nullptr;
    /// Validity bitmap, 1 = not NULL; nullptr means no NULLs. Values at NULL positions are
    /// unspecified.
    const std::uint64_t* validity = nullptr;
    [[nodiscard]] bool is_null(std::size_t row) const {
      return validity != nullptr && (validity[row / 64] >> (row % 64) & 1U) == 0;
    }
  };
  std::size_t rows = 0;
  std::vector<Column> columns;
};
/// Receives the batches of a stream, one after the other.
using BatchCallback = std::function<void(const Batch&)>;

/// Receives the fraction of the work that is done, from 0 to 1, from time to time. Returns false to
/// stop the work, which then throws EngineError.
using Progress = std::function<bool(double)>;

/// How many records a statement read. Only the curator may see these numbers.
struct RowsRead {
  /// Records that were read. Where `counted` is false, 1 stands for any number above 0.
  std::int64_t records = 0;
  /// Records that could not be parsed and were skipped.
  std::int64_t malformed = 0;
  /// For each declared column, values that became NULL because they are not of its type. Empty: not
  /// counted.
  std::vector<std::int64_t> unreadable = {};
  bool counted = true;
};

/// An engine holds one table and runs SELECT statements on it. All statements of one engine see the
/// same rows.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// Returns the SQL that follows FROM, without an alias. The table has the declared columns, by
  /// name and type. A value that cannot be read as its type is NULL, and so is a day outside the
  /// years 1 to 9999. The rows are unordered.
  [[nodiscard]] virtual std::string table() const = 0;
  /// Whether each statement parses the whole source again, which costs more than the computation.
  [[nodiscard]] virtual bool scan_is_expensive() const { return false; }
  /// Returns the bytes that a statement may use; one that needs more throws OutOfMemory. 0: the
  /// engine manages its memory itself.
  [[nodiscard]] virtual std::int64_t memory() const { return 0; }
  /// Throws InvalidValue if the engine cannot plan the statement. Reads no rows.
  virtual void require_plannable(const std::string& sql) { (void)sql; }
  /// Runs one SELECT whose columns are all BIGINT or TEXT. Throws EngineError.
  virtual Rows query(const std::string& sql, const Progress& progress = {}) = 0;
  /// Runs one SELECT with columns of these kinds, and passes its rows on in batches as they arrive,
  /// in no order; they are never all in memory. An exception of the callback ends the statement and
  /// is thrown again. Throws EngineError, and StreamRestart at most once in the engine's lifetime.
  virtual void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
                      const BatchCallback& take, const Progress& progress = {});
  /// Returns how much the last statement read. An engine that does not count records says whether
  /// its table has any row; the default says that it has. Throws EngineError.
  virtual RowsRead rows_read();
};

/// Opens a source. Throws EngineError if it cannot be read; later statements throw it if a file has
/// changed since. Throws InvalidValue if a declared column is absent or stored as a type that does
/// not fit the declared one.
std::unique_ptr<Engine> open_engine(const Source& source, const std::vector<Column>& columns,
                                    const Limits& limits = {});

}  // namespace sotto
