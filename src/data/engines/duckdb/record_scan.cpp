// A file of records as a table function of DuckDB.
#include "data/engines/duckdb/record_scan.hpp"

#include <algorithm>
#include <memory>
#include <thread>

namespace sotto::data_detail {
namespace {

/// Owns a table function of DuckDB's C interface.
struct Function {
  duckdb::TableFunction handle = duckdb::loaded().create_table_function();
  Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;
  ~Function() { duckdb::loaded().destroy_table_function(&handle); }
};

/// One statement's pass over the file, which DuckDB's threads share.
struct Pass {
  const Scan& scan;
  RecordReader reader;
  explicit Pass(Scan& of)
      : scan(of), reader(of.file, of.format, of.columns, of.header, of.counters) {}
};

template <typename Stored, typename Value>
void put(duckdb::Vector vector, const std::vector<Scalar>& rows, std::size_t column,
         std::size_t width) {
  auto* stored = static_cast<Stored*>(duckdb::loaded().vector_get_data(vector));
  for (std::size_t i = 0, at = column; at < rows.size(); ++i, at += width) {
    if (const auto* value = std::get_if<Value>(&rows[at])) stored[i] = static_cast<Stored>(*value);
  }
}

void put_column(duckdb::Vector vector, const std::vector<Scalar>& rows, std::size_t column,
                std::size_t width, Type type) {
  const auto& library = duckdb::loaded();
  library.vector_ensure_validity_writable(vector);
  std::uint64_t* validity = library.vector_get_validity(vector);
  for (std::size_t i = 0, at = column; at < rows.size(); ++i, at += width) {
    if (std::holds_alternative<std::monostate>(rows[at]))
      validity[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }
  switch (type) {
    case Type::boolean: return put<bool, bool>(vector, rows, column, width);
    case Type::integer:
    case Type::timestamp: return put<std::int64_t, std::int64_t>(vector, rows, column, width);
    case Type::date: return put<std::int32_t, std::int64_t>(vector, rows, column, width);
    case Type::real: return put<double, double>(vector, rows, column, width);
    case Type::text: break;
  }
  for (std::size_t i = 0, at = column; at < rows.size(); ++i, at += width) {
    if (const auto* text = std::get_if<std::string>(&rows[at]))
      library.vector_assign_string_element_len(vector, i, text->data(), text->size());
  }
}

// The callbacks of DuckDB. No exception may leave them.

void bind_scan(duckdb::BindInfo info) {
  const auto& library = duckdb::loaded();
  const auto add = [&](const std::string& name, Type of) {
    auto type = library.create_logical_type(type_id(of));
    library.bind_add_result_column(info, name.c_str(), type);
    library.destroy_logical_type(&type);
  };
  const auto& scan = *static_cast<Scan*>(library.bind_get_extra_info(info));
  for (const auto& column : scan.columns) add(column.name, column.type);
  for (const auto& flag : scan.unreadable_flags) add(flag, Type::boolean);
}

void begin_scan(duckdb::InitInfo info) {
  const auto& library = duckdb::loaded();
  try {
    auto pass = std::make_unique<Pass>(*static_cast<Scan*>(library.init_get_extra_info(info)));
    library.init_set_init_data(info, pass.release(),
                               [](void* data) { delete static_cast<Pass*>(data); });
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
    const auto width = columns.size() + pass.scan.unreadable_flags.size();
    const auto rows = pass.reader.read(library.vector_size(), !pass.scan.unreadable_flags.empty());
    for (std::size_t i = 0; i < width; ++i) {
      put_column(library.data_chunk_get_vector(chunk, i), rows, i, width,
                 i < columns.size() ? columns[i].type : Type::boolean);
    }
    library.data_chunk_set_size(chunk, rows.size() / width);
  } catch (const std::exception& error) {
    library.function_set_error(info, error.what());
  }
}

}  // namespace

duckdb::TypeId type_id(Type type) {
  switch (type) {
    case Type::boolean: return duckdb::boolean;
    case Type::integer: return duckdb::bigint;
    case Type::real: return duckdb::real64;
    case Type::text: return duckdb::varchar;
    case Type::date: return duckdb::date;
    case Type::timestamp: return duckdb::timestamp;
  }
  throw std::logic_error("unknown type of column");
}

void register_table_function(duckdb::Connection connection, const char* name, void* arguments,
                             duckdb_table_function_bind_t bind, duckdb_table_function_init_t begin,
                             duckdb_table_function_t read) {
  const auto& library = duckdb::loaded();
  Function function;
  library.table_function_set_name(function.handle, name);
  library.table_function_set_extra_info(function.handle, arguments, nullptr);
  library.table_function_set_bind(function.handle, bind);
  library.table_function_set_init(function.handle, begin);
  library.table_function_set_function(function.handle, read);
  if (library.register_table_function(connection, function.handle) != duckdb::success)
    throw EngineError("DuckDB refuses the table function that reads the data", name);
}

void register_scan(duckdb::Connection connection, const char* name, Scan& scan) {
  register_table_function(connection, name, &scan, bind_scan, begin_scan, continue_scan);
}

}  // namespace sotto::data_detail
