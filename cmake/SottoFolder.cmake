# sotto_folder(privacy DEPENDS core numerics) builds src/privacy/**/*.cpp as the target
# sotto::privacy. DEPENDS lists the folders whose headers its files include, which
# tests/architecture/check.py verifies. Headers in src/ are included by their path below src/:
# "privacy/api/conversions.hpp".

add_library(sotto_options INTERFACE)
target_compile_features(sotto_options INTERFACE cxx_std_20)
target_compile_options(sotto_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${SOTTO_WERROR}>:-Werror> -ffp-contract=off
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # g++ 12 warns falsely about std::string at -O3
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS MATCHES -fsanitize)
  target_compile_options(sotto_options INTERFACE -Wno-maybe-uninitialized)  # g++ warns falsely about std::variant, with sanitizers
endif()

function(sotto_folder name)
  cmake_parse_arguments(FOLDER "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(sotto_${name} STATIC ${sources})
  add_library(sotto::${name} ALIAS sotto_${name})
  set_target_properties(sotto_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(sotto_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(sotto_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(sotto_${name} PUBLIC cxx_std_20)
  target_link_libraries(sotto_${name} PRIVATE $<BUILD_INTERFACE:sotto_options>)
  foreach(lower ${FOLDER_DEPENDS})
    target_link_libraries(sotto_${name} PUBLIC sotto::${lower})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY SOTTO_FOLDERS ${name})
endfunction()
