# Finds DuckDB's header, which sotto_data needs; the library of that release is loaded at run time.
# ./dev duckdb downloads both into build/duckdb and verifies the hashes in duckdb.sha256. Without
# the header sotto is built without its engine for files, whose errors then say so.
find_path(SOTTO_DUCKDB_INCLUDE duckdb.h PATHS ${PROJECT_SOURCE_DIR}/build/duckdb NO_DEFAULT_PATH)
if(SOTTO_DUCKDB_INCLUDE)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/duckdb.sha256 lines REGEX " (libduckdb|_duckdb[^ ]*).so ")
  list(TRANSFORM lines REPLACE " .*" "")
  list(JOIN lines " " hashes)
  target_include_directories(sotto_data SYSTEM PRIVATE ${SOTTO_DUCKDB_INCLUDE})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/data/engines/duckdb/library.cpp PROPERTIES COMPILE_DEFINITIONS "SOTTO_DUCKDB_HASHES=\"${hashes}\"")
else()
  get_target_property(sources sotto_data SOURCES)
  list(FILTER sources EXCLUDE REGEX "/engines/duckdb/(engine|library|record_scan|arrow_scan)\\.cpp$")
  set_target_properties(sotto_data PROPERTIES SOURCES "${sources};${CMAKE_CURRENT_LIST_DIR}/without_duckdb.cpp")
  message(STATUS "DuckDB's header is not installed: sotto will not read data files. To change that, type ./dev duckdb and configure again")
endif()
# Programs in the build tree find the library as installed ones do: in ../lib/sotto, relative to
# their folder.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/build/duckdb ${PROJECT_BINARY_DIR}/lib/sotto SYMBOLIC)
