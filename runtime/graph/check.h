/* Are these arguments what they should be? Each function fails the graph (naming the public
 * function `call`) and returns false or NULL if not. */
#ifndef GRAPH_CHECK_H
#define GRAPH_CHECK_H

#include "graph/graph.h"

#include <populus/out_of_memory.h>

/* The graph lives, has no error and is not being compiled by another thread: `call` does something. For the graphs
 * of handles, which are never virtual ones. */
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

/* The same for a graph that is a call's argument. It may be virtual: from here on it is the one that it
 * is a view of, which has all that there is. */
static inline bool graph_enter(pop_graph **graph, const char *call)
{
  if (graph_lives(*graph, call)) *graph = (*graph)->top;
  return graph_usable(*graph, call);
}

/* The things behind handles. The pointers are good until the next thing of the kind is added. */
const tensor *check_tensor(pop_graph *graph, const char *call, pop_tensor t);
compute_set *check_compute_set(pop_graph *graph, const char *call, pop_compute_set set);
vertex *check_vertex(pop_graph *graph, const char *call, pop_vertex v);
program *check_program(pop_graph *graph, const char *call, pop_program p);
const host_stream *check_stream(pop_graph *graph, const char *call, pop_stream stream);
const remote_buffer *check_remote_buffer(pop_graph *graph, const char *call,
                                         pop_remote_buffer buffer);
/* Index of a vertex type, or POP_NAME_NONE. */
uint32_t check_vertex_type(pop_graph *graph, const char *call, const char *name);
/* codelets.c: those of ../poplibs/, called poplar_rt::…; again does no harm. False: the graph has failed. */
bool graph_add_built_in_codelets(pop_graph *graph, const char *call);
/* The field `name` of a vertex (by index). */
const pop_field *check_field(pop_graph *graph, const char *call, uint32_t vertex, const char *name);

/* field_value.c: gives a plain vector field so many elements, zero. */
void set_field_data_size(pop_graph *graph, const char *call, pop_vertex vertex, const char *field,
                         size_t size);

bool check_type(pop_graph *graph, const char *call, pop_type type);
bool check_rank(pop_graph *graph, const char *call, size_t rank);
/* `count` things are there already; handles are 32 bits wide. */
bool check_room(pop_graph *graph, const char *call, size_t count, const char *things);

/* graph_fail with pop_error_new. */
void graph_failf(pop_graph *graph, pop_error_code code, const char *format, ...) POP_PRINTF(3, 4);

#endif
