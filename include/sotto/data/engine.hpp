// Where the data are and what computes on them. Only SQL that sotto wrote reaches an engine; another engine is another implementation of
// `Engine` and, if its SQL differs, another `Dialect`.
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

/// The engine could not be loaded or reached, or failed. what() is fit for anyone; detail() may speak of the data and is for the
/// curator's eyes alone.
class EngineError : public std::runtime_error, public Remediable {
 public:
  EngineError(const std::string& what, std::string detail, Remedy remedy = Remedy::none)
      : std::runtime_error(what), Remediable(remedy), detail_(std::move(detail)) {}
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

/// The engine's memory was not enough for a statement: it may be for one on fewer rows.
class OutOfMemory : public EngineError {
 public:
  using EngineError::EngineError;
};

/// The engine has found out, with some rows of a stream already given out, how it must read the data: forget these rows and ask again.
class StreamRestart : public EngineError {
 public:
  using EngineError::EngineError;
};

struct FileSource {
  std::filesystem::path path;
  std::string format = {};  ///< "csv", "tsv", "json" (an object a line), "json-array" or "parquet"; empty: by the file's name
  /// How records of separated values end: "lines" (a quote never crosses the end of a line) or "quoted" (RFC 4180: it may). Empty: a file in
  /// which that makes a difference is refused.
  std::string records = {};
  std::vector<std::string> null_text = {};  ///< texts that stand for NULL, such as "NA", in every column
  std::string delimiter = {};               ///< between separated values, one character; empty: a comma, or a tab in "tsv"
  /// The columns of a file of separated values without a header, in their order. Empty: its first record names them.
  std::vector<std::string> names = {};
  bool trim = false;  ///< blanks and tabs at the ends of texts, and of names in a header, are left out
};
struct PostgresSource {
  std::string connection;  ///< as libpq reads it: "host=… dbname=… sslmode=verify-full", a service, or a URI
  std::string table;       ///< "survey.people", or "people" in the schema public; spelt as it is stored
  bool trim = false;       ///< as of a file
};
/// A table that Spark 4 holds or reads, by Spark Connect.
struct SparkSource {
  std::string connection;                ///< as Spark's clients write it, without a token: "sc://HOST:PORT/;use_ssl=true;user_id=ada"
  std::string table;                     ///< "people", "survey.people" or "catalog.survey.people"; or
  std::string path;                      ///< a file or folder that Spark can read
  std::string format = {};               ///< of what is at the path, by Spark's name of it; empty: "parquet"
  std::filesystem::path token = {};      ///< a private file with an access token; empty: none
  std::filesystem::path authority = {};  ///< a PEM file of certificates, one of which vouches for the server; empty: the system's
  bool trim = false;                     ///< as of a file
};
/// Images and their labels in the IDX format (MNIST's), gzipped or not: bytes, one image and one label a unit. To an engine they are a table of the
/// labels alone; learning reads the pixels (examples.hpp).
struct IdxSource {
  std::filesystem::path images;
  std::filesystem::path labels;       ///< empty: none, to predict
  std::size_t height = 0, width = 0;  ///< as declared: files with images of another size are refused
};
using Source = std::variant<FileSource, PostgresSource, SparkSource, IdxSource>;

struct Limits {
  int threads = 0;                     ///< 0: all of the machine's; DuckDB runs at least two
  std::int64_t memory = 0;             ///< bytes; 0: the engine's own rule
  std::filesystem::path scratch = {};  ///< for a nameless copy of a Parquet file whose texts are not UTF-8; empty: /var/tmp
  std::filesystem::path duckdb = {};   ///< libduckdb.so; empty: lib/sotto beside the running program's folder, or below /usr/local or /usr
  bool any_duckdb = false;             ///< loads it even if its SHA-256 is not one that sotto knows
  std::filesystem::path spark = {};    ///< the program sotto-spark; empty: beside the running program, or in /usr/local/bin or /usr/bin
};

/// NULL, a whole number or a text.
using Cell = std::variant<std::monostate, std::int64_t, std::string>;
struct Rows {
  std::size_t width = 0;
  std::vector<Cell> cells;  ///< row by row
  [[nodiscard]] std::size_t size() const { return width == 0 ? 0 : cells.size() / width; }
  [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const { return cells[row * width + column]; }
};

/// Some rows of a stream, column by column; gone after the call.
struct Batch {
  enum class Kind { number, whole, text };  ///< DOUBLE PRECISION, BIGINT, text
  struct Column {
    const double* numbers = nullptr;
    const std::int64_t* int64s = nullptr;
    const std::string_view* texts = nullptr;
    const std::uint64_t* validity = nullptr;  ///< a bit a row: it is not NULL; nothing: no row is. What stands for NULL in the others is anything
    [[nodiscard]] bool is_null(std::size_t row) const { return validity != nullptr && (validity[row / 64] >> (row % 64) & 1U) == 0; }
  };
  std::size_t rows = 0;
  std::vector<Column> columns;
};
using BatchCallback = std::function<void(const Batch&)>;

/// Told the share done, from 0 to 1, from time to time; false asks to stop.
using Progress = std::function<bool(double)>;

/// What a statement read, for the curator's eyes alone.
struct RowsRead {
  std::int64_t records = 0;                   ///< that could be read; 1 stands for any number where `counted` is false
  std::int64_t malformed = 0;                 ///< that could not, and were left out
  std::vector<std::int64_t> unreadable = {};  ///< of each declared column: values that are NULL since they are not of its type; empty: not counted
  bool counted = true;
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// What stands after FROM, without an alias: it has the declared columns, by name and type. A value that cannot be read as declared is NULL, as
  /// is a day outside the years 1 to 9999. The rows have no order.
  [[nodiscard]] virtual std::string table() const = 0;
  /// Every look at the table takes it apart anew, which costs more than what is done with it.
  [[nodiscard]] virtual bool scan_is_expensive() const { return false; }
  /// The bytes that a statement may use; one that needs more is OutOfMemory. 0: the engine looks after that itself.
  [[nodiscard]] virtual std::int64_t memory() const { return 0; }
  /// InvalidValue if the statement is one that the engine cannot plan. It touches no rows.
  virtual void require_plannable(const std::string& sql) { (void)sql; }
  /// Runs one SELECT. The first column types of each row are what the statement says: BIGINT and text alone. EngineError.
  virtual Rows query(const std::string& sql, const Progress& progress = {}) = 0;
  /// The same for many rows: they are given out as they come, in no order, and never held all at once. What the taker throws ends the statement.
  /// EngineError; StreamRestart, once at most.
  virtual void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds, const BatchCallback& take, const Progress& progress = {});
  /// What the last statement read. An engine that does not count that says whether its table has any row, or as much as nothing. EngineError.
  virtual RowsRead rows_read();
};

/// Opens the data. All queries of one engine see the same rows: a file that changes is an EngineError. EngineError if it cannot;
/// InvalidValue if a declared column is not there or is stored as a type that does not fit.
std::unique_ptr<Engine> open_engine(const Source& source, const std::vector<Column>& columns, const Limits& limits = {});

}  // namespace sotto
