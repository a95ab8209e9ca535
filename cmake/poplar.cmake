# The names under which existing programs know us: -lpoplar (and -lpopops, … where programs name them), pkg-config poplar,
# find_package(poplar). All of it is libpopulus: lib<name>.so is text for the linker, which says so. (ldconfig knows such
# text by its first words.)
if(NOT TARGET populus)
  return()
endif()

set(POPLAR_LIBRARIES poplar popops poputil poplin popnn poprand popfloat pva pvti)
get_target_property(type populus TYPE)
if(type STREQUAL "SHARED_LIBRARY")
  set(what "INPUT(-lpopulus -lpopc -lcodelet -larchive-ipu)")
else()
  set(what "GROUP(-lpopulus -lpopc -lcodelet -larchive-ipu)
INPUT(-ldw -lelf -ljansson -lxxhash -lcbor -lprotobuf-c -lz ${LLVM19_LIBRARY_DIR}/libLLVM-19.so -lpthread -lm -ldl)")
endif()
foreach(name IN LISTS POPLAR_LIBRARIES)
  file(CONFIGURE OUTPUT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so @ONLY
    CONTENT "/* GNU ld script: ${name} is a part of Populus. */\n${what}\n")
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endforeach()

set(poplar_dir ${CMAKE_INSTALL_LIBDIR}/cmake/poplar)
configure_package_config_file(cmake/poplar-config.cmake.in poplar-config.cmake INSTALL_DESTINATION ${poplar_dir})
write_basic_package_version_file(poplar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/poplar-config.cmake ${PROJECT_BINARY_DIR}/poplar-config-version.cmake
  DESTINATION ${poplar_dir} COMPONENT development)

# find_package(poplibs): the same targets.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/poplibs-config.cmake @ONLY
  CONTENT "include(CMakeFindDependencyMacro)\nfind_dependency(poplar)\n")
write_basic_package_version_file(poplibs-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/poplibs-config.cmake ${PROJECT_BINARY_DIR}/poplibs-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/poplibs)

file(RELATIVE_PATH PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/poplar.pc.in pkgconfig/poplar.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/poplar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
