// DuckDB's C interface, as its own header declares it, loaded from a library that is known by its SHA-256 when the first engine is opened.
#pragma once

#include <duckdb.h>

#include <filesystem>

#include "sotto/data/engine.hpp"

namespace sotto::duckdb {

using Database = ::duckdb_database;
using Connection = ::duckdb_connection;
using Config = ::duckdb_config;
using Statement = ::duckdb_prepared_statement;
using Pending = ::duckdb_pending_result;
using Result = ::duckdb_result;
using Chunk = ::duckdb_data_chunk;
using Vector = ::duckdb_vector;
using String = ::duckdb_string_t;
using LogicalType = ::duckdb_logical_type;
using TableFunction = ::duckdb_table_function;
using BindInfo = ::duckdb_bind_info;
using InitInfo = ::duckdb_init_info;
using FunctionInfo = ::duckdb_function_info;
using TypeId = ::duckdb_type;
using Index = ::idx_t;

inline constexpr auto success = DuckDBSuccess;
inline constexpr auto ready = DUCKDB_PENDING_RESULT_READY;
inline constexpr auto failed = DUCKDB_PENDING_ERROR;
inline constexpr auto no_tasks = DUCKDB_PENDING_NO_TASKS_AVAILABLE;
inline constexpr auto select_statement = DUCKDB_STATEMENT_TYPE_SELECT;
inline constexpr auto boolean = DUCKDB_TYPE_BOOLEAN;
inline constexpr auto bigint = DUCKDB_TYPE_BIGINT;
inline constexpr auto real64 = DUCKDB_TYPE_DOUBLE;
inline constexpr auto timestamp = DUCKDB_TYPE_TIMESTAMP;
inline constexpr auto date = DUCKDB_TYPE_DATE;
inline constexpr auto varchar = DUCKDB_TYPE_VARCHAR;

// The functions that sotto calls, without duckdb_.
// clang-format off
#define SOTTO_DUCKDB_FUNCTIONS(X) \
  X(library_version) X(free) X(create_config) X(set_config) X(destroy_config) X(open_ext) X(close) X(connect) X(disconnect) \
  X(query_progress) X(prepare) X(prepare_error) X(prepared_statement_type) X(destroy_prepare) X(pending_prepared) \
  X(pending_prepared_streaming) X(pending_error) X(pending_execute_task) X(execute_pending) X(destroy_pending) X(result_error) X(column_count) X(column_type) X(fetch_chunk) \
  X(destroy_result) X(vector_size) X(data_chunk_get_size) X(data_chunk_set_size) X(data_chunk_get_vector) X(destroy_data_chunk) \
  X(vector_get_data) X(vector_get_validity) X(vector_ensure_validity_writable) X(vector_assign_string_element_len) X(create_logical_type) \
  X(destroy_logical_type) X(create_table_function) X(table_function_set_name) X(table_function_set_extra_info) X(table_function_set_bind) \
  X(table_function_set_init) X(table_function_set_function) X(register_table_function) X(destroy_table_function) X(bind_get_extra_info) \
  X(bind_add_result_column) X(init_get_extra_info) X(init_set_init_data) X(init_set_max_threads) X(init_set_error) \
  X(function_get_init_data) X(function_set_error)
// clang-format on

struct Library {
#define SOTTO_DECLARE(name) decltype(&::duckdb_##name) name = nullptr;
  SOTTO_DUCKDB_FUNCTIONS(SOTTO_DECLARE)
#undef SOTTO_DECLARE
};

/// The library at `limits.duckdb`; if that is empty, at lib/sotto beside the folder of the running program, as ./dev lays it, or below
/// /usr/local or /usr. It is hashed before any of its code runs; one whose SHA-256 is not in cmake/duckdb.sha256 is loaded only if
/// `limits.any_duckdb` says so. A process loads one: later paths are not looked at. EngineError if it is not there or is another version.
const Library& load(const Limits& limits);
/// What load() has loaded, for what DuckDB calls.
const Library& loaded();

}  // namespace sotto::duckdb
