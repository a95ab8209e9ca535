# populus_add_codelets(<target> OUTPUT <file.gp> SOURCES <file>... [FLAGS <flag>...] [DEPENDS <file>...])
#
# A target, built by default, that compiles codelets with popc. A dependency file tells the build
# what the sources include. Relative sources are found in the current source folder; the output is
# in the current binary folder.
# The target's property POPULUS_CODELETS is the output's full path. FLAGS are popc's: -O3 -DN=4 --target ipu2,cpu …
function(populus_add_codelets target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES;FLAGS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "populus_add_codelets(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_OUTPUT OR NOT arg_SOURCES)
    message(FATAL_ERROR "populus_add_codelets(${target}) needs OUTPUT and SOURCES")
  endif()
  get_filename_component(output ${arg_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND sources ${source})
  endforeach()
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${output}
    COMMAND populus::popc ${arg_FLAGS} ${sources} -o ${output} -MD -MF ${output}.d -MQ ${output}
    DEPENDS ${sources} ${arg_DEPENDS} populus::popc
    DEPFILE ${output}.d
    COMMENT "popc ${arg_OUTPUT}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
  set_target_properties(${target} PROPERTIES POPULUS_CODELETS ${output})
endfunction()
