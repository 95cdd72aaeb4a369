# Builds a Debian package for each component of a tree with SOTTO_SHARED: `cmake --build
# build/shared --target packages`, or ./dev package, writes them to build/packages.
# docs/decisions/0033-packages.md gives the reasons for these four.
if(NOT CPACK_PACKAGE_CONTACT)  # the publisher sets -DCPACK_PACKAGE_CONTACT="NAME <ADDRESS>"
  set(CPACK_PACKAGE_CONTACT "sotto maintainers <maintainers@example.org>")
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # the time of SOURCE_DATE_EPOCH, if it is set
string(TIMESTAMP year "%Y" UTC)
set(about "sotto answers questions about people and hides each of them: it says what a\nstudy costs in differential privacy before it runs, keeps the budget in a
ledger, and adds noise whose distribution is exactly the one that was\naccounted.")

# sotto_package(COMPONENT NAME SECTION SUMMARY …) defines a package. CONTAINS lists the license
# files of third-party code in the package, and FILES are added to its control archive.
function(sotto_package component name section summary)
  cmake_parse_arguments(PACKAGE "" "DEPENDS;RECOMMENDS" "CONTAINS;FILES" ${ARGN})
  string(TOUPPER ${component} key)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${PACKAGE_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${PACKAGE_RECOMMENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "${PACKAGE_FILES}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "differential-privacy engine: ${summary}\n${about}" PARENT_SCOPE)

  set(folder ${PROJECT_BINARY_DIR}/packages/${name})
  file(WRITE ${folder}/copyright "Copyright ${year} the authors of sotto\nLicense: Apache-2.0, which Debian keeps in /usr/share/common-licenses/Apache-2.0\n")
  foreach(file ${PACKAGE_CONTAINS})
    if(EXISTS ${file})
      file(READ ${file} notice)
      file(APPEND ${folder}/copyright "\nIt contains code under these terms:\n\n${notice}")
    else()
      message(WARNING "${file} does not exist: the package ${name} will lack this license notice")
    endif()
  endforeach()
  file(WRITE ${folder}/changelog "sotto (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md of the sources says what is new.\n
 -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  execute_process(COMMAND gzip -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${folder}/copyright ${folder}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endfunction()

# shlibs: the dependency of programs that link the library. triggers: rebuild the loader's cache
# after installation.
set(minor ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(WRITE ${PROJECT_BINARY_DIR}/packages/shlibs "libsotto ${minor} libsotto${minor} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/packages/triggers "activate-noawait ldconfig\n")
sotto_package(library libsotto${minor} libs "shared library" RECOMMENDS libpq5 CONTAINS /usr/share/doc/libtomlplusplus-dev/copyright
              FILES ${PROJECT_BINARY_DIR}/packages/shlibs ${PROJECT_BINARY_DIR}/packages/triggers)
sotto_package(development libsotto-dev libdevel headers DEPENDS "libsotto${minor} (= ${PROJECT_VERSION})")
sotto_package(command sotto science command DEPENDS "libsotto${minor} (= ${PROJECT_VERSION})" RECOMMENDS sotto-duckdb
              CONTAINS /usr/share/doc/libcli11-dev/copyright)
install(CODE "execute_process(COMMAND gzip -9nf \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/sotto.1 COMMAND_ERROR_IS_FATAL ANY)"
        COMPONENT command)
if(EXISTS ${PROJECT_SOURCE_DIR}/build/duckdb/libduckdb.so)
  sotto_package(duckdb sotto-duckdb science "DuckDB, which reads files of data" CONTAINS ${PROJECT_SOURCE_DIR}/build/duckdb/LICENSE)
  file(WRITE ${PROJECT_BINARY_DIR}/packages/sotto-duckdb/overrides
       "# byte for byte DuckDB's own file, which sotto knows by its hash\nsotto-duckdb: unstripped-binary-or-object [usr/lib/sotto/libduckdb.so]\n")
  install(FILES ${PROJECT_BINARY_DIR}/packages/sotto-duckdb/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME sotto-duckdb
          COMPONENT duckdb)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/packages)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has a summary
set(CPACK_STRIP_FILES ON)  # strips the targets, and not DuckDB, whose hash must not change
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE sotto)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})  # finds libsotto
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

add_custom_target(
  packages
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CPACK_PACKAGE_DIRECTORY}
  COMMAND ${CMAKE_CPACK_COMMAND}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CPACK_PACKAGE_DIRECTORY}/_CPack_Packages
  DEPENDS sotto sotto_command sotto_manual VERBATIM)
