// Exceptions with the documented names, made of the C interface's errors (populus/error.h).
// what() is the error's message, with the names of C++ in it.
#ifndef POPLAR_EXCEPTIONS_HPP
#define POPLAR_EXCEPTIONS_HPP

#include <poplar/detail/Names.hpp>
#include <populus/error.h>
#include <stdexcept>
#include <string>

namespace poplar
{

struct poplar_error : std::runtime_error {
  explicit poplar_error(const std::string &sentence) : std::runtime_error(sentence) {}
  explicit poplar_error(const char *sentence) : std::runtime_error(sentence) {}
};

#define POPLAR_EXCEPTION(name, base)                                                               \
  struct name : base {                                                                             \
    explicit name(const std::string &sentence) : base(sentence) {}                                 \
  };

// Mistakes of the program that makes the graph.
POPLAR_EXCEPTION(index_error, poplar_error)
POPLAR_EXCEPTION(type_error, poplar_error)
POPLAR_EXCEPTION(tensor_creation_error, poplar_error)
POPLAR_EXCEPTION(tensor_io_state_error, poplar_error)
POPLAR_EXCEPTION(invalid_tile_mapping, poplar_error)
POPLAR_EXCEPTION(unknown_vertex_type, poplar_error)
POPLAR_EXCEPTION(unknown_field, poplar_error)
POPLAR_EXCEPTION(graph_connection_error, poplar_error)
POPLAR_EXCEPTION(graph_cycle_error, poplar_error)
POPLAR_EXCEPTION(control_program_error, poplar_error)
POPLAR_EXCEPTION(graph_program_compilation_error, poplar_error)
POPLAR_EXCEPTION(graph_object_load_error, poplar_error)
POPLAR_EXCEPTION(graph_object_creation_error, poplar_error)
POPLAR_EXCEPTION(graph_recursion_error, poplar_error)
POPLAR_EXCEPTION(graph_replication_error, poplar_error)
POPLAR_EXCEPTION(no_environment, poplar_error)
POPLAR_EXCEPTION(no_size_specified, poplar_error)
POPLAR_EXCEPTION(invalid_machine_model, poplar_error)
POPLAR_EXCEPTION(memory_elem_constraints_error, poplar_error)
POPLAR_EXCEPTION(missing_graph_profile, poplar_error)
POPLAR_EXCEPTION(missing_perf_estimate, poplar_error)
POPLAR_EXCEPTION(missing_profile_data, poplar_error)
POPLAR_EXCEPTION(parse_error, poplar_error)
POPLAR_EXCEPTION(stream_memory_allocation_error, poplar_error)
POPLAR_EXCEPTION(symbol_error, poplar_error)
POPLAR_EXCEPTION(tensor_metadata_error, poplar_error)
POPLAR_EXCEPTION(file_load_error, poplar_error)
POPLAR_EXCEPTION(stream_connection_error, poplar_error)
POPLAR_EXCEPTION(invalid_option, poplar_error)
POPLAR_EXCEPTION(overflow_error, poplar_error)
POPLAR_EXCEPTION(profiling_disabled, poplar_error)
POPLAR_EXCEPTION(memory_allocation_error, poplar_error)
POPLAR_EXCEPTION(internal_error, poplar_error)

// What goes wrong while a program runs.
POPLAR_EXCEPTION(runtime_error, poplar_error)
POPLAR_EXCEPTION(application_runtime_error, runtime_error)
POPLAR_EXCEPTION(system_runtime_error, runtime_error)
POPLAR_EXCEPTION(unknown_runtime_error, system_runtime_error)
POPLAR_EXCEPTION(unrecoverable_runtime_error, system_runtime_error)

// A graph that does not fit. If a report was asked for, profile.pop was written nevertheless, and
// profilePath is its path; otherwise it is "".
struct graph_memory_allocation_error : poplar_error {
  std::string profilePath;
  explicit graph_memory_allocation_error(const std::string &sentence, const std::string &path = "")
      : poplar_error(sentence), profilePath(path)
  {
  }
};

// What would make a device of the chip continue. Populus throws no recoverable_runtime_error.
enum class RecoveryAction { IPU_RESET, LINK_RESET, PARTITION_RESET, FULL_RESET };
struct recoverable_runtime_error : system_runtime_error {
  recoverable_runtime_error(RecoveryAction needed, const std::string &sentence)
      : system_runtime_error(sentence), action(needed)
  {
  }
  RecoveryAction getRecoveryAction() const { return action; }

private:
  RecoveryAction action;
};

// A linker's error: its message. Populus leaves `output` empty.
struct link_error : poplar_error {
  std::string output;
  explicit link_error(const std::string &sentence, const std::string &linkerOutput = "")
      : poplar_error(sentence), output(linkerOutput)
  {
  }
};

#undef POPLAR_EXCEPTION

namespace detail
{

[[noreturn]] inline void raise(pop_error_code code, const std::string &sentence,
                               const std::string &report = "")
{
  switch (code) {
  case POP_ERROR_INDEX:
    throw index_error(sentence);
  case POP_ERROR_TYPE:
    throw type_error(sentence);
  case POP_ERROR_TENSOR:
    throw tensor_creation_error(sentence);
  case POP_ERROR_INVALID_TILE_MAPPING:
    throw invalid_tile_mapping(sentence);
  case POP_ERROR_UNKNOWN_VERTEX_TYPE:
    throw unknown_vertex_type(sentence);
  case POP_ERROR_UNKNOWN_FIELD:
    throw unknown_field(sentence);
  case POP_ERROR_GRAPH_CONNECTION:
    throw graph_connection_error(sentence);
  case POP_ERROR_GRAPH_CYCLE:
    throw graph_cycle_error(sentence);
  case POP_ERROR_CONTROL_PROGRAM:
    throw control_program_error(sentence);
  case POP_ERROR_GRAPH_MEMORY:
    throw graph_memory_allocation_error(sentence, report);
  case POP_ERROR_CODELET_COMPILE:
    throw graph_program_compilation_error(sentence);
  case POP_ERROR_LINK:
    throw link_error(sentence);
  case POP_ERROR_FILE_LOAD:
    throw file_load_error(sentence);
  case POP_ERROR_STREAM_CONNECTION:
    throw stream_connection_error(sentence);
  case POP_ERROR_UNKNOWN_HANDLE:
    throw tensor_io_state_error(sentence);
  case POP_ERROR_INVALID_OPTION:
    throw invalid_option(sentence);
  case POP_ERROR_RUNTIME:
    throw application_runtime_error(sentence);
  case POP_ERROR_SYSTEM:
    throw system_runtime_error(sentence);
  case POP_ERROR_MEMORY:
    throw memory_allocation_error(sentence);
  case POP_ERROR_INTERNAL:
    throw internal_error(sentence);
  case POP_ERROR_INVALID_ARGUMENT:
  case POP_ERROR_USAGE:
    break;
  }
  throw poplar_error(sentence);
}

// Frees an error of the C interface and throws its exception; does nothing for NULL.
inline void check(pop_error *error)
{
  if (!error) return;
  pop_error_code code = pop_error_get_code(error);
  const char *path = pop_error_report(error);
  std::string sentence = inCxxNames(pop_error_message(error)), report = path ? path : "";
  pop_error_free(error);
  raise(code, sentence, report);
}

} // namespace detail
} // namespace poplar

#endif
