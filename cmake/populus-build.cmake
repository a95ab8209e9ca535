# Options, compiler flags, dependencies, and the functions by which folders declare their targets.

option(POPULUS_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(POPULUS_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(BUILD_SHARED_LIBS "Build shared instead of static libraries" OFF)
set(POPULUS_SANITIZE "" CACHE STRING "Sanitizers for all of our code, for example address,undefined")
option(POPULUS_FUZZ "Build the fuzz targets, for clang's libFuzzer" OFF)
option(POPULUS_PACKAGES "Install as Debian packages do, and make them (cmake/package.sh)" OFF)
set(POPULUS_INSTALL_DATA_DIR lib/populus CACHE STRING "Where data is installed, below the prefix")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Programs, libraries and data lie in the build folder as they will lie under the installation prefix, so that the
# tools find their data the same way in both (libcodelet/data_dir.c).
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(POPULUS_DATA_DIR ${PROJECT_BINARY_DIR}/lib/populus)
if(NOT POPULUS_PACKAGES) # their libraries are where the system looks
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
# Parts of an installation (populus-packages.cmake): libraries and data, unless stated otherwise.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Assertions stay on in a release: they guard against our own bugs, and an archive made by a bug costs more.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

add_compile_definitions(_GNU_SOURCE)
# Host and tile agree to the bit only if the compiler does not fuse multiplications and additions.
add_compile_options(-Wall -Wextra -Wpedantic -ffp-contract=off)
if(POPULUS_WERROR)
  add_compile_options(-Werror)
endif()
if(POPULUS_SANITIZE)
  # -g1: functions and lines, which reports name. Variables would cost a fifth of the compile time.
  add_compile_options(-fsanitize=${POPULUS_SANITIZE} -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${POPULUS_SANITIZE})
endif()
# Libraries from which nothing is called are not loaded.
add_link_options(LINKER:--as-needed)
if(POPULUS_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(LLVM19 19 REQUIRED)
find_package(PkgConfig REQUIRED)
foreach(module libelf libdw jansson libmicrohttpd libxxhash libzstd libcbor libprotobuf-c zlib)
  pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
endforeach()

find_program(PROTOC_C protoc-c REQUIRED)

# populus_glob(<variable> <pattern>...): source files of this folder, sorted; a new file is picked up by the next build.
function(populus_glob variable)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  list(SORT files)
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# The exported symbols of a library; programs may use any other name. tests/cli/symbols.sh
# compares with the headers.
set(POPULUS_EXPORTS "pop_*" popc_compile popc_main)
list(JOIN POPULUS_EXPORTS "; " exports)
set(POPULUS_VERSION_SCRIPT ${PROJECT_BINARY_DIR}/exports.map)
# Symbols that our libraries and tools share, without a header for users (internal/). They have a
# symbol version of their own, as the C library's GLIBC_PRIVATE.
populus_glob(internal_headers lib*/internal/populus/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${internal_headers})
set(private)
foreach(header IN LISTS internal_headers)
  file(READ ${header} text)
  string(REGEX MATCHALL "\n[A-Za-z][^\n;]*[ *]pop_[a-z_0-9]+\\(" functions "${text}")
  list(FILTER functions EXCLUDE REGEX "^\ntypedef")
  list(TRANSFORM functions REPLACE "^.*[ *](pop_[a-z_0-9]+)\\($" "\\1")
  list(APPEND private ${functions})
endforeach()
list(JOIN private "; " private)
file(CONFIGURE OUTPUT ${POPULUS_VERSION_SCRIPT} @ONLY
  CONTENT "POPULUS_${PROJECT_VERSION_MAJOR} { global: ${exports}; local: *; };\nPOPULUS_PRIVATE { global: ${private}; };\n")

# populus_component(<target> OUTPUT_NAME <name> {SOURCES <file>... | OBJECTS <object>...} LINK
# <target>...): one library with public headers in include/. The object library <target>-objects
# compiles the sources. The folder itself is on their include path and on that of the tests only. A
# shared library has a version script. A static one is a single object whose other names are local,
# made with ld -r: an archive of many objects would have to export what these call of each other.
function(populus_component target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME" "SOURCES;OBJECTS;LINK")
  if(arg_SOURCES)
    add_library(${target}-objects OBJECT ${arg_SOURCES})
    target_include_directories(${target}-objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${target}-objects PRIVATE ${arg_LINK})
    list(APPEND arg_OBJECTS $<TARGET_OBJECTS:${target}-objects>)
  endif()
  if(BUILD_SHARED_LIBS)
    add_library(${target} SHARED ${arg_OBJECTS})
    target_link_options(${target} PRIVATE LINKER:--version-script=${POPULUS_VERSION_SCRIPT})
    set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${POPULUS_VERSION_SCRIPT})
  else()
    set(merged ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
    # clang's AddressSanitizer uses the last one to record that the program's globals are
    # registered. It must exist once.
    list(TRANSFORM POPULUS_EXPORTS PREPEND --keep-global-symbol= OUTPUT_VARIABLE kept)
    list(APPEND kept --keep-global-symbol=___asan_globals_registered)
    add_custom_command(OUTPUT ${merged}
      COMMAND ${CMAKE_LINKER} -r -o ${merged} ${arg_OBJECTS}
      COMMAND ${CMAKE_OBJCOPY} --wildcard ${kept} ${merged}
      DEPENDS ${arg_OBJECTS}
      COMMENT "Merging ${target}"
      COMMAND_EXPAND_LISTS VERBATIM)
    add_library(${target} STATIC ${merged})
  endif()
  add_library(populus::${target} ALIAS ${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C
    OUTPUT_NAME ${arg_OUTPUT_NAME} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/internal)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/internal>)
    if(arg_SOURCES)
      target_include_directories(${target}-objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/internal)
    endif()
  endif()
  # Users of an installed library link these, but do not get their headers on the path, as
  # our headers include none.
  foreach(link IN LISTS arg_LINK)
    if(link MATCHES "::")
      target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:${link}> $<INSTALL_INTERFACE:$<LINK_ONLY:${link}>>)
    else()
      target_link_libraries(${target} PUBLIC ${link})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY POPULUS_COMPONENTS ${target})
  set_property(GLOBAL APPEND PROPERTY POPULUS_COMPONENT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY POPULUS_COMPONENT_LINKS ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY POPULUS_OBJECTS ${arg_OBJECTS})
  install(TARGETS ${target} EXPORT populus-targets
    ARCHIVE COMPONENT development LIBRARY COMPONENT library NAMELINK_COMPONENT development)
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include)
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  endif()
endfunction()

# populus_codelets(<target> OUTPUT <file.gp> SOURCES <file>...): compiles codelets with the popc of this build.
function(populus_codelets target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES;DEPENDS;FLAGS")
  get_filename_component(folder ${arg_OUTPUT} DIRECTORY)
  file(RELATIVE_PATH shown ${PROJECT_BINARY_DIR} ${arg_OUTPUT})
  get_property(device_files GLOBAL PROPERTY POPULUS_DEVICE_FILES)
  # Names are relative to the clone, so that clones share what popc caches (common.sh).
  set(words)
  foreach(word IN LISTS arg_FLAGS arg_SOURCES)
    if(IS_ABSOLUTE ${word})
      file(RELATIVE_PATH word ${PROJECT_SOURCE_DIR} ${word})
    endif()
    list(APPEND words ${word})
  endforeach()
  # A build does not stop for memory leaks of the compiler, which tests look for.
  add_custom_command(OUTPUT ${arg_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 POPULUS_DATA_DIR=${POPULUS_DATA_DIR}
      $<TARGET_FILE:popc> -O2 ${words} -o ${arg_OUTPUT}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${arg_SOURCES} ${arg_DEPENDS} popc ${device_files}
    COMMENT "Compiling codelets ${shown}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${arg_OUTPUT})
  add_dependencies(${target} device)
endfunction()

# populus_identity(<header> <macro> <file>...): the macro is a hash of the files;
# <header>.files lists their names.
function(populus_identity header name)
  set(script ${PROJECT_SOURCE_DIR}/cmake/source-identity.cmake)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${header})
  set(names "")
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${file})
    string(APPEND names "${file}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output}.files CONTENT "${names}" @ONLY) # written if it has changed
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DNAME=${name} -DFILES=${output}.files -DOUTPUT=${output} -P ${script}
    DEPENDS ${ARGN} ${output}.files ${script}
    VERBATIM)
endfunction()
