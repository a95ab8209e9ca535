# add_unit_test(<name> <source>... [SUITES <suite>...] [VARIANTS <variant>...] [PROPERTIES
# <test properties>...] [LABELS <label>...]): a program of Boost's unit_test_framework, and
# a test of it for each suite and each enabled device variant (ENABLED_TEST_VARIANTS;
# without VARIANTS, DEFAULT_TEST_VARIANTS). The program gets -- --device-type <variant>. For
# the variant "NoTarget" it gets nothing. It is built with
# COMMON_ADD_EXECUTABLE_INCLUDE_DIRECTORIES, …_LIBRARIES and …_COMPILE_FLAGS.
include(${CMAKE_CURRENT_LIST_DIR}/AddSystemTest.cmake)

function(add_test_executable name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${COMMON_ADD_EXECUTABLE_INCLUDE_DIRECTORIES})
  target_link_libraries(${name} ${COMMON_ADD_EXECUTABLE_LIBRARIES})
  target_compile_options(${name} PRIVATE ${COMMON_ADD_EXECUTABLE_COMPILE_FLAGS})
endfunction()

function(add_unit_test name)
  cmake_parse_arguments(arg "" "" "SUITES;VARIANTS;PROPERTIES;LABELS" ${ARGN})
  if(NOT arg_VARIANTS)
    set(arg_VARIANTS ${DEFAULT_TEST_VARIANTS})
  endif()
  set(arg_VARIANTS_WITH_TARGET ${arg_VARIANTS})
  list(REMOVE_ITEM arg_VARIANTS_WITH_TARGET NoTarget)
  add_test_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  if(arg_VARIANTS_WITH_TARGET)
    target_compile_definitions(${name} PRIVATE TEST_WITH_TARGET)
  else()
    target_compile_definitions(${name} PRIVATE TEST_WITHOUT_TARGET)
  endif()
  if(NOT Boost_USE_STATIC_LIBS)
    target_compile_definitions(${name} PRIVATE BOOST_TEST_DYN_LINK)
  endif()
  foreach(variant IN LISTS arg_VARIANTS)
    if(NOT arg_SUITES)
      gccs_add_variant_test(${name} ${variant} "${arg_PROPERTIES}" "${arg_LABELS}" "--" ${name})
    endif()
    foreach(suite IN LISTS arg_SUITES)
      gccs_add_variant_test(${name}_${suite} ${variant} "${arg_PROPERTIES}" "${arg_LABELS}" "--" ${name} --run_test=${suite})
    endforeach()
  endforeach()
endfunction()
