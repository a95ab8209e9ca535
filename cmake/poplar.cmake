# The names by which existing programs find Populus: -lpoplar (and -lpopops, … where programs name
# them), pkg-config poplar, find_package(poplar). All of them are libpopulus: lib<name>.so is a
# linker script that says so. (ldconfig recognises such a script by its first words.)
if(NOT TARGET populus)
  return()
endif()

set(POPLAR_LIBRARIES poplar popops poputil poplin popnn poprand popfloat gcl pva pvti)
get_target_property(type populus TYPE)
if(type STREQUAL "SHARED_LIBRARY")
  set(what "INPUT(-lpopulus -lpopc -lcodelet -larchive-ipu)")
else()
  set(what "GROUP(-lpopulus -lpopc -lcodelet -larchive-ipu)
INPUT(-ldw -lelf -ljansson -lxxhash -lcbor -lprotobuf-c -lz -lpthread -lm -ldl)")
endif()
foreach(name IN LISTS POPLAR_LIBRARIES)
  file(CONFIGURE OUTPUT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so @ONLY
    CONTENT "/* GNU ld script: ${name} is a part of Populus. */\n${what}\n")
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endforeach()

set(poplar_dir ${CMAKE_INSTALL_LIBDIR}/cmake/poplar)
configure_package_config_file(cmake/poplar-config.cmake.in poplar-config.cmake INSTALL_DESTINATION ${poplar_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(poplar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/poplar-config.cmake ${PROJECT_BINARY_DIR}/poplar-config-version.cmake
  DESTINATION ${poplar_dir} COMPONENT development)

# populus_alias_package(<package> <target>...): find_package(<package>) gives these targets, which
# are all Populus, and includes the further file of the package's name.
function(populus_alias_package package)
  set(text "include(CMakeFindDependencyMacro)\nfind_dependency(poplar HINTS \${CMAKE_CURRENT_LIST_DIR} \${CMAKE_CURRENT_LIST_DIR}/../poplar)\n")
  string(APPEND text "foreach(name IN ITEMS ${ARGN})\n  if(NOT TARGET \${name})\n    add_library(\${name} INTERFACE IMPORTED)\n")
  string(APPEND text "    set_target_properties(\${name} PROPERTIES INTERFACE_LINK_LIBRARIES poplar)\n  endif()\nendforeach()\n")
  if(package STREQUAL "GCCS")
    string(APPEND text "set(GCCS_CMAKE_DIR \${CMAKE_CURRENT_LIST_DIR})\n")
  endif()
  set(file ${package}-config)
  if(package STREQUAL "GCCS") # CMake takes this spelling, or all of it in small letters
    set(file gccs-config)
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${file}.cmake @ONLY CONTENT "${text}")
  write_basic_package_version_file(${file}-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${file}.cmake ${PROJECT_BINARY_DIR}/${file}-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${package} COMPONENT development)
endfunction()

set(poplibs ${POPLAR_LIBRARIES})
list(REMOVE_ITEM poplibs poplar gcl pva pvti)
populus_alias_package(poplibs ${poplibs})
populus_alias_package(gcl gcl)
populus_alias_package(pva pva)
populus_alias_package(libpvti libpvti pvti)
populus_alias_package(poplar_test poplar_test)
# Needed by the original libraries' own build: a solver, small things, and CMake files.
populus_alias_package(GCCS gccs popsolver)
install(FILES cmake/gccs/AddMarchExtensions.cmake cmake/gccs/AddSystemTest.cmake cmake/gccs/AddUnitTest.cmake
  cmake/gccs/EnableCoverage.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/GCCS COMPONENT development)

file(RELATIVE_PATH PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/poplar.pc.in pkgconfig/poplar.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/poplar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
