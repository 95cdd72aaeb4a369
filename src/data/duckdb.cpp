#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "engines.hpp"
#include "libduckdb.hpp"
#include "records.hpp"
#include "sotto/core/errors.hpp"
#include "sql.hpp"

namespace sotto {
namespace {

using duckdb::Library;

constexpr const char* table_name = "sotto_table";
constexpr const char* failure = "the engine failed on a statement that sotto wrote";

enum class Format { csv, tsv, json, json_array, parquet };

Format format_of(const FileSource& source) {
  std::string format = source.format.empty() ? source.path.extension().string() : "." + source.format;
  if (format == ".csv") return source.path.extension() == ".tsv" ? Format::tsv : Format::csv;
  if (format == ".tsv") return Format::tsv;
  if (format == ".json" || format == ".jsonl" || format == ".ndjson") return Format::json;
  if (format == ".json-array") return Format::json_array;
  if (format == ".parquet") return Format::parquet;
  throw InvalidValue("\"" + format.substr(std::min<std::size_t>(1, format.size())) +
                     "\" is no format of a file; there are: csv, tsv, json (an object a line), json-array, parquet");
}

Layout layout_of(Format format) {
  switch (format) {
    case Format::csv: return Layout::csv;
    case Format::tsv: return Layout::tsv;
    case Format::json: return Layout::json_lines;
    case Format::json_array: return Layout::json_array;
    case Format::parquet: break;
  }
  throw std::logic_error("a Parquet file has no records to cut");
}

duckdb::TypeId type_id(Type type) {
  switch (type) {
    case Type::boolean: return duckdb::boolean;
    case Type::integer: return duckdb::bigint;
    case Type::real: return duckdb::real64;
    case Type::text: return duckdb::varchar;
    case Type::date: return duckdb::date;
    case Type::timestamp: return duckdb::timestamp;
  }
  throw std::logic_error("no such type");
}

/// The types in a Parquet file whose values are of the declared one, if a cast does not fail.
std::string fitting(Type type) {
  switch (type) {
    case Type::boolean: return "BOOLEAN";
    case Type::integer: return "BIGINT, INTEGER, SMALLINT, TINYINT, UBIGINT, UINTEGER, USMALLINT, UTINYINT, HUGEINT";
    case Type::real: return "DOUBLE, FLOAT, DECIMAL, " + fitting(Type::integer);
    case Type::text: return "VARCHAR, UUID, ENUM";
    case Type::date: return "DATE";
    case Type::timestamp: return "TIMESTAMP, TIMESTAMP_S, TIMESTAMP_MS, TIMESTAMP_NS, TIMESTAMP WITH TIME ZONE";
  }
  throw std::logic_error("no such type");
}

bool fits(const std::string& stored, Type type) {
  return (", " + fitting(type) + ", ").find(", " + stored.substr(0, stored.find('(')) + ", ") != std::string::npos;
}

/// A folder of one's own below another, gone with this object.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& below) {
    std::string name = (below.empty() ? std::filesystem::path("/var/tmp") : below) / "sotto-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw EngineError("cannot make a scratch folder below " + std::filesystem::path(name).parent_path().string() + ": " + std::strerror(errno), "");
    }
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A handle of DuckDB's and what frees it.
template <typename Handle>
struct Owned {
  Handle handle{};
  void (*drop)(Handle*);
  explicit Owned(void (*function)(Handle*)) : drop(function) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if constexpr (std::is_pointer_v<Handle>) {
      if (handle == nullptr) return;
    }
    drop(&handle);
  }
};

/// What the table function that reads records is told.
struct Scan {
  const File& file;
  Layout layout;
  std::vector<Column> columns;
  Header header;
  std::atomic<std::uint64_t> done{0};
};
struct Pass {
  const Scan& scan;
  RecordReader reader;
  explicit Pass(Scan& of) : scan(of), reader(of.file, of.layout, of.columns, of.header, of.done) {}
};

template <typename Stored, typename Value>
void put(duckdb::Vector vector, const std::vector<Typed>& rows, std::size_t column, std::size_t width) {
  auto* stored = static_cast<Stored*>(duckdb::loaded().vector_get_data(vector));
  for (std::size_t i = 0, at = column; at < rows.size(); ++i, at += width) {
    if (const auto* value = std::get_if<Value>(&rows[at])) stored[i] = static_cast<Stored>(*value);
  }
}

void put_column(duckdb::Vector vector, const std::vector<Typed>& rows, std::size_t column, const std::vector<Column>& columns) {
  const auto& library = duckdb::loaded();
  const auto width = columns.size();
  library.vector_ensure_validity_writable(vector);
  std::uint64_t* validity = library.vector_get_validity(vector);
  for (std::size_t i = 0, at = column; at < rows.size(); ++i, at += width) {
    if (std::holds_alternative<std::monostate>(rows[at])) validity[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }
  switch (columns[column].type) {
    case Type::boolean: return put<bool, bool>(vector, rows, column, width);
    case Type::integer:
    case Type::timestamp: return put<std::int64_t, std::int64_t>(vector, rows, column, width);
    case Type::date: return put<std::int32_t, std::int64_t>(vector, rows, column, width);
    case Type::real: return put<double, double>(vector, rows, column, width);
    case Type::text: break;
  }
  for (std::size_t i = 0, at = column; at < rows.size(); ++i, at += width) {
    if (const auto* text = std::get_if<std::string>(&rows[at])) library.vector_assign_string_element_len(vector, i, text->data(), text->size());
  }
}

// What DuckDB calls. No exception may leave them.

void bind_scan(duckdb::BindInfo info) {
  const auto& library = duckdb::loaded();
  for (const auto& column : static_cast<Scan*>(library.bind_get_extra_info(info))->columns) {
    auto type = library.create_logical_type(type_id(column.type));
    library.bind_add_result_column(info, column.name.c_str(), type);
    library.destroy_logical_type(&type);
  }
}

void begin_scan(duckdb::InitInfo info) {
  const auto& library = duckdb::loaded();
  try {
    auto pass = std::make_unique<Pass>(*static_cast<Scan*>(library.init_get_extra_info(info)));
    library.init_set_init_data(info, pass.release(), [](void* data) { delete static_cast<Pass*>(data); });
    library.init_set_max_threads(info, std::max(1U, std::thread::hardware_concurrency()));
  } catch (const std::exception& error) {
    library.init_set_error(info, error.what());
  }
}

void continue_scan(duckdb::FunctionInfo info, duckdb::Chunk chunk) {
  const auto& library = duckdb::loaded();
  try {
    auto& pass = *static_cast<Pass*>(library.function_get_init_data(info));
    const auto& columns = pass.scan.columns;
    const auto rows = pass.reader.read(library.vector_size());
    for (std::size_t i = 0; i < columns.size(); ++i) put_column(library.data_chunk_get_vector(chunk, i), rows, i, columns);
    library.data_chunk_set_size(chunk, rows.size() / columns.size());
  } catch (const std::exception& error) {
    library.function_set_error(info, error.what());
  }
}

class DuckdbEngine final : public Engine {
 public:
  DuckdbEngine(const FileSource& source, const std::vector<Column>& columns, const Limits& limits)
      : library_(duckdb::load(limits)), file_(source.path), scratch_(limits.scratch), database_(library_.close), connection_(library_.disconnect) {
    const auto format = format_of(source);
    if (format != Format::parquet) {
      const auto layout = layout_of(format);
      scan_ = std::make_unique<Scan>(file_, layout, columns, read_header(file_, layout, columns));
    }
    open(limits);
    if (scan_) {
      register_scan();
      run("CREATE VIEW " + std::string(table_name) + " AS SELECT * FROM sotto_scan()");
    } else {
      view_of_parquet(columns);
    }
    run("SET lock_configuration = true");
  }

  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return table_name; }
  [[nodiscard]] bool is_dear_to_read() const override { return scan_ != nullptr; }

  Rows query(const std::string& sql, const Progress& progress) override {
    if (scan_) scan_->done = 0;
    Rows rows = run(sql, true, progress);
    file_.require_unchanged();
    return rows;
  }

 private:
  void open(const Limits& limits) {
    Owned<duckdb::Config> config(library_.destroy_config);
    library_.create_config(&config.handle);
    const auto set = [&](const char* name, const std::string& value) {
      if (library_.set_config(config.handle, name, value.c_str()) != duckdb::success) throw EngineError("DuckDB does not know a setting", name);
    };
    // With one thread DuckDB parts the groups of a GROUP BY too coarsely to keep them within a small memory.
    const int threads = limits.threads > 0 ? limits.threads : static_cast<int>(std::thread::hardware_concurrency());
    set("threads", std::to_string(std::max(2, threads)));
    if (limits.memory > 0) set("memory_limit", std::to_string(limits.memory) + "B");
    set("temp_directory", scratch_.path());
    set("autoinstall_known_extensions", "false");
    set("autoload_known_extensions", "false");
    set("allow_community_extensions", "false");
    set("allow_persistent_secrets", "false");
    set("preserve_insertion_order", "false");
    char* error = nullptr;
    if (library_.open_ext(":memory:", &database_.handle, config.handle, &error) != duckdb::success) {
      const std::string detail = error == nullptr ? "" : error;
      library_.free(error);
      throw EngineError("DuckDB does not start", detail);
    }
    if (library_.connect(database_.handle, &connection_.handle) != duckdb::success) throw EngineError("DuckDB does not start", "no connection");
    run("SET enable_progress_bar = true");
    run("SET enable_progress_bar_print = false");
    if (!scan_) run("SET allowed_paths = [" + sql_text(file_.path_again()) + "]");
    run("SET enable_external_access = false");
  }

  void register_scan() {
    Owned<duckdb::TableFunction> function(library_.destroy_table_function);
    function.handle = library_.create_table_function();
    library_.table_function_set_name(function.handle, "sotto_scan");
    library_.table_function_set_extra_info(function.handle, scan_.get(), nullptr);
    library_.table_function_set_bind(function.handle, bind_scan);
    library_.table_function_set_init(function.handle, begin_scan);
    library_.table_function_set_function(function.handle, continue_scan);
    if (library_.register_table_function(connection_.handle, function.handle) != duckdb::success)
      throw EngineError("DuckDB does not start", "no scan");
  }

  /// Columns of fitting types are cast, and a row in which a cast fails is left out.
  void view_of_parquet(const std::vector<Column>& columns) {
    const auto file = "read_parquet(" + sql_text(file_.path_again()) + ")";
    const auto found = run("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + file + ")");
    std::string selected;
    std::string readable;
    for (const auto& column : columns) {
      std::string stored;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (std::get<std::string>(found.at(i, 0)) == column.name) stored = std::get<std::string>(found.at(i, 1));
      }
      if (stored.empty()) throw InvalidValue("the file has no column \"" + column.name + "\"");
      if (!fits(stored, column.type)) {
        throw InvalidValue("the column \"" + column.name + "\" is declared " + name_of(column.type) + " and stored as " + stored +
                           "; what fits: " + fitting(column.type));
      }
      const auto name = sql_name(column.name);
      const std::string wanted = sql_type(column.type);
      const auto value = stored == wanted ? name : "TRY_CAST(" + name + " AS " + wanted + ")";
      const bool days = column.type == Type::date || column.type == Type::timestamp;
      selected += (selected.empty() ? "" : ", ") + value + " AS " + name;
      if (stored == wanted && !days) continue;
      const auto known = value + (days ? " >= '0001-01-01' AND " + value + " < '10000-01-01'" : " IS NOT NULL");
      readable += (readable.empty() ? " WHERE " : " AND ") + ("(" + name + " IS NULL OR coalesce(" + known + ", false))");
    }
    run("CREATE VIEW " + std::string(table_name) + " AS SELECT " + selected + " FROM " + file + readable);
  }

  static const char* sql_type(Type type) {
    switch (type) {
      case Type::boolean: return "BOOLEAN";
      case Type::integer: return "BIGINT";
      case Type::real: return "DOUBLE";
      case Type::text: return "VARCHAR";
      case Type::date: return "DATE";
      case Type::timestamp: return "TIMESTAMP";
    }
    throw std::logic_error("no such type");
  }

  [[nodiscard]] double share() const {
    if (scan_) return file_.size() == 0 ? 0 : std::min(1.0, static_cast<double>(scan_->done) / static_cast<double>(file_.size()));
    return std::clamp(library_.query_progress(connection_.handle).percentage / 100, 0.0, 1.0);
  }

  Rows run(const std::string& sql, bool only_select = false, const Progress& progress = {}) {
    Owned<duckdb::Statement> statement(library_.destroy_prepare);
    if (library_.prepare(connection_.handle, sql.c_str(), &statement.handle) != duckdb::success) {
      throw EngineError(failure, library_.prepare_error(statement.handle));
    }
    if (only_select && library_.prepared_statement_type(statement.handle) != duckdb::select_statement) {
      throw std::logic_error("an engine runs nothing but SELECT");
    }
    Owned<duckdb::Pending> pending(library_.destroy_pending);
    if (library_.pending_prepared(statement.handle, &pending.handle) != duckdb::success) {
      throw EngineError(failure, library_.pending_error(pending.handle));
    }
    finish(pending.handle, progress);
    Owned<duckdb::Result> result(library_.destroy_result);
    if (library_.execute_pending(pending.handle, &result.handle) != duckdb::success) {
      const char* error = library_.result_error(&result.handle);
      throw EngineError(failure, error == nullptr ? "" : error);
    }
    if (progress) progress(1);
    return rows_of(result.handle, only_select);
  }

  /// On this thread, so that progress is told on it; DuckDB's own threads help.
  void finish(duckdb::Pending pending, const Progress& progress) {
    auto told = std::chrono::steady_clock::now();
    if (progress && !progress(0)) throw EngineError("stopped", "");
    for (;;) {
      const auto state = library_.pending_execute_task(pending);
      if (state == duckdb::ready) return;
      if (state == duckdb::failed) throw EngineError(failure, library_.pending_error(pending));
      if (state == duckdb::no_tasks) std::this_thread::sleep_for(std::chrono::microseconds(200));
      const auto now = std::chrono::steady_clock::now();
      if (!progress || now - told < std::chrono::milliseconds(50)) continue;
      told = now;
      if (!progress(share())) throw EngineError("stopped", "");
    }
  }

  Rows rows_of(duckdb::Result& result, bool only_cells) {
    Rows rows;
    rows.width = library_.column_count(&result);
    std::vector<duckdb::TypeId> types;
    for (std::size_t i = 0; i < rows.width; ++i) types.push_back(library_.column_type(&result, i));
    for (const auto type : types) {
      if (only_cells && type != duckdb::bigint && type != duckdb::varchar) throw std::logic_error("an engine's answers are whole numbers and texts");
    }
    for (;;) {
      Owned<duckdb::Chunk> chunk(library_.destroy_data_chunk);
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
        if (types[column] == duckdb::varchar) cell = text_of(static_cast<const duckdb::String*>(data)[i]);
      }
    }
  }

  static std::string text_of(const duckdb::String& text) {
    return {text.value.inlined.length <= 12 ? text.value.inlined.inlined : text.value.pointer.ptr, text.value.inlined.length};
  }

  const Library& library_;
  File file_;
  Scratch scratch_;
  std::unique_ptr<Scan> scan_;
  Owned<duckdb::Database> database_;
  Owned<duckdb::Connection> connection_;
};

}  // namespace

std::unique_ptr<Engine> open_duckdb(const FileSource& source, const std::vector<Column>& columns, const Limits& limits) {
  return std::make_unique<DuckdbEngine>(source, columns, limits);
}

}  // namespace sotto
