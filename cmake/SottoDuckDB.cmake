# DuckDB is loaded at run time; its header, of the same release, is what sotto_data is compiled against. ./dev duckdb puts both into
# build/duckdb, by their hashes in duckdb.sha256. Without the header sotto is built without its engine for files, which then says so.
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
  message(STATUS "DuckDB's header is not there: sotto will not read files of data. To change that, type ./dev duckdb and configure again")
endif()
# What runs from the build tree finds the library where an installed command does: in lib/sotto, beside its folder.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/build/duckdb ${PROJECT_BINARY_DIR}/lib/sotto SYMBOLIC)
