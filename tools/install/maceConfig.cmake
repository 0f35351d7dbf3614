# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(mace) defines:
#   mace::mace     libmace.so, or libmace.a where there is only that
#   mace::shared   libmace.so
#   mace::static   libmace.a

include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_mace_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

function(_mace_add_library name kind file)
  if(TARGET mace::${name} OR NOT EXISTS "${file}")
    return()
  endif()
  add_library(mace::${name} ${kind} IMPORTED)
  set_target_properties(
    mace::${name}
    PROPERTIES IMPORTED_LOCATION "${file}"
               INTERFACE_INCLUDE_DIRECTORIES "${_mace_prefix}/include")
  if(CMAKE_CXX_COMPILER_LOADED)
    set_property(TARGET mace::${name} PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_17)
  endif()
endfunction()

_mace_add_library(shared SHARED "${_mace_prefix}/lib/libmace.so")
_mace_add_library(static STATIC "${_mace_prefix}/lib/libmace.a")

if(TARGET mace::shared)
  set_property(TARGET mace::shared PROPERTY IMPORTED_SONAME libmace.so)
endif()

# What libmace.so says of itself and an archive cannot.
if(TARGET mace::static)
  set(_mace_needed Threads::Threads ${CMAKE_DL_LIBS} m)
  if(ANDROID)
    list(APPEND _mace_needed log)
  endif()
  if(CMAKE_CXX_COMPILER_LOADED)
    set_property(TARGET mace::static PROPERTY IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
  elseif(NOT ANDROID)
    list(APPEND _mace_needed stdc++)
  endif()
  set_property(TARGET mace::static PROPERTY INTERFACE_LINK_LIBRARIES "${_mace_needed}")
  unset(_mace_needed)
endif()

if(NOT TARGET mace::mace)
  add_library(mace::mace INTERFACE IMPORTED)
  if(TARGET mace::shared)
    set_property(TARGET mace::mace PROPERTY INTERFACE_LINK_LIBRARIES mace::shared)
  else()
    set_property(TARGET mace::mace PROPERTY INTERFACE_LINK_LIBRARIES mace::static)
  endif()
endif()
unset(_mace_prefix)
