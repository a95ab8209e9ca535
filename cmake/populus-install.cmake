# The CMake package and pkg-config files by which others build on an installed Populus. Libraries,
# programs and headers are installed by the folders that make them.
include(CMakePackageConfigHelpers)

get_property(components GLOBAL PROPERTY POPULUS_COMPONENTS)
if(NOT components)
  return()
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/populus)
configure_package_config_file(cmake/populus-config.cmake.in populus-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(populus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/populus-config.cmake ${PROJECT_BINARY_DIR}/populus-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/populus-codelets.cmake
  DESTINATION ${package_dir} COMPONENT development)
install(EXPORT populus-targets NAMESPACE populus:: DESTINATION ${package_dir} COMPONENT development)

# Completion for shells: bash loads a file with the program's name, zsh completes
# programs that have --help.
foreach(tool popexec gc-info popsize popview pophlo poprun)
  install(FILES cmake/completion.bash RENAME ${tool}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/_populus @ONLY
  CONTENT "#compdef popexec gc-info popsize popview pophlo poprun\n_gnu_generic \"$@\"\n")
set(zsh_functions site-functions)
if(POPULUS_PACKAGES) # as in popc/
  set(zsh_functions vendor-completions)
endif()
install(FILES ${PROJECT_BINARY_DIR}/_populus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_functions} COMPONENT tools)

# For find_package(populus) with populus_DIR = the build folder: no installation needed.
export(EXPORT populus-targets NAMESPACE populus:: FILE ${PROJECT_BINARY_DIR}/populus-targets.cmake)
configure_file(cmake/populus-codelets.cmake populus-codelets.cmake COPYONLY)

# populus_pkg_config(<target> <description> <our own modules> <modules> <further libraries>): users
# of a library also call our own libraries below it. Users of a static library need its
# dependencies, too; those of a shared one do not.
function(populus_pkg_config target description ours modules libraries)
  if(NOT TARGET ${target})
    return()
  endif()
  get_target_property(name ${target} OUTPUT_NAME)
  get_target_property(type ${target} TYPE)
  file(RELATIVE_PATH PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  set(PC_NAME ${name})
  set(PC_DESCRIPTION ${description})
  if(type STREQUAL "SHARED_LIBRARY")
    set(PC_REQUIRES "${ours}")
    set(PC_REQUIRES_PRIVATE "${modules}")
    set(PC_LIBRARIES "")
    set(PC_LIBRARIES_PRIVATE "${libraries}")
  else()
    set(PC_REQUIRES "${ours} ${modules}")
    set(PC_REQUIRES_PRIVATE "")
    set(PC_LIBRARIES " ${libraries}")
    set(PC_LIBRARIES_PRIVATE "")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/populus.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

populus_pkg_config(archive-ipu "Tile images of an IPU: targets, linking, ELF, archives" "" "libelf libdw libxxhash" "-pthread")
populus_pkg_config(codelet "Codelet files (.gp) and vertex types" "archive-ipu" "jansson libxxhash" "-ldl")
populus_pkg_config(popc-lib "The codelet compiler as a library" "codelet" "" "")
populus_pkg_config(populus "${PROJECT_DESCRIPTION}" "popc codelet archive-ipu" "libdw jansson libcbor libprotobuf-c zlib" "-pthread -lm")
