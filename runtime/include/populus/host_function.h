/* Host functions, which programs call. Input tensors go to the host, the function calculates
 * outputs, and these come back. In the documented C++ interface: Graph::addHostFunction,
 * program::Call(HostFunction, …), Engine::connectHostFunction.
 *
 * A host function is made of streams, which popexec and pop_engine_connect_stream see, too:
 * "<handle>/input0", … to the host and "<handle>/output0", … from it. The rules of streams and
 * host exchanges apply to them. */
#ifndef POPULUS_HOST_FUNCTION_H
#define POPULUS_HOST_FUNCTION_H

#include <populus/engine.h>
#include <populus/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An input or an output. */
typedef struct pop_host_argument {
  pop_type type;
  size_t num_elements; /* at least 1 */
} pop_host_argument;

typedef struct pop_host_function {
  pop_graph *graph;
  const char *handle; /* the graph's; NULL after an error */
  size_t num_inputs, num_outputs;
} pop_host_function;

/* `handle` is not NULL nor empty, and different from those of the graph's other host functions.
 * At least one input or output. Both lists are copied. Errors are the graph's: INVALID_ARGUMENT,
 * TYPE. */
pop_host_function pop_graph_add_host_function(pop_graph *graph, const char *handle,
                                              const pop_host_argument *inputs, size_t num_inputs,
                                              const pop_host_argument *outputs, size_t num_outputs);
/* Calls the function with its inputs and outputs, tensors of their types and numbers of elements.
 * An output must not hold constants or an element twice. The program continues when the outputs
 * have arrived. Errors are those of stream copies (populus/stream.h). */
pop_program pop_program_call_host_function(pop_host_function function, const pop_tensor *inputs,
                                           const pop_tensor *outputs, const char *name);

/* The host's side. pop_engine_run calls it for each call of the program, on its thread, or, with
 * the engine option streamCallbacks.multiThreadMode, where stream callbacks run. Callbacks with
 * the same context run one at a time, in the program's order. inputs[i] and outputs[j] are
 * buffers of the arguments' elements, in the tile's representation; they belong to the callback
 * until it returns. Returns 0; another value ends the run with an error that shows the value. */
typedef struct pop_host_function_callback {
  int (*call)(void *context, const void *const *inputs, void *const *outputs);
  void *context;
} pop_host_function_callback;
/* Connects a callback; a later one replaces an earlier one. `replica` is 0 unless the graph is
 * replicated. Errors: STREAM_CONNECTION with the nearest name if there is no such function; INDEX:
 * there is no such replica; INVALID_ARGUMENT: the callback is NULL; RUNTIME during a run. */
POP_MUST_CHECK pop_error *pop_engine_connect_host_function(
    pop_engine *engine, const char *handle, uint32_t replica,
    const pop_host_function_callback *callback);

#ifdef __cplusplus
}
#endif
#endif
