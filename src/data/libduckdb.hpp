// DuckDB's C interface, as much of it as sotto uses, loaded when the first engine is opened. Nothing of DuckDB is needed to build sotto.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sotto::duckdb {

inline constexpr const char* version = "v1.4.4";

// Handles are pointers to what only DuckDB knows.
using Database = struct DatabaseHandle*;
using Connection = struct ConnectionHandle*;
using Config = struct ConfigHandle*;
using Statement = struct StatementHandle*;
using Pending = struct PendingHandle*;
using Chunk = struct ChunkHandle*;
using Vector = struct VectorHandle*;
using LogicalType = struct LogicalTypeHandle*;
using TableFunction = struct TableFunctionHandle*;
using BindInfo = struct BindInfoHandle*;
using InitInfo = struct InitInfoHandle*;
using FunctionInfo = struct FunctionInfoHandle*;
using Index = std::uint64_t;
using Drop = void (*)(void*);

enum State : int { success = 0 };
enum PendingState : int { ready = 0, not_ready = 1, failed = 2, no_tasks = 3 };
enum StatementType : int { select_statement = 1 };
enum TypeId : int { boolean = 1, bigint = 5, real64 = 11, timestamp = 12, date = 13, varchar = 17 };

struct Result {
  Index unused[3];
  void* also_unused[2];
  void* internal;
};
struct QueryProgress {
  double percentage;
  Index rows_processed;
  Index rows_in_all;
};
/// A text of at most 12 bytes lies in place, a longer one at `pointer`.
struct String {
  std::uint32_t length;
  char first[4];
  union {
    char rest[8];
    const char* pointer;
  };
};
static_assert(sizeof(Result) == 48 && sizeof(String) == 16 && sizeof(QueryProgress) == 24);

struct Library {
  const char* (*library_version)();
  void (*free)(void*);
  State (*create_config)(Config*);
  State (*set_config)(Config, const char* name, const char* value);
  void (*destroy_config)(Config*);
  State (*open_ext)(const char* path, Database*, Config, char** error);
  void (*close)(Database*);
  State (*connect)(Database, Connection*);
  void (*disconnect)(Connection*);
  QueryProgress (*query_progress)(Connection);

  State (*prepare)(Connection, const char* sql, Statement*);
  const char* (*prepare_error)(Statement);
  StatementType (*prepared_statement_type)(Statement);
  void (*destroy_prepare)(Statement*);
  State (*pending_prepared)(Statement, Pending*);
  const char* (*pending_error)(Pending);
  PendingState (*pending_execute_task)(Pending);
  State (*execute_pending)(Pending, Result*);
  void (*destroy_pending)(Pending*);
  const char* (*result_error)(Result*);
  Index (*column_count)(Result*);
  TypeId (*column_type)(Result*, Index column);
  Chunk (*fetch_chunk)(Result);
  void (*destroy_result)(Result*);

  Index (*vector_size)();
  Index (*data_chunk_get_size)(Chunk);
  void (*data_chunk_set_size)(Chunk, Index);
  Vector (*data_chunk_get_vector)(Chunk, Index column);
  void (*destroy_data_chunk)(Chunk*);
  void* (*vector_get_data)(Vector);
  std::uint64_t* (*vector_get_validity)(Vector);
  void (*vector_ensure_validity_writable)(Vector);
  void (*vector_assign_string_element_len)(Vector, Index row, const char* text, Index length);

  LogicalType (*create_logical_type)(TypeId);
  void (*destroy_logical_type)(LogicalType*);
  TableFunction (*create_table_function)();
  void (*table_function_set_name)(TableFunction, const char*);
  void (*table_function_set_extra_info)(TableFunction, void*, Drop);
  void (*table_function_set_bind)(TableFunction, void (*)(BindInfo));
  void (*table_function_set_init)(TableFunction, void (*)(InitInfo));
  void (*table_function_set_function)(TableFunction, void (*)(FunctionInfo, Chunk));
  State (*register_table_function)(Connection, TableFunction);
  void (*destroy_table_function)(TableFunction*);
  void* (*bind_get_extra_info)(BindInfo);
  void (*bind_add_result_column)(BindInfo, const char* name, LogicalType);
  void* (*init_get_extra_info)(InitInfo);
  void (*init_set_init_data)(InitInfo, void*, Drop);
  void (*init_set_max_threads)(InitInfo, Index);
  void (*init_set_error)(InitInfo, const char*);
  void* (*function_get_init_data)(FunctionInfo);
  void (*function_set_error)(FunctionInfo, const char*);
};

/// The library at `path`; if that is empty, beside the running program, as `./dev install` and `./dev build` lay it, or where the system
/// finds libraries. A process loads one: later paths are not looked at. EngineError if it is not there or is another version.
const Library& load(const std::filesystem::path& path);
/// What load() has loaded, for what DuckDB calls.
const Library& loaded();

}  // namespace sotto::duckdb
