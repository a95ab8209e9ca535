# add_multitarget_test([NAME] <name> COMMAND <command>... [VARIANTS <variant>...] [PROPERTIES <test
# properties>...] [LABELS <label>...] [ALLOW_SKIP]): a test <variant>_default_<name> for each
# enabled device variant. The command gets --device-type <variant>. With ALLOW_SKIP, exit status 77
# means skipped, not failed.
include_guard()

# A variant is a target, optionally with a colon and the way in which its code is made: "Sim2:cpp".
# extract_targets(<list of variants> <variable>): the targets, each once.
function(extract_targets variants output)
  set(targets ${${variants}})
  list(TRANSFORM targets REPLACE ":.*$" "")
  list(REMOVE_DUPLICATES targets)
  set(${output} ${targets} PARENT_SCOPE)
endfunction()
# extract_runconfig(<variable with a variant> <variable>): the way; "default" if the
# variant has none.
function(extract_runconfig variant output)
  set(config default)
  if("${${variant}}" MATCHES ":(.+)$")
    set(config ${CMAKE_MATCH_1})
  endif()
  set(${output} "${config}" PARENT_SCOPE)
endfunction()

# add_parent_dir_labels(<variable>): adds the names of the folders from the project's to this
# one to the list.
function(add_parent_dir_labels output)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" ";" folders "${path}")
  set(${output} ${${output}} ${folders} PARENT_SCOPE)
endfunction()

# gccs_add_variant_test(<name> <variant> <properties> <labels> <before the device> <command>...)
function(gccs_add_variant_test name variant properties labels before)
  if(NOT variant OR (DEFINED ENABLED_TEST_VARIANTS AND NOT variant IN_LIST ENABLED_TEST_VARIANTS))
    return()
  endif()
  extract_targets(variant target)
  extract_runconfig(variant config)
  set(test ${target}_${config}_${name})
  if(target STREQUAL "NoTarget")
    add_test(NAME ${test} COMMAND ${ARGN})
  else()
    add_test(NAME ${test} COMMAND ${ARGN} ${before} --device-type ${target})
  endif()
  add_parent_dir_labels(labels)
  list(APPEND labels ${target})
  set_property(TEST ${test} APPEND PROPERTY LABELS ${labels})
  if(properties)
    set_tests_properties(${test} PROPERTIES ${properties})
  endif()
  if(TEST_ENVIRONMENT)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${TEST_ENVIRONMENT})
  endif()
endfunction()

function(add_multitarget_test)
  cmake_parse_arguments(arg "ALLOW_SKIP" "NAME" "COMMAND;VARIANTS;PROPERTIES;LABELS" ${ARGN})
  if(NOT arg_NAME) # it may be the first argument
    list(GET arg_UNPARSED_ARGUMENTS 0 arg_NAME)
  endif()
  if(NOT arg_VARIANTS)
    set(arg_VARIANTS ${DEFAULT_TEST_VARIANTS})
  endif()
  if(arg_ALLOW_SKIP)
    list(APPEND arg_PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  foreach(variant IN LISTS arg_VARIANTS)
    gccs_add_variant_test(${arg_NAME} ${variant} "${arg_PROPERTIES}" "${arg_LABELS}" "" ${arg_COMMAND})
  endforeach()
endfunction()
