# Debian packages, by CPack: cmake/package.sh builds them with the preset `package`.
# Only that preset includes this file, since other installations want neither compressed
# manuals nor Debian's files.
#
#   libpopulus0      the libraries, and the data, modules and programs that they start
#   libpopulus-dev   headers, and the files for CMake, pkg-config and linkers
#   popc             the programs, their manuals and completions, the viewer's page
#   populus-doc      documentation, and the examples in source
#
# Installation rules name their package: COMPONENT library (the default), development,
# tools, documentation.
set(POPULUS_PACKAGE_MAINTAINER "The Populus authors <populus@example.org>" CACHE STRING
  "Who answers for the packages: whoever gives them to others says so here")
set(soversion ${PROJECT_VERSION_MAJOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME populus)
set(CPACK_PACKAGE_VENDOR "The Populus authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL library development tools documentation)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${POPULUS_PACKAGE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# populus_package(<component> <package> <section> <depends> <summary> <description>)
macro(populus_package component package section depends summary description)
  string(TOUPPER ${component} _c)
  set(CPACK_DEBIAN_${_c}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${_c}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${_c}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${_c}_DESCRIPTION "${summary}\n${description}")
  set(doc share/doc/${package})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/copyright DESTINATION ${doc} COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz DESTINATION ${doc} COMPONENT ${component})
  if(EXISTS ${PROJECT_SOURCE_DIR}/cmake/debian/${package}.lintian-overrides)
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/${package}.lintian-overrides DESTINATION share/lintian/overrides
      RENAME ${package} COMPONENT ${component})
  endif()
endmacro()

set(about "Populus is an open toolchain for the IPU programming model: a program is
a graph of vertices over thousands of tiles, compiled to one ELF image for
each tile, which run on a software IPU.")
populus_package(library libpopulus${soversion} libs "clang-19"
  "compiler and software machine for IPU programs (libraries)"
  "${about}\n.\nThis package has the graph compiler, the engine, the profiler and the\nlibraries of operations.")
# Needed by populus-config.cmake and the .pc files.
set(modules "libelf-dev, libdw-dev, libjansson-dev, libxxhash-dev, libcbor-dev, libprotobuf-c-dev, zlib1g-dev")
populus_package(development libpopulus-dev libdevel "libpopulus${soversion} ${version}, popc ${version}, ${modules}"
  "compiler and software machine for IPU programs (development)"
  "${about}\n.\nThis package has the headers for C and C++, CMake packages and pkg-config\nfiles.")
populus_package(tools popc devel "libpopulus${soversion} ${version}, clang-19"
  "compiler of codelets for IPU programs, and tools"
  "${about}\n.\nThis package has popc, which compiles codelets for tiles and for the host,\npopexec, which runs archives, and the tools that show what they hold.")
populus_package(documentation populus-doc doc ""
  "compiler and software machine for IPU programs (documentation)"
  "${about}\n.\nThis package has the examples and tutorials in source, and what there is to\nread about the parts.")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "populus-doc, pkg-config, g++")
foreach(component LIBRARY TOOLS)
  set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_${component}_DEBUGINFO_PACKAGE ON)
endforeach()

configure_file(cmake/debian/changelog.in debian/changelog @ONLY)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/triggers CONTENT "activate-noawait ldconfig\n" @ONLY)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
execute_process(COMMAND gzip -9n COMMAND_ERROR_IS_FATAL ANY
  INPUT_FILE ${PROJECT_BINARY_DIR}/debian/changelog OUTPUT_FILE ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz)
install(CODE "file(GLOB pages \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1)
  if(pages)
    execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()" COMPONENT tools)
include(CPack)
