// DuckDB as an engine: files of records, Parquet files and Arrow tables as one table of DuckDB.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/api/memory.hpp"
#include "data/engines/duckdb/arrow_scan.hpp"
#include "data/engines/duckdb/library.hpp"
#include "data/engines/duckdb/parquet.hpp"
#include "data/engines/duckdb/record_scan.hpp"
#include "data/engines/engines.hpp"
#include "data/expressions/quoting.hpp"
#include "data/sql/dialect.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::ArrowScan;
using data_detail::File;
using data_detail::Format;
using data_detail::PlainCopy;
using data_detail::Scan;
using data_detail::StoredColumn;
using duckdb::Library;

constexpr const char* table_name = "sotto_table";
constexpr const char* failure = "DuckDB failed on a statement that sotto wrote";
constexpr const char* canceled = "stopped";

/// A handle of DuckDB's C interface, which its destructor frees.
template <typename Handle>
struct UniqueHandle {
  Handle handle{};
  void (*drop)(Handle*);
  explicit UniqueHandle(void (*function)(Handle*)) : drop(function) {}
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() {
    if constexpr (std::is_pointer_v<Handle>) {
      if (handle == nullptr) return;
    }
    drop(&handle);
  }
};

[[noreturn]] void fail(const char* detail) {
  const std::string words = detail == nullptr ? "" : detail;
  if (words.find("Out of Memory Error") != std::string::npos) {
    throw OutOfMemory("DuckDB needs more memory than it may use: allow more", words,
                      Remedy::memory);
  }
  throw EngineError(failure, words);
}

/// Whether DuckDB failed on one value of a Parquet file: a text that is not UTF-8, or milliseconds
/// that no timestamp can hold.
bool is_value_error(const std::string& error) {
  return error.find("Invalid string encoding found in Parquet file") != std::string::npos ||
         error.find("Could not convert Timestamp(MS)") != std::string::npos;
}

class DuckdbEngine final : public Engine {
 public:
  DuckdbEngine(const FileSource& source, const std::vector<Column>& columns, const Limits& limits,
               const std::vector<std::string>& unreadable_flags)
      : library_(duckdb::load(limits)),
        file_(std::make_unique<File>(source.path)),
        database_(library_.close),
        connection_(library_.disconnect) {
    if (data_detail::format_of(source) == Format::parquet) {
      if (!source.records.empty() || !source.delimiter.empty() || !source.names.empty())
        throw InvalidValue(
            "`records`, `delimiter` and `names` are for separated values: leave them out for "
            "Parquet");
      copy_ = std::make_unique<PlainCopy>(limits.scratch);
    } else {
      auto format = data_detail::record_format_of(*file_, source);
      auto header = data_detail::read_header(*file_, format, columns);
      scan_ = std::make_unique<Scan>(*file_, std::move(format), columns, std::move(header),
                                     unreadable_flags);
      scan_->counters.unreadable = std::vector<std::atomic<std::uint64_t>>(columns.size());
    }
    open(limits);
    if (scan_) {
      data_detail::register_scan(connection_.handle, "sotto_scan", *scan_);
      run("CREATE VIEW " + std::string(table_name) + " AS SELECT * FROM sotto_scan()");
    } else {
      create_view_ = [this, columns,
                      format = data_detail::TextFormat{source.null_text, source.trim},
                      unreadable_flags](const std::string& path) {
        const bool is_plain = path == copy_->path();
        const auto file = "read_parquet(" + data_detail::sql_text(path) + ")";
        run("CREATE OR REPLACE VIEW " + std::string(table_name) + " AS SELECT " +
            data_detail::selected_columns(columns, stored_columns_of(path), format,
                                          unreadable_flags, is_plain) +
            " FROM " + file);
      };
      if (!columns.empty()) create_view_(file_->path_again());
    }
    run("SET lock_configuration = true");
  }

  DuckdbEngine(const ArrowTable& table, const std::vector<Column>& columns, const Limits& limits,
               bool trim)
      : library_(duckdb::load(limits)),
        arrow_(std::make_unique<ArrowScan>(
            ArrowScan{table, columns, data_detail::arrow_columns(table, columns)})),
        database_(library_.close),
        connection_(library_.disconnect) {
    open(limits);
    data_detail::register_arrow_scan(connection_.handle, "sotto_scan", *arrow_);
    std::string list;
    for (const Column& column : columns) {
      const std::string name = data_detail::sql_name(column.name);
      const bool trims = trim && column.type == Type::text;
      list +=
          (list.empty() ? "" : ", ") +
          (trims ? data_detail::sql_dialect(Dialect::duckdb).trimmed(name) + " AS " + name : name);
    }
    run("CREATE VIEW " + std::string(table_name) + " AS SELECT " + list + " FROM sotto_scan()");
    run("SET lock_configuration = true");
  }

  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return table_name; }
  [[nodiscard]] bool scan_is_expensive() const override { return scan_ != nullptr; }
  [[nodiscard]] std::int64_t memory() const override { return memory_; }
  [[nodiscard]] std::int64_t malformed() const {
    return scan_ ? static_cast<std::int64_t>(scan_->counters.malformed) : 0;
  }
  RowsRead rows_read() override {
    if (arrow_) return {.records = arrow_->table.rows()};
    if (!scan_) return data_detail::any_row(*this);
    const data_detail::Counters& counters = scan_->counters;
    const std::uint64_t passes = std::max<std::uint64_t>(1, counters.passes);
    // every pass over the file counts each record once
    const auto once = [&](std::uint64_t count) {
      return static_cast<std::int64_t>(count / passes);
    };
    RowsRead read{.records = once(counters.records), .malformed = once(counters.malformed)};
    for (const auto& count : counters.unreadable) read.unreadable.push_back(once(count));
    return read;
  }
  std::vector<StoredColumn> stored_columns() { return stored_columns_of(file_->path_again()); }

  Rows query(const std::string& sql, const Progress& progress) override {
    try {
      return run_query(sql, progress);
    } catch (const EngineError& error) {
      // DuckDB fails on one value: from now on it reads a copy with plain values
      if (!copy_ || is_copied_ || !is_value_error(error.detail())) throw;
    }
    read_plain_values();
    return run_query(sql, progress);
  }

  void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
              const BatchCallback& take, const Progress& progress) override {
    start_counting();
    bool has_taken_rows = false;
    try {
      run_stream(
          sql, kinds,
          [&](const Batch& batch) {
            has_taken_rows = true;
            take(batch);
          },
          progress);
    } catch (const EngineError& error) {
      if (!copy_ || is_copied_ || !is_value_error(error.detail())) throw;
      read_plain_values();
      if (has_taken_rows) throw StreamRestart("the rows must be read again", error.detail());
      run_stream(sql, kinds, take, progress);
    }
    require_unchanged();
  }

 private:
  void require_unchanged() const {
    if (file_) file_->require_unchanged();
  }

  void read_plain_values() {
    copy_->fill(*file_);
    create_view_(copy_->path());
    is_copied_ = true;
  }

  void start_counting() {
    if (!scan_) return;
    scan_->counters.bytes = 0;
    scan_->counters.malformed = 0;
    scan_->counters.records = 0;
    scan_->counters.passes = 0;
    for (auto& count : scan_->counters.unreadable) count = 0;
  }

  Rows run_query(const std::string& sql, const Progress& progress) {
    start_counting();
    Rows rows = run(sql, true, progress);
    require_unchanged();
    return rows;
  }

  std::vector<StoredColumn> stored_columns_of(const std::string& path) {
    std::vector<StoredColumn> stored;
    const auto described =
        run("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet(" +
            data_detail::sql_text(path) + "))");
    for (std::size_t i = 0; i < described.size(); ++i) {
      stored.push_back(
          {std::get<std::string>(described.at(i, 0)), std::get<std::string>(described.at(i, 1))});
    }
    return stored;
  }

  void open(const Limits& limits) {
    UniqueHandle<duckdb::Config> config(library_.destroy_config);
    library_.create_config(&config.handle);
    const auto set = [&](const char* name, const std::string& value) {
      if (library_.set_config(config.handle, name, value.c_str()) == duckdb::success) return;
      throw EngineError("this DuckDB refuses the setting " + std::string(name) + " = " + value +
                            ": install the version that sotto is made for",
                        name);
    };
    // With one thread, DuckDB partitions the groups of a GROUP BY too coarsely for a small memory.
    const int threads =
        limits.threads > 0 ? limits.threads : static_cast<int>(std::thread::hardware_concurrency());
    set("threads", std::to_string(std::max(2, threads)));
    // a part of the limit is for the process itself, and for memory that DuckDB does not count
    memory_ = limits.memory > 0
                  ? limits.memory - std::min(limits.memory / 3, std::int64_t{150'000'000})
                  : machine_memory() / 5 * 4;
    set("memory_limit", std::to_string(memory_) + "B");
    set("temp_directory", "");  // no rows on the disk: statements that do not fit run in parts
    set("autoinstall_known_extensions", "false");
    set("autoload_known_extensions", "false");
    set("allow_community_extensions", "false");
    set("allow_persistent_secrets", "false");
    set("preserve_insertion_order", "false");
    char* error = nullptr;
    if (library_.open_ext(":memory:", &database_.handle, config.handle, &error) !=
        duckdb::success) {
      const std::string detail = error == nullptr ? "" : error;
      library_.free(error);
      throw EngineError("DuckDB failed to open its database in memory", detail);
    }
    if (library_.connect(database_.handle, &connection_.handle) != duckdb::success) {
      throw EngineError("DuckDB failed to connect to its database in memory", "");
    }
    run("SET enable_progress_bar = true");
    run("SET enable_progress_bar_print = false");
    if (copy_)
      run("SET allowed_paths = [" + data_detail::sql_text(file_->path_again()) + ", " +
          data_detail::sql_text(copy_->path()) + "]");
    run("SET enable_external_access = false");
  }

  /// Returns the fraction of the statement that is done.
  [[nodiscard]] double share() const {
    if (scan_)
      return file_->size() == 0 ? 0
                                : std::min(1.0, static_cast<double>(scan_->counters.bytes) /
                                                    static_cast<double>(file_->size()));
    return std::clamp(library_.query_progress(connection_.handle).percentage / 100, 0.0, 1.0);
  }

  /// Runs a statement and returns its rows. `only_select`: it comes from outside of this class, and
  /// must be a SELECT of integers and texts.
  Rows run(const std::string& sql, bool only_select = false, const Progress& progress = {}) {
    UniqueHandle<duckdb::Statement> statement(library_.destroy_prepare);
    if (library_.prepare(connection_.handle, sql.c_str(), &statement.handle) != duckdb::success) {
      fail(library_.prepare_error(statement.handle));
    }
    if (only_select &&
        library_.prepared_statement_type(statement.handle) != duckdb::select_statement) {
      throw std::logic_error("an engine runs SELECT statements only");
    }
    UniqueHandle<duckdb::Pending> pending(library_.destroy_pending);
    if (library_.pending_prepared(statement.handle, &pending.handle) != duckdb::success) {
      fail(library_.pending_error(pending.handle));
    }
    finish(pending.handle, progress);
    UniqueHandle<duckdb::Result> result(library_.destroy_result);
    if (library_.execute_pending(pending.handle, &result.handle) != duckdb::success) {
      fail(library_.result_error(&result.handle));
    }
    if (progress) progress(1);
    return rows_of(result.handle, only_select);
  }

  void run_stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
                  const BatchCallback& take, const Progress& progress) {
    UniqueHandle<duckdb::Statement> statement(library_.destroy_prepare);
    if (library_.prepare(connection_.handle, sql.c_str(), &statement.handle) != duckdb::success) {
      fail(library_.prepare_error(statement.handle));
    }
    if (library_.prepared_statement_type(statement.handle) != duckdb::select_statement)
      throw std::logic_error("an engine runs SELECT statements only");
    UniqueHandle<duckdb::Pending> pending(library_.destroy_pending);
    if (library_.pending_prepared_streaming(statement.handle, &pending.handle) != duckdb::success) {
      fail(library_.pending_error(pending.handle));
    }
    finish(pending.handle, progress);
    UniqueHandle<duckdb::Result> result(library_.destroy_result);
    if (library_.execute_pending(pending.handle, &result.handle) != duckdb::success) {
      fail(library_.result_error(&result.handle));
    }
    require_kinds(result.handle, kinds);
    take_chunks(result.handle, kinds, take, progress);
    if (const char* error = library_.result_error(&result.handle);
        error != nullptr && *error != '\0')
      fail(error);
    if (progress) progress(1);
  }

  void require_kinds(duckdb::Result& result, const std::vector<Batch::Kind>& kinds) {
    bool has_kinds = library_.column_count(&result) == kinds.size();
    for (std::size_t i = 0; has_kinds && i < kinds.size(); ++i) {
      const auto type = kinds[i] == Batch::Kind::number  ? duckdb::real64
                        : kinds[i] == Batch::Kind::whole ? duckdb::bigint
                                                         : duckdb::varchar;
      has_kinds = library_.column_type(&result, i) == type;
    }
    if (!has_kinds)
      throw std::logic_error("the columns of a stream do not have the requested types");
  }

  void take_chunks(duckdb::Result& result, const std::vector<Batch::Kind>& kinds,
                   const BatchCallback& take, const Progress& progress) {
    auto reported = std::chrono::steady_clock::now();
    Batch batch;
    std::vector<std::vector<std::string_view>> texts(kinds.size());
    for (;;) {
      UniqueHandle<duckdb::Chunk> chunk(library_.destroy_data_chunk);
      chunk.handle = library_.fetch_chunk(result);
      if (chunk.handle == nullptr) return;
      fill(batch, texts, chunk.handle, kinds);
      if (batch.rows > 0) take(batch);
      const auto now = std::chrono::steady_clock::now();
      if (!progress || now - reported < std::chrono::milliseconds(50)) continue;
      reported = now;
      if (!progress(share())) throw EngineError(canceled, "");
    }
  }

  void fill(Batch& batch, std::vector<std::vector<std::string_view>>& texts, duckdb::Chunk chunk,
            const std::vector<Batch::Kind>& kinds) const {
    batch.rows = library_.data_chunk_get_size(chunk);
    batch.columns.assign(kinds.size(), {});
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      const auto vector = library_.data_chunk_get_vector(chunk, c);
      auto& column = batch.columns[c];
      column.validity = library_.vector_get_validity(vector);
      const void* data = library_.vector_get_data(vector);
      if (kinds[c] == Batch::Kind::number) column.numbers = static_cast<const double*>(data);
      if (kinds[c] == Batch::Kind::whole) column.int64s = static_cast<const std::int64_t*>(data);
      if (kinds[c] != Batch::Kind::text) continue;
      texts[c].assign(batch.rows, {});
      for (std::size_t i = 0; i < batch.rows; ++i) {
        if (!column.is_null(i)) texts[c][i] = text_of(static_cast<const duckdb::String*>(data)[i]);
      }
      column.texts = texts[c].data();
    }
  }

  /// Executes on this thread, so that progress is reported on it, together with DuckDB's own
  /// threads.
  void finish(duckdb::Pending pending, const Progress& progress) {
    auto reported = std::chrono::steady_clock::now();
    if (progress && !progress(0)) throw EngineError(canceled, "");
    for (;;) {
      const auto state = library_.pending_execute_task(pending);
      if (state == duckdb::ready) return;
      if (state == duckdb::failed) fail(library_.pending_error(pending));
      if (state == duckdb::no_tasks) std::this_thread::sleep_for(std::chrono::microseconds(200));
      const auto now = std::chrono::steady_clock::now();
      if (!progress || now - reported < std::chrono::milliseconds(50)) continue;
      reported = now;
      if (!progress(share())) throw EngineError(canceled, "");
    }
  }

  Rows rows_of(duckdb::Result& result, bool only_cells) {
    Rows rows;
    rows.width = library_.column_count(&result);
    std::vector<duckdb::TypeId> types;
    for (std::size_t i = 0; i < rows.width; ++i) types.push_back(library_.column_type(&result, i));
    for (const auto type : types) {
      if (only_cells && type != duckdb::bigint && type != duckdb::varchar)
        throw std::logic_error("a column of an answer is neither BIGINT nor VARCHAR");
    }
    for (;;) {
      UniqueHandle<duckdb::Chunk> chunk(library_.destroy_data_chunk);
      chunk.handle = library_.fetch_chunk(result);
      if (chunk.handle == nullptr) return rows;
      add_chunk(chunk.handle, types, rows);
    }
  }

  void add_chunk(duckdb::Chunk chunk, const std::vector<duckdb::TypeId>& types, Rows& rows) {
    const auto count = library_.data_chunk_get_size(chunk);
    const auto start = rows.cells.size();
    rows.cells.resize(start + count * types.size());
    for (std::size_t column = 0; column < types.size(); ++column) {
      const auto vector = library_.data_chunk_get_vector(chunk, column);
      const auto* validity = library_.vector_get_validity(vector);
      const auto* data = library_.vector_get_data(vector);
      for (std::size_t i = 0; i < count; ++i) {
        if (validity != nullptr && (validity[i / 64] >> (i % 64) & 1U) == 0) continue;
        auto& cell = rows.cells[start + i * types.size() + column];
        if (types[column] == duckdb::bigint) cell = static_cast<const std::int64_t*>(data)[i];
        if (types[column] == duckdb::varchar)
          cell = std::string(text_of(static_cast<const duckdb::String*>(data)[i]));
      }
    }
  }

  static std::string_view text_of(const duckdb::String& text) {
    return {text.value.inlined.length <= 12 ? text.value.inlined.inlined : text.value.pointer.ptr,
            text.value.inlined.length};
  }

  const Library& library_;
  // Of these four: file_ and scan_ for a file of records, file_ and copy_ for a Parquet file,
  // arrow_ for a table in memory.
  std::unique_ptr<File> file_;
  std::unique_ptr<Scan> scan_;
  std::unique_ptr<PlainCopy> copy_;  // empty until DuckDB fails on a value
  std::unique_ptr<ArrowScan> arrow_;
  bool is_copied_ = false;
  std::function<void(const std::string& path)> create_view_;  // of a Parquet file
  std::int64_t memory_ = 0;
  UniqueHandle<duckdb::Database> database_;
  UniqueHandle<duckdb::Connection> connection_;
};

}  // namespace

std::unique_ptr<Engine> data_detail::open_duckdb(const FileSource& source,
                                                 const std::vector<Column>& columns,
                                                 const Limits& limits,
                                                 const std::vector<std::string>& unreadable_flags) {
  return std::make_unique<DuckdbEngine>(source, columns, limits, unreadable_flags);
}

std::unique_ptr<Engine> data_detail::open_arrow(const ArrowTable& table,
                                                const std::vector<Column>& columns,
                                                const Limits& limits, bool trim) {
  return std::make_unique<DuckdbEngine>(table, columns, limits, trim);
}

std::int64_t data_detail::malformed_records(const Engine& engine) {
  const auto* duckdb = dynamic_cast<const DuckdbEngine*>(&engine);
  return duckdb == nullptr ? 0 : duckdb->malformed();
}

std::vector<Column> data_detail::columns_of_parquet(const FileSource& source, const Limits& limits,
                                                    std::vector<std::string>& left_out) {
  std::vector<Column> columns;
  for (const auto& [name, stored] : DuckdbEngine(source, {}, limits, {}).stored_columns()) {
    if (const auto type = data_detail::best_type(stored)) {
      columns.push_back({name, *type});
    } else {
      left_out.push_back(name);
    }
  }
  return columns;
}

}  // namespace sotto
