# LLVM's and clang's C interfaces, as shared libraries, plus the programs that we start.
#
#   LLVM19::LLVM    llvm-c/*.h and libLLVM
#   LLVM19::clang   clang-c/*.h and libclang
#   LLVM19_CLANG    full path of the clang driver
#   LLVM19_INCLUDE_DIR, LLVM19_LIBRARY_DIR
#
# LLVM's own package file needs C++ and a dozen development packages that a user of the C
# interface does not need.

find_program(LLVM19_CONFIG NAMES llvm-config-19 DOC "llvm-config of LLVM 19")
mark_as_advanced(LLVM19_CONFIG)

if(LLVM19_CONFIG)
  execute_process(COMMAND ${LLVM19_CONFIG} --version
    OUTPUT_VARIABLE LLVM19_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM19_CONFIG} --includedir
    OUTPUT_VARIABLE LLVM19_INCLUDE_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM19_CONFIG} --libdir
    OUTPUT_VARIABLE LLVM19_LIBRARY_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM19_CONFIG} --bindir
    OUTPUT_VARIABLE LLVM19_BINARY_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_library(LLVM19_LIBRARY NAMES LLVM-19 PATHS ${LLVM19_LIBRARY_DIR})
  find_library(LLVM19_CLANG_LIBRARY NAMES clang-19 clang PATHS ${LLVM19_LIBRARY_DIR} NO_DEFAULT_PATH)
  find_program(LLVM19_CLANG NAMES clang-19 clang HINTS ${LLVM19_BINARY_DIR})
  mark_as_advanced(LLVM19_LIBRARY LLVM19_CLANG_LIBRARY LLVM19_CLANG)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LLVM19
  REQUIRED_VARS LLVM19_LIBRARY LLVM19_CLANG_LIBRARY LLVM19_INCLUDE_DIR LLVM19_CLANG
  VERSION_VAR LLVM19_VERSION
  REASON_FAILURE_MESSAGE "install llvm-19-dev, libclang-19-dev and clang-19, or run: sh cmake/setup.sh")

if(LLVM19_FOUND)
  foreach(pair LLVM:LLVM19_LIBRARY clang:LLVM19_CLANG_LIBRARY)
    string(REGEX MATCH "^([^:]+):(.+)$" _ ${pair})
    if(NOT TARGET LLVM19::${CMAKE_MATCH_1})
      add_library(LLVM19::${CMAKE_MATCH_1} UNKNOWN IMPORTED)
      set_target_properties(LLVM19::${CMAKE_MATCH_1} PROPERTIES
        IMPORTED_LOCATION ${${CMAKE_MATCH_2}}
        INTERFACE_INCLUDE_DIRECTORIES ${LLVM19_INCLUDE_DIR})
    endif()
  endforeach()
endif()
