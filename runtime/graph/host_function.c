/* Host functions in a graph: a stream for each argument. */
#include "graph/add_program.h"
#include "graph/check.h"
#include "graph/describe.h"

#include <populus/host_function.h>

static const char *stream_name(pop_graph *graph, const char *handle, bool output, size_t number)
{
  return pop_arena_printf(graph->arena, "%s/%s%zu", handle, output ? "output" : "input", number);
}

/* Can each argument have its stream? Otherwise none gets one. */
static bool check_arguments(pop_graph *graph, const char *call, const char *handle, bool output,
                            const pop_host_argument *arguments, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const char *name = stream_name(graph, handle, output, i);
    if (!check_type(graph, call, arguments[i].type)) return false;
    if (pop_name_table_find(&graph->stream_names, name) == POP_NAME_NONE) continue;
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT,
                "%s: there is a stream '%s' already; host functions have different handles", call,
                name);
    return false;
  }
  return true;
}

/* The function is called when all inputs have arrived, and nothing ever arrives for an empty
 * one. */
static bool has_empty(const pop_host_argument *arguments, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (arguments[i].num_elements == 0) return true;
  return false;
}

pop_host_function pop_graph_add_host_function(pop_graph *graph, const char *handle,
                                              const pop_host_argument *inputs, size_t num_inputs,
                                              const pop_host_argument *outputs, size_t num_outputs)
{
  GRAPH_TURN(graph);
  static const char call[] = "pop_graph_add_host_function";
  pop_host_function none = {graph, NULL, 0, 0};
  if (!graph_lives(graph, __func__) || !graph_usable(graph->top, __func__)) return none;
  pop_graph *top = graph->top;
  if (!handle || !*handle || (num_inputs == 0 && num_outputs == 0)) {
    graph_failf(top, POP_ERROR_INVALID_ARGUMENT, "%s: the function has no %s", call,
                !handle || !*handle ? "handle; the host connects it by that name"
                                    : "inputs and no outputs; give at least one");
    return none;
  }
  if ((num_inputs && !inputs) || (num_outputs && !outputs)) {
    graph_failf(top, POP_ERROR_INVALID_ARGUMENT, "%s: the address of the %s is NULL", call,
                num_inputs && !inputs ? "inputs" : "outputs");
    return none;
  }
  if (has_empty(inputs, num_inputs) || has_empty(outputs, num_outputs)) {
    graph_failf(top, POP_ERROR_INVALID_ARGUMENT,
                "%s: an argument of '%s' has no elements; each has at least one", call, handle);
    return none;
  }
  if (!check_arguments(top, call, handle, false, inputs, num_inputs) ||
      !check_arguments(top, call, handle, true, outputs, num_outputs))
    return none;
  for (size_t i = 0; i < num_inputs; i++)
    pop_graph_add_device_to_host_fifo(graph, stream_name(top, handle, false, i), inputs[i].type,
                                      inputs[i].num_elements);
  for (size_t i = 0; i < num_outputs; i++)
    pop_graph_add_host_to_device_fifo(graph, stream_name(top, handle, true, i), outputs[i].type,
                                      outputs[i].num_elements);
  if (!graph_usable(top, __func__)) return none;
  return (pop_host_function){top, pop_arena_strdup(top->arena, handle), num_inputs, num_outputs};
}

static pop_stream find_stream(pop_host_function function, bool output, size_t number)
{
  const char *name = stream_name(function.graph, function.handle, output, number);
  return (pop_stream){function.graph, pop_name_table_find(&function.graph->stream_names, name) + 1};
}

pop_program pop_program_call_host_function(pop_host_function function, const pop_tensor *inputs,
                                           const pop_tensor *outputs, const char *name)
{
  GRAPH_TURN(function.graph);
  static const char call[] = "pop_program_call_host_function";
  pop_graph *graph = function.graph ? function.graph->top : NULL;
  if (!graph_usable(graph, __func__)) return (pop_program){graph, 0};
  if (!function.handle || (function.num_inputs && !inputs) || (function.num_outputs && !outputs)) {
    graph_failf(graph, POP_ERROR_INVALID_ARGUMENT, "%s: %s", call,
                function.handle ? "its tensors are NULL" : "it is a null function");
    return (pop_program){graph, 0};
  }
  pop_program program = pop_program_sequence(graph, name);
  for (size_t i = 0; i < function.num_inputs; i++)
    pop_sequence_add(program,
                     pop_program_copy_to_stream(inputs[i], find_stream(function, false, i), name));
  for (size_t i = 0; i < function.num_outputs; i++)
    pop_sequence_add(
        program, pop_program_copy_from_stream(find_stream(function, true, i), outputs[i], name));
  return program;
}
