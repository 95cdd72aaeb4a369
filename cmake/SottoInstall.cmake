# What `cmake --install` lays down: headers, one archive a folder, find_package(sotto) and pkg-config files, the
# command with its manual page and shell completions.
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY SOTTO_FOLDERS)
list(TRANSFORM folders PREPEND sotto_ OUTPUT_VARIABLE targets)
install(TARGETS sotto ${targets} EXPORT sottoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT sottoTargets NAMESPACE sotto:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
configure_package_config_file(cmake/sottoConfig.cmake.in sottoConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
write_basic_package_version_file(sottoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sottoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sottoConfigVersion.cmake cmake/FindMPFR.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

# DuckDB, which sotto loads when it reads files of data, if ./dev has fetched it.
install(FILES ${PROJECT_SOURCE_DIR}/build/duckdb/libduckdb.so DESTINATION lib/sotto OPTIONAL)
install(FILES ${PROJECT_SOURCE_DIR}/build/duckdb/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.duckdb OPTIONAL)

list(REVERSE folders)  # static archives are linked users first
list(TRANSFORM folders PREPEND -lsotto_ OUTPUT_VARIABLE flags)
list(JOIN flags " " SOTTO_PC_LIBS)
# The prefix as seen from the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH SOTTO_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SOTTO_PC_PREFIX "${SOTTO_PC_PREFIX}")
configure_file(cmake/sotto.pc.in sotto.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sotto.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
