#include "libduckdb.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::duckdb {
namespace {

std::unique_ptr<Library> the_library;  // one in a process, never unloaded: DuckDB's threads may outlive an engine

constexpr const char* advice = "; type: ./dev duckdb, in sotto's sources, or give the path of libduckdb.so";

void* find(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> candidates{path};
  if (path.empty()) {
    std::error_code ignored;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    candidates = {here / "../lib/sotto/libduckdb.so", here / "../duckdb/libduckdb.so", here / "../../duckdb/libduckdb.so", "libduckdb.so"};
  }
  std::string why;
  for (const auto& candidate : candidates) {
    if (void* handle = dlopen(candidate.c_str(), RTLD_LAZY | RTLD_LOCAL)) return handle;
    why += std::string(why.empty() ? "" : "\n") + dlerror();
  }
  throw EngineError(std::string("DuckDB, which reads files of data, is not installed") + advice, why);
}

template <typename Function>
void resolve(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(handle, (std::string("duckdb_") + name).c_str()));
  if (function == nullptr) throw EngineError(std::string("the libduckdb.so that was found is not DuckDB ") + version + advice, name);
}

std::unique_ptr<Library> resolved(void* handle) {
  auto library = std::make_unique<Library>();
#define SOTTO_RESOLVE(name) resolve(handle, #name, library->name)
  SOTTO_RESOLVE(library_version);
  if (library->library_version() != std::string(version)) {
    throw EngineError("sotto is made for DuckDB " + std::string(version) + ", and found " + library->library_version() + advice, "");
  }
  SOTTO_RESOLVE(free);
  SOTTO_RESOLVE(create_config);
  SOTTO_RESOLVE(set_config);
  SOTTO_RESOLVE(destroy_config);
  SOTTO_RESOLVE(open_ext);
  SOTTO_RESOLVE(close);
  SOTTO_RESOLVE(connect);
  SOTTO_RESOLVE(disconnect);
  SOTTO_RESOLVE(query_progress);
  SOTTO_RESOLVE(prepare);
  SOTTO_RESOLVE(prepare_error);
  SOTTO_RESOLVE(prepared_statement_type);
  SOTTO_RESOLVE(destroy_prepare);
  SOTTO_RESOLVE(pending_prepared);
  SOTTO_RESOLVE(pending_error);
  SOTTO_RESOLVE(pending_execute_task);
  SOTTO_RESOLVE(execute_pending);
  SOTTO_RESOLVE(destroy_pending);
  SOTTO_RESOLVE(result_error);
  SOTTO_RESOLVE(column_count);
  SOTTO_RESOLVE(column_type);
  SOTTO_RESOLVE(fetch_chunk);
  SOTTO_RESOLVE(destroy_result);
  SOTTO_RESOLVE(vector_size);
  SOTTO_RESOLVE(data_chunk_get_size);
  SOTTO_RESOLVE(data_chunk_set_size);
  SOTTO_RESOLVE(data_chunk_get_vector);
  SOTTO_RESOLVE(destroy_data_chunk);
  SOTTO_RESOLVE(vector_get_data);
  SOTTO_RESOLVE(vector_get_validity);
  SOTTO_RESOLVE(vector_ensure_validity_writable);
  SOTTO_RESOLVE(vector_assign_string_element_len);
  SOTTO_RESOLVE(create_logical_type);
  SOTTO_RESOLVE(destroy_logical_type);
  SOTTO_RESOLVE(create_table_function);
  SOTTO_RESOLVE(table_function_set_name);
  SOTTO_RESOLVE(table_function_set_extra_info);
  SOTTO_RESOLVE(table_function_set_bind);
  SOTTO_RESOLVE(table_function_set_init);
  SOTTO_RESOLVE(table_function_set_function);
  SOTTO_RESOLVE(register_table_function);
  SOTTO_RESOLVE(destroy_table_function);
  SOTTO_RESOLVE(bind_get_extra_info);
  SOTTO_RESOLVE(bind_add_result_column);
  SOTTO_RESOLVE(init_get_extra_info);
  SOTTO_RESOLVE(init_set_init_data);
  SOTTO_RESOLVE(init_set_max_threads);
  SOTTO_RESOLVE(init_set_error);
  SOTTO_RESOLVE(function_get_init_data);
  SOTTO_RESOLVE(function_set_error);
#undef SOTTO_RESOLVE
  return library;
}

}  // namespace

const Library& load(const std::filesystem::path& path) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!the_library) the_library = resolved(find(path));
  return *the_library;
}

const Library& loaded() { return *the_library; }

}  // namespace sotto::duckdb
