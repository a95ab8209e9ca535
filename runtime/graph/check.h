/* Checks of arguments. Each function fails the graph (the message names the public function
 * `call`) and returns false or NULL if the argument is not valid. */
#ifndef GRAPH_CHECK_H
#define GRAPH_CHECK_H

#include "graph/graph.h"

#include <populus/out_of_memory.h>

/* True if `call` may do something: the graph lives, has no error, and no other thread compiles
 * it. For graphs of handles, which are never virtual. */
static inline bool graph_usable(pop_graph *graph, const char *call)
{
  if (!graph_lives(graph, call) || graph->error) return false;
  pop_error *error = pop_memory_check();
  if (error) {
    graph_fail(graph, error);
    return false;
  }
  return !atomic_load_explicit(&graph->compiler, memory_order_relaxed) || graph_check_turn(graph);
}

/* The same for a graph that is an argument of a call. A virtual graph is replaced by its
 * top-level graph, which has everything. */
static inline bool graph_enter(pop_graph **graph, const char *call)
{
  if (graph_lives(*graph, call)) *graph = (*graph)->top;
  return graph_usable(*graph, call);
}

/* The objects behind handles. A pointer is valid until the next object of the kind is added. */
const tensor *check_tensor(pop_graph *graph, const char *call, pop_tensor t);
compute_set *check_compute_set(pop_graph *graph, const char *call, pop_compute_set set);
vertex *check_vertex(pop_graph *graph, const char *call, pop_vertex v);
program *check_program(pop_graph *graph, const char *call, pop_program p);
const host_stream *check_stream(pop_graph *graph, const char *call, pop_stream stream);
const remote_buffer *check_remote_buffer(pop_graph *graph, const char *call,
                                         pop_remote_buffer buffer);
/* Index of a vertex type, or POP_NAME_NONE. */
uint32_t check_vertex_type(pop_graph *graph, const char *call, const char *name);
/* codelets.c: adds the codelets of ../poplibs/ called poplar_rt::…, once. False after an error. */
bool graph_add_built_in_codelets(pop_graph *graph, const char *call);
/* The field `name` of a vertex (by index). */
const pop_field *check_field(pop_graph *graph, const char *call, uint32_t vertex, const char *name);

/* field_value.c: sets the size of a plain vector field, and its elements to zero. */
void set_field_data_size(pop_graph *graph, const char *call, pop_vertex vertex, const char *field,
                         size_t size);

bool check_type(pop_graph *graph, const char *call, pop_type type);
bool check_rank(pop_graph *graph, const char *call, size_t rank);
/* Handles are 32 bits wide: is there room after `count` things? */
bool check_room(pop_graph *graph, const char *call, size_t count, const char *things);

/* graph_fail with pop_error_new. */
void graph_failf(pop_graph *graph, pop_error_code code, const char *format, ...) POP_PRINTF(3, 4);

#endif
