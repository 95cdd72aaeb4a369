// Records as a table of DuckDB: a table function that DuckDB calls from its threads.
#pragma once

#include "data/engines/duckdb/library.hpp"
#include "data/records/records.hpp"

namespace sotto::data_detail {

/// What the table function is told. It must outlive the connection.
struct Scan {
  const File& file;
  Manner manner;
  std::vector<Column> columns;
  Header header;
  std::vector<std::string> marks;  ///< names of booleans, one a column, that say which values cannot be read; none: they are not told
  Counters counters;
};

/// What DuckDB calls the type in which the engine holds values of a declared one.
duckdb::TypeId type_id(Type type);
/// A table function with what it is told, which outlives the connection. EngineError if DuckDB does not take it.
void register_table_function(duckdb::Connection connection, const char* name, void* told, duckdb_table_function_bind_t bind,
                             duckdb_table_function_init_t begin, duckdb_table_function_t read);

/// EngineError if DuckDB does not take it.
void register_scan(duckdb::Connection connection, const char* name, Scan& scan);

}  // namespace sotto::data_detail
