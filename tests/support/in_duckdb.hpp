// Runs SQL in a DuckDB without restrictions, to write Parquet files for tests.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace sotto {

inline const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

inline void in_duckdb(const std::string& sql) {
  void* handle = dlopen(libduckdb.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr);
  void* database = nullptr;
  void* connection = nullptr;
  reinterpret_cast<int (*)(const char*, void**)>(dlsym(handle, "duckdb_open"))(nullptr, &database);
  reinterpret_cast<int (*)(void*, void**)>(dlsym(handle, "duckdb_connect"))(database, &connection);
  EXPECT_EQ(reinterpret_cast<int (*)(void*, const char*, void*)>(dlsym(handle, "duckdb_query"))(
                connection, sql.c_str(), nullptr),
            0)
      << sql;
  reinterpret_cast<void (*)(void**)>(dlsym(handle, "duckdb_disconnect"))(&connection);
  reinterpret_cast<void (*)(void**)>(dlsym(handle, "duckdb_close"))(&database);
}

}  // namespace sotto
