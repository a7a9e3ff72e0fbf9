# SPDX-License-Identifier: BSD-3-Clause
include(CMakeFindDependencyMacro)
find_dependency(MPI 3.0 COMPONENTS C)
get_property(_topoloom_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("Fortran" IN_LIST _topoloom_languages)
  find_dependency(MPI COMPONENTS Fortran)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/topoloom-mpi-targets.cmake)
