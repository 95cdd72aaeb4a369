# Finds MPFR and GMP as MPFR::MPFR. Both are under the LGPL, so they are linked as shared libraries,
# which users of the command or the library can replace. Static archives do not count.
find_path(MPFR_INCLUDE_DIR mpfr.h)
find_library(MPFR_SHARED_LIBRARY NAMES libmpfr${CMAKE_SHARED_LIBRARY_SUFFIX})
find_library(GMP_SHARED_LIBRARY NAMES libgmp${CMAKE_SHARED_LIBRARY_SUFFIX})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPFR REQUIRED_VARS MPFR_SHARED_LIBRARY GMP_SHARED_LIBRARY MPFR_INCLUDE_DIR)
if(MPFR_FOUND AND NOT TARGET MPFR::MPFR)
  add_library(MPFR::MPFR INTERFACE IMPORTED)
  set_target_properties(MPFR::MPFR PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${MPFR_INCLUDE_DIR}
                                              INTERFACE_LINK_LIBRARIES "${MPFR_SHARED_LIBRARY};${GMP_SHARED_LIBRARY}")
endif()
