# The target sotto::sotto has all folders: their archives, or with SOTTO_SHARED one shared library.
# The ABI of the shared library changes with the minor version.
get_property(folders GLOBAL PROPERTY SOTTO_FOLDERS)
if(SOTTO_SHARED)
  add_library(sotto SHARED)
  foreach(folder ${folders})
    target_sources(sotto PRIVATE $<TARGET_OBJECTS:sotto_${folder}>)
  endforeach()
  set_target_properties(sotto PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(sotto PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(sotto PUBLIC cxx_std_20)
  target_link_libraries(sotto PRIVATE OpenSSL::Crypto MPFR::MPFR SQLite::SQLite3 ZLIB::ZLIB ${SODIUM_LIBRARY} ${CMAKE_DL_LIBS})
  # Symbols of static archives in the library stay hidden, and all addresses are resolved when it is
  # loaded.
  target_link_options(sotto PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined -Wl,-z,relro,-z,now,-z,noexecstack)
else()
  add_library(sotto INTERFACE)
  list(REMOVE_ITEM folders postgresql)
  list(REVERSE folders)
  list(TRANSFORM folders PREPEND sotto::)
  target_link_libraries(sotto INTERFACE ${folders})
endif()
add_library(sotto::sotto ALIAS sotto)
