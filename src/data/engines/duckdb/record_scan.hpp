// A file of records as a table of DuckDB: a table function that DuckDB calls from its threads.
#pragma once

#include "data/engines/duckdb/library.hpp"
#include "data/records/records.hpp"

namespace sotto::data_detail {

/// The arguments of the table function. They must outlive the connection.
struct Scan {
  const File& file;
  RecordFormat format;
  std::vector<Column> columns;
  Header header;
  /// Names of boolean columns, one for each column: true if its value cannot be read. May be empty.
  std::vector<std::string> unreadable_flags;
  Counters counters;
};

/// Returns DuckDB's type for the values of a declared type.
duckdb::TypeId type_id(Type type);
/// Registers a table function with its arguments, which must outlive the connection. Throws
/// EngineError if DuckDB refuses it.
void register_table_function(duckdb::Connection connection, const char* name, void* arguments,
                             duckdb_table_function_bind_t bind, duckdb_table_function_init_t begin,
                             duckdb_table_function_t read);

/// Throws EngineError if DuckDB refuses the table function.
void register_scan(duckdb::Connection connection, const char* name, Scan& scan);

}  // namespace sotto::data_detail
