// A table in memory as a table of DuckDB: a table function that DuckDB calls from its threads.
#pragma once

#include "data/arrow/abi.hpp"
#include "data/engines/duckdb/library.hpp"

namespace sotto::data_detail {

/// What the table function is told. It must outlive the connection.
struct ArrowScan {
  ArrowTable table;
  std::vector<Column> declared;
  std::vector<ArrowColumn> columns;
};

/// EngineError if DuckDB does not take it.
void register_arrow_scan(duckdb::Connection connection, const char* name, ArrowScan& scan);

}  // namespace sotto::data_detail
