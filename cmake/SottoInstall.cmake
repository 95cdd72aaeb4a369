# Installs the headers, an archive for each folder or the shared library, the files for
# find_package(sotto) and pkg-config, and the command with its manual page and shell completions.
# Each Debian package is one component: library, development, command, duckdb.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
get_property(folders GLOBAL PROPERTY SOTTO_FOLDERS)
if(SOTTO_SHARED)
  install(TARGETS sotto EXPORT sottoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
  set(SOTTO_PC_LIBS -lsotto)
  set(SOTTO_PC_REQUIRES "")
else()
  list(TRANSFORM folders PREPEND sotto_ OUTPUT_VARIABLE targets)
  install(TARGETS sotto ${targets} EXPORT sottoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  list(REVERSE folders)  # a static archive comes before those that it uses
  list(TRANSFORM folders PREPEND -lsotto_ OUTPUT_VARIABLE flags)
  list(JOIN flags " " SOTTO_PC_LIBS)
  string(APPEND SOTTO_PC_LIBS " -ldl")
  set(SOTTO_PC_REQUIRES "libcrypto libsodium mpfr sqlite3 zlib")
endif()
install(DIRECTORY include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT sottoTargets NAMESPACE sotto:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/sottoConfig.cmake.in sottoConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(sottoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sottoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sottoConfigVersion.cmake cmake/FindMPFR.cmake
        DESTINATION ${package_folder} COMPONENT development)

# DuckDB, which sotto loads to read data files, if ./dev duckdb downloaded it.
install(FILES ${PROJECT_SOURCE_DIR}/build/duckdb/libduckdb.so DESTINATION lib/sotto COMPONENT duckdb OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/build/duckdb/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.duckdb COMPONENT duckdb OPTIONAL)

# The prefix relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH SOTTO_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SOTTO_PC_PREFIX "${SOTTO_PC_PREFIX}")
configure_file(cmake/sotto.pc.in sotto.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sotto.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
